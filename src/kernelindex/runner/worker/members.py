"""One candidate in one generation: its process, what it may still do, what was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refused, Reply

if TYPE_CHECKING:
    from kernelindex.runner.plan import Candidate
    from kernelindex.runner.regimes import Regime
    from kernelindex.runner.worker.processes import Process


@dataclass(slots=True)
class Timed:
    """What the rounds of one regime brought; all lists are by round."""

    samples_ns: list[list[float]] = field(default_factory=list)
    cycles: list[list[float] | None] = field(default_factory=list)
    wall_ns: list[int] = field(default_factory=list)
    telemetry: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """A candidate with its state in this generation.

    ``median_ns`` and ``wall_ns`` are the last times of a call by pass: reported, and by our
    clock with all that belongs to a call (flushing caches). ``failures`` holds the first
    refusal by pass; a pass with one is not asked for again.
    ``found`` is what goes into the generation's file beside the times, by topic.
    """

    candidate: Candidate
    process: Process
    passes: tuple[str, ...]
    failures: dict[str, Refused] = field(default_factory=dict)
    timed: dict[Regime, Timed] = field(default_factory=dict)
    median_ns: dict[str, float] = field(default_factory=dict)
    wall_ns: dict[str, float] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    doubts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The candidate's id."""
        return self.candidate.id

    def open_passes(self) -> tuple[str, ...]:
        """Passes that nothing speaks against yet, in order; none once the process is gone."""
        if not self.process.alive:
            self._fail_rest()
        return tuple(one for one in self.passes if one not in self.failures)

    def fail(self, timed_pass: str | None, refused: Refused) -> None:
        """Note a refusal of one pass, or of all (None); the first one stays."""
        for one in (timed_pass,) if timed_pass else self.passes:
            self.failures.setdefault(one, refused)
        if not self.process.alive:
            self._fail_rest()

    def doubt(self, timed_pass: str, code: str, effect: str, text: str) -> None:
        """Note a named reason to trust a pass's numbers less."""
        entry = {"code": code, "effect": effect, "text": text}
        self.doubts.setdefault(timed_pass, []).append(entry)

    def note(self, topic: str, timed_pass: str, value: Any) -> None:
        """Keep what was found of a pass under a topic."""
        self.found.setdefault(topic, {})[timed_pass] = value

    def ask(
        self, timed_pass: str | None, command: str, timeout_s: float, **fields: Any
    ) -> Reply | None:
        """The reply, or None after a refusal, which is noted against the pass (or all)."""
        if timed_pass is not None:
            fields["pass"] = timed_pass
        answer = self.process.ask(command, timeout_s, **fields)
        if isinstance(answer, Reply):
            return answer
        self.fail(timed_pass, answer)
        return None

    def to_json(self) -> dict[str, Any]:
        """What the generation's file keeps of it."""
        return {
            "failures": {name: asdict(one) for name, one in self.failures.items()},
            "series": {regime.key(): _timed_json(one) for regime, one in self.timed.items()},
            "found": self.found,
            "doubts": self.doubts,
            "checked": self.checked,
        }

    def _fail_rest(self) -> None:
        verdict = self.process.verdict
        if verdict is not None:
            for one in self.passes:
                self.failures.setdefault(one, verdict)


def _timed_json(timed: Timed) -> dict[str, Any]:
    return {
        "samplesNs": timed.samples_ns,
        "cycles": timed.cycles if any(one is not None for one in timed.cycles) else None,
        "wallNs": timed.wall_ns,
        "telemetry": timed.telemetry,
    }
