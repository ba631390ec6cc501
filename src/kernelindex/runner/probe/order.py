"""Which input set each call takes: drawn as it goes, so that it cannot be foreseen."""

from __future__ import annotations

from kernelindex import stats


class Order:
    """Sets in balanced random order; a set never follows itself where there are several."""

    def __init__(self, sets: int, seed: int) -> None:
        self._sets, self._random = max(1, sets), stats.Random(seed)
        self._drawn: list[int] = []

    def at(self, call: int) -> int:
        """The set of one call."""
        while len(self._drawn) <= call:
            self._drawn += self._block()
        return self._drawn[call]

    def _block(self) -> list[int]:
        block = self._random.shuffled(range(self._sets))
        if self._drawn and block[0] == self._drawn[-1]:
            block = [*block[1:], block[0]]
        return block
