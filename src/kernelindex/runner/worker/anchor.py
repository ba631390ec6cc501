"""The anchor's process: trusted work that is sampled after each candidate, and sentinels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.worker.replies import read_details, read_times
from kernelindex.stats import median

if TYPE_CHECKING:
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.runner.worker.processes import Process

_CALLS = 5
_SWITCH_CALLS = 2


@dataclass(slots=True)
class AnchorProbe:
    """One process with the anchor loaded; ``problem`` says why there is none to sample."""

    bench: Bench
    process: Process
    problem: str | None = None
    medians: list[float] = field(default_factory=list)
    after: dict[str, list[float]] = field(default_factory=dict)
    _round: list[float] = field(default_factory=list)

    def open(self) -> None:
        """Greet it, load the anchor and call it once."""
        hello = self.bench.hello()
        if self._ask("hello", **hello) is None:
            return
        if self._ask("load", anchor=to_json(self.bench.plan.anchor)) is not None:
            self._ask("warm", **_regime(), seconds=0.0, calls=3)

    def warm(self, seconds: float) -> None:
        """Warm it up alone."""
        self._ask("warm", **_regime(), seconds=seconds, calls=_CALLS)

    def sample(self, after: str) -> None:
        """A few timed calls; kept for the round and for the candidate that ran before."""
        reply = self._ask(
            "measure",
            **_regime(),
            calls=_CALLS,
            refresh=0,
            switch_calls=_SWITCH_CALLS,
            switch_seconds=0.0,
            idle_seconds=0.0,
            dump=None,
        )
        times = read_times(reply.fields.get("samples_ns"), _CALLS) if reply else None
        if times is None or isinstance(times, Refused):
            return
        self.after.setdefault(after, []).append(median(times))
        self._round += times

    def end_round(self) -> None:
        """Close the round: its median over all samples after all candidates."""
        if self._round:
            self.medians.append(median(self._round))
        self._round = []

    def to_json(self) -> dict[str, Any]:
        """What the generation's file keeps of the anchor."""
        return {"medians": self.medians, "after": self.after, "problem": self.problem}

    def selfcheck(self) -> dict[str, Any]:
        """The probe's proof of its timer and cache flush on this device."""
        reply = self._ask("selfcheck")
        return read_details(dict(reply.fields)) if reply else {"problem": self.problem}

    def _ask(self, command: str, **fields: Any) -> Reply | None:
        if self.problem is not None:
            return None
        answer = self.process.ask(command, self.bench.long_timeout_s, **fields)
        if isinstance(answer, Reply):
            return answer
        self.problem = f"{command}: {answer.code}: {answer.text}"[:1000]
        self.bench.journal.write("anchor_failed", command=command, text=self.problem)
        return None


def _regime() -> dict[str, str]:
    return {"pass": "inference", "cache": "hot", "load": "sustained", "execution": "eager"}
