"""Names on the left, text wrapped on the right; empty ones left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def print_pairs(console: Console, pairs: Iterable[tuple[str, object]], title: str = "") -> None:
    """A heading, where given, and its pairs; nothing at all where every value is empty."""
    from rich.table import Table

    rows = [(name, clean(value)) for name, value in pairs if value not in (None, "", (), {}, [])]
    if not rows:
        return
    if title:
        console.print(f"\n{title}", style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_list(console: Console, title: str, lines: Iterable[str]) -> None:
    """A heading and one sentence a line, where there is any."""
    texts = [clean(line) for line in lines if line]
    if not texts:
        return
    console.print(f"\n{title}", style="bold")
    for text in texts:
        console.print(text)


def mapping_words(mapping: dict[str, object] | dict[str, str] | dict[str, int]) -> str:
    """``a=1 b=2`` of a flat mapping."""
    return " ".join(f"{name}={value}" for name, value in mapping.items())
