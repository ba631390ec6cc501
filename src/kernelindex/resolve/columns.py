"""Numbers of one column: the same decimals for all, as far as each may show them.

A number carries the decimals that its 95 % interval allows, or three digits without one, and
shows at most one more than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kernelindex.resolve.numbers import (
    DIGITS,
    carried_decimals,
    digits_for,
    scale_for,
    shown_at,
)
from kernelindex.units import ratio_decimals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kernelindex.resolve.answer import Primary, Spread
    from kernelindex.resolve.dossier import RecordLine, RunLine
    from kernelindex.resolve.numbers import Scale

    Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a column shows it, with the decimals it carries; fewer than none round it.

    One that carries None is exact: it takes the decimals of the others. ``ends`` are of its
    95 % interval, which is never shown as a single value.
    """

    value: float
    carries: int | None
    ends: Ends | None = None

    def show(self, decimals: int) -> str:
        """The value at these decimals."""
        return shown_at(self.value, decimals)

    def show_ends(self, decimals: int) -> str:
        """``low-high`` of its interval at these decimals; empty without one."""
        return "-".join(shown_at(end, decimals) for end in self.ends or ())

    def is_apart(self, decimals: int) -> bool:
        """Whether it has an interval whose ends differ at these decimals."""
        return self.ends is not None and len({shown_at(end, decimals) for end in self.ends}) > 1


class Stored(NamedTuple):
    """A value in its stored unit, with the ends of its interval in the same."""

    value: float
    unit: str
    ends: Ends | None = None


def number_of(value: float, ends: Ends | None = None, *, digits: int = DIGITS) -> Number:
    """A number with the ends of its interval, else of this many significant digits."""
    half = abs(ends[1] - ends[0]) / 2 if ends else None
    carried = digits_for(value, half) if half else digits
    return Number(value, carried_decimals(value, carried), ends)


def scaled(scale: Scale, value: float, ends: Ends | None = None) -> Number:
    """A stored value and its interval in a table's unit."""
    found = (ends[0] / scale.divisor, ends[1] / scale.divisor) if ends else None
    return number_of(value / scale.divisor, found)


def ends_of(interval: Spread | None) -> Ends | None:
    """The ends of an interval; nothing without one."""
    return (interval.low, interval.high) if interval else None


def stored_of(primary: Primary | None, interval: Spread | None) -> Stored | None:
    """The number of a run with its interval; nothing where it has none."""
    return Stored(primary.value, primary.unit, ends_of(interval)) if primary else None


def show_column(numbers: Sequence[Number | None]) -> list[str]:
    """The numbers of one column and unit; nothing where there is none."""
    return [one.show(at) if one else "" for one, at in _with_decimals(numbers)]


def show_intervals(numbers: Sequence[Number | None]) -> list[str]:
    """The intervals of the same numbers, ``low-high`` at the decimals of each."""
    return [one.show_ends(at) if one else "" for one, at in _with_decimals(numbers)]


def show_ratios(ratios: Sequence[float | None]) -> list[str]:
    """Ratios such as ``11.1x``; one of exactly 1 is the leader's own."""
    numbers = [None if one is None else _ratio(one) for one in ratios]
    return [f"{text}x" if text else "" for text in show_column(numbers)]


def show_digits(values: Sequence[float | None], digits: int = DIGITS) -> list[str]:
    """Numbers of one unit without intervals."""
    return show_column([None if one is None else number_of(one, digits=digits) for one in values])


def show_with_units(values: Sequence[Stored | None]) -> list[str]:
    """Values that are not compared, each in the unit that suits it; of one unit alike."""
    return _by_unit(values, lambda unit, numbers: [f"{x} {unit}" for x in show_column(numbers)])


def show_intervals_beside(values: Sequence[Stored | None]) -> list[str]:
    """The intervals of such values, each in the unit of its value, which is not said again."""
    return _by_unit(values, lambda _, numbers: show_intervals(numbers))


def _by_unit(
    values: Sequence[Stored | None], show: Callable[[str, Sequence[Number]], list[str]]
) -> list[str]:
    by_unit: dict[str, dict[int, Number]] = {}
    for place, one in enumerate(values):
        if one is not None:
            scale = scale_for([one.value], one.unit)
            by_unit.setdefault(scale.unit, {})[place] = scaled(scale, one.value, one.ends)
    found = [""] * len(values)
    for unit, numbers in by_unit.items():
        for place, text in zip(numbers, show(unit, list(numbers.values())), strict=True):
            found[place] = text.rstrip()
    return found


def show_sizes(sizes: Sequence[int | None]) -> list[str]:
    """Amounts of memory such as ``4.67 GiB``."""
    return show_with_units([Stored(one, "bytes") if one else None for one in sizes])


def run_values(runs: Iterable[RunLine]) -> list[str]:
    """The value of each run of a list; nothing where it has none."""
    return show_with_units([stored_of(run.primary, run.interval) for run in runs])


def record_values(records: Iterable[RecordLine]) -> list[str]:
    """The new leader's value of each record; nothing where several are unbeaten."""
    return show_with_units(
        [
            Stored(one.value, one.unit or "ns", ends_of(one.interval)) if one.value else None
            for one in records
        ]
    )


def _ratio(ratio: float) -> Number:
    return Number(ratio, None if ratio == 1 else ratio_decimals(ratio))


def _with_decimals(numbers: Sequence[Number | None]) -> list[tuple[Number | None, int]]:
    """Each number with the decimals that it is shown at."""
    shared = shared_decimals([one for one in numbers if one])
    return [(one, _own_decimals(one, shared) if one else 0) for one in numbers]


def _own_decimals(one: Number, shared: int) -> int:
    """The column's decimals, but at most one more than the number carries."""
    if one.carries is None:
        return max(shared, 0)
    return min(shared, one.carries + 1) if one.carries >= 0 else one.carries


def shared_decimals(numbers: Sequence[Number]) -> int:
    """The decimals of a column: those of the number that carries most.

    Where another carries at least two fewer, one more than it carries, so that all are alike,
    if most numbers lose nothing by it and no interval closes; else those few are cut short.
    """
    carried = [one.carries for one in numbers if one.carries is not None]
    if not carried:
        return 0
    most, alike = max(carried), min(carried) + 1
    if alike >= most or alike < 1:
        return most
    losing = [one for one in numbers if one.carries is not None and one.carries > alike]
    gentle = 2 * len(losing) < len(carried) and all(one.is_apart(alike) for one in losing)
    return alike if gentle else most
