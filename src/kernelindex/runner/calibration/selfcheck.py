"""Timer and cache flush prove themselves on work whose bytes, FLOPs and cycles are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.selfchecks import FLUSH, Limit, limits_on

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
    """All proofs of one process on ``device``; ``values`` go into the control chart."""

    device: str
    tick_ns: float
    checks: list[Check] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every proof held."""
        return all(one.passed for one in self.checks)

    def hold(self, name: str, value: float) -> None:
        """Note a proof: a value against its limit in ``kernelindex.selfchecks``."""
        limit = self._limit(name)
        text = f"{value:.6g} {limit.unit}; wanted {limit.text}"
        numbers = {"value": value, "low": limit.low, "high": limit.high}
        self.checks.append(Check(name, limit.holds(value), text, numbers))

    def hold_flush(self, cold_ns: float, hot_ns: float) -> None:
        """Note the proof of the cache flush: work slower after it than before."""
        limit = self._limit(FLUSH)
        text = f"cold {cold_ns:.0f} ns, hot {hot_ns:.0f} ns; wanted cold over hot {limit.text}"
        numbers = {"cold_ns": cold_ns, "hot_ns": hot_ns}
        self.checks.append(Check(FLUSH, limit.holds(cold_ns / hot_ns), text, numbers))

    def _limit(self, name: str) -> Limit:
        return limits_on(self.device)[name]

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
