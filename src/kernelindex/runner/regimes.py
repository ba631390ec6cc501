"""What is timed apart: a pass with the state of the caches, the load before, how it is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernelindex.runner.plan import Rules


@dataclass(frozen=True, slots=True, order=True)
class Regime:
    """What tells the series of one candidate at one point apart."""

    timed_pass: str
    cache: str
    load: str
    execution: str

    def fields(self) -> dict[str, str]:
        """The fields of a ``measure`` or ``warm`` request beside its pass."""
        return {"cache": self.cache, "load": self.load, "execution": self.execution}

    def key(self) -> str:
        """One text for a JSON key."""
        return "/".join((self.timed_pass, self.cache, self.load, self.execution))


def regimes_of(timed_pass: str, rules: Rules) -> Iterator[Regime]:
    """Every regime the rules ask of a pass, in the plan's order."""
    for cache in rules.cache:
        for load in rules.load:
            for execution in rules.execution:
                yield Regime(timed_pass, cache, load, execution)
