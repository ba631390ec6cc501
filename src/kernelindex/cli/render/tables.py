"""Plain tables: hairline headings, numbers aligned on the decimal point, no boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

MIN_FLEXIBLE = 14
Justify = Literal["left", "right"]
_WHOLE = re.compile(r"-?[0-9,]*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; one without any content is left out, a flexible one may wrap."""

    title: str
    justify: Justify = "left"
    flexible: bool = False


def build_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
    """A table without borders from rows of cells, one cell a column."""
    from rich.table import Table

    used = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    drawn = [_column_cells(columns[index], [row[index] for row in rows]) for index in used]
    for index, cells in zip(used, drawn, strict=True):
        flexible = columns[index].flexible
        least = min(MIN_FLEXIBLE, max(map(len, cells))) if flexible else None
        table.add_column(cells[0], no_wrap=not flexible, overflow="fold", min_width=least)
    for line in zip(*(cells[1:] for cells in drawn), strict=True):
        table.add_row(*line)
    return table


def _column_cells(column: Column, cells: Sequence[str]) -> list[str]:
    """Heading and cells; right-justified here, since rich drops blanks that align decimals."""
    found = [column.title, *cells]
    if column.justify == "left":
        return found
    widest = max(map(len, found))
    return [cell.rjust(widest) for cell in found]


def align_decimal(numbers: Sequence[str]) -> list[str]:
    """Numbers padded on the right so that their decimal points stand below each other.

    What follows the digits, such as the x of a ratio, belongs to the fraction.
    """
    tails = [len(number) - len(_WHOLE.match(number)[0]) for number in numbers]  # type: ignore[index]
    widest = max(tails, default=0)
    return [
        number + " " * (widest - tail) if number else ""
        for number, tail in zip(numbers, tails, strict=True)
    ]
