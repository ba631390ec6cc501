"""Plain tables: hairline headings, numbers aligned on the decimal point, no boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text

    Cell = str | Text

Justify = Literal["left", "right"]
_WHOLE = re.compile(r"-?[0-9,]*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; one without any content is left out, a flexible one may wrap."""

    title: str
    justify: Justify = "left"
    flexible: bool = False
    style: str = ""


def build_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Table:
    """A table without borders from rows of cells, one cell a column."""
    from rich.table import Table

    used = [index for index in range(len(columns)) if any(str(row[index]) for row in rows)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for index in used:
        column = columns[index]
        table.add_column(
            column.title,
            justify=column.justify,
            no_wrap=not column.flexible,
            overflow="fold",
            style=column.style,
        )
    for row in rows:
        table.add_row(*(row[index] for index in used))
    return table


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
