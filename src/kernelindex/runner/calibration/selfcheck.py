"""Timer and cache flush prove themselves on work whose bytes, FLOPs and cycles are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.probe.state import Session


@dataclass(frozen=True, slots=True)
class Check:
    """One proof: what was measured, what was wanted, and the numbers behind it."""

    name: str
    passed: bool
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class SelfCheck:
    """All proofs of one process; ``values`` go into the control chart."""

    tick_ns: float
    checks: list[Check] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every proof held."""
        return all(one.passed for one in self.checks)

    def add(self, name: str, passed: bool, text: str, **numbers: float) -> None:
        """Note a proof."""
        self.checks.append(Check(name, bool(passed), text, numbers))

    def within(self, name: str, value: float, low: float, high: float, unit: str) -> None:
        """Note a proof that a value lies in a range."""
        text = f"{value:.6g} {unit}; wanted {low:.4g} to {high:.4g}"
        self.add(name, low <= value <= high, text, value=value, low=low, high=high)

    def to_fields(self) -> dict[str, Any]:
        """The fields of the reply."""
        return {
            "checks": [asdict(one) for one in self.checks],
            "tick_ns": self.tick_ns,
            "passed": self.passed,
            "values": self.values,
        }


def check_session(session: Session) -> SelfCheck:
    """Every proof that this probe's device allows."""
    if session.device.startswith("cuda"):
        from kernelindex.runner.calibration.device_checks import check_device

        return check_device(session)
    from kernelindex.runner.calibration.host_checks import check_host

    return check_host(session)
