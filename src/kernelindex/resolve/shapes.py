"""How many shapes groups were measured at, counted one way for every sentence that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.catalog.rows import CohortRow


def shape_words(rows: Iterable[CohortRow]) -> str:
    """``1 shape``, ``59 shapes and 6 suites of shapes``.

    A shape is its axes, whatever the dtypes; a suite, which is timed as a whole, states none.
    """
    found = {_shape(row) for row in rows}
    suites = sum(1 for _, axes, _ in found if not axes)
    said = [_counted(len(found) - suites, "shape")] if len(found) > suites else []
    said += [_counted(suites, "suite") + " of shapes"] if suites else []
    return " and ".join(said)


def several_shapes(rows: Iterable[CohortRow]) -> bool:
    """Whether these groups are of more than one shape or suite."""
    return len({_shape(row) for row in rows}) > 1


def _shape(row: CohortRow) -> tuple[str, tuple[tuple[str, int], ...], str | None]:
    axes = tuple(sorted(row.axes.items()))
    return row.operation, axes, None if axes else row.distribution


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
