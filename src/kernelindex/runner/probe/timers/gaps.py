"""What holds the device until the host has queued a call: a spin, or work of a loaded card.

A card that spins is idle in all but name: it stays cool and keeps its clock. Where a regime asks
for sustained load, gaps are filled with products of bf16 matrices instead (docs/adr/0015). They
are bound before a candidate is imported, on buffers of their own, and how long each takes is
measured: while nobody else is at work, and again in every run of samples, since clocks fall.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.runner.probe.timers import Step

SPUN, WORKED = "spun", "worked"
LONGEST_NS = 50e6
# On an H200 at 790 TFLOP/s: 174, 73, 22 and (too short to be used) 3 µs.
SIDES = (4096, 3072, 2048, 1024)
LEAST_CAPABILITY = 8  # bf16 products from sm_80 on
# A stream takes about a thousand launches ahead, and the call that follows needs most of them.
MOST_PIECES = 128
# Queuing a piece lengthens the gap it fills: one that is hardly longer than that is of no use.
_LEAST_TIMES = 3.0
_SEED = 20261130
_SLOWNESS = (0.25, 4.0)


@dataclass(frozen=True, slots=True)
class Spin:
    """A kernel that keeps the device busy for a while without touching memory."""

    kernel: Callable[[int], Any]
    cycles_per_ns: float

    def hold(self, nanoseconds: float) -> None:
        """Queue about that much waiting, at most 50 ms."""
        if nanoseconds > 0:
            self.kernel(max(1, int(min(nanoseconds, LONGEST_NS) * self.cycles_per_ns)))


@dataclass(frozen=True, slots=True)
class Piece:
    """One product: how long the device takes for it, and the host to queue it."""

    side: int
    queue: Step
    device_ns: float
    host_ns: float


@dataclass(frozen=True, slots=True)
class Gap:
    """What holds the device once: a spin, then pieces, longest first."""

    spin_ns: float = 0.0
    pieces: tuple[Piece, ...] = ()

    @property
    def nominal_ns(self) -> float:
        """How long the pieces took when they were measured."""
        return sum(one.device_ns for one in self.pieces)

    def to_fields(self) -> dict[str, Any]:
        """The gap as it travels: the pieces by side, and what was spun."""
        counts = Counter(str(one.side) for one in self.pieces)
        return {"pieces": dict(counts), "spin_ns": self.spin_ns}


class Filler:
    """Chooses pieces for a gap, and follows how long they take.

    Those too short to be worth queuing are left out. ``slowness`` is what pieces take now over
    what they took when they were measured: the less of the last two readings, since an
    interrupted host makes one of them longer, and a gap too long costs less than one too short.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        useful = [one for one in pieces if one.device_ns >= _LEAST_TIMES * one.host_ns]
        self.pieces = tuple(sorted(useful, key=lambda one: -one.device_ns))
        self._read: deque[float] = deque([1.0], maxlen=2)

    @property
    def slowness(self) -> float:
        """Time of a piece now, over its time when it was measured."""
        return min(self._read)

    def gap(self, nanoseconds: float) -> Gap:
        """Pieces that keep the host ahead by that much, and a spin for what is shorter than one.

        A piece counts for what it lasts beyond its own queuing.
        """
        left = min(nanoseconds, LONGEST_NS)
        chosen: list[Piece] = []
        for piece in self.pieces:
            ahead_ns = piece.device_ns * self.slowness - piece.host_ns
            fitting = int(left // ahead_ns) if left > 0 and ahead_ns > 0 else 0
            count = min(fitting, MOST_PIECES - len(chosen))
            chosen += [piece] * count
            left -= count * ahead_ns
        return Gap(max(0.0, left), tuple(chosen))

    def follow(self, gap: Gap, took_ns: float) -> None:
        """Note how long a gap's pieces took just now."""
        if gap.pieces and took_ns > 0:
            low, high = _SLOWNESS
            self._read.append(max(low, min(high, took_ns / gap.nominal_ns)))

    def times_ns(self) -> dict[str, float]:
        """How long a piece takes the device now, by side."""
        return {str(one.side): round(one.device_ns * self.slowness, 1) for one in self.pieces}


def make_products(device: str, sides: Sequence[int] = SIDES) -> list[tuple[int, Step]]:
    """Square bf16 products by side, all in the same two buffers of the largest (64 MiB at 4096).

    Of normal numbers: a product of zeros draws less power.
    """
    import torch

    generator = torch.Generator(device=device).manual_seed(_SEED)
    count, kind = max(sides) ** 2, {"device": device, "dtype": torch.bfloat16}
    numbers = torch.randn(count, generator=generator, **kind)
    results, product = torch.empty_like(numbers), torch.mm

    def bind(side: int) -> Step:
        factor, out = (one[: side * side].view(side, side) for one in (numbers, results))
        return lambda: product(factor, factor, out=out)

    return [(side, bind(side)) for side in sides]
