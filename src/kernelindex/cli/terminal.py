"""Text from data is made safe, and the console knows its width."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from kernelindex.text import show_hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

DEFAULT_WIDTH = 100
MIN_WIDTH = 80
"""The rank table needs as much; in less, names went missing and figures lost digits."""
_BREAKS = str.maketrans("\n\t\r", "   ")


def clean(text: object) -> str:
    """Text from data on one line: control characters and bidi marks shown as escapes.

    What a source wrote can then neither move the cursor, colour the screen nor reorder
    what stands beside it.
    """
    return show_hidden(str(text).translate(_BREAKS))


def console(*, err: bool = False) -> Console:
    """A console as wide as the terminal, or 100 columns where there is none.

    ``COLUMNS`` and ``NO_COLOR`` are honoured; data is never read as markup.
    """
    from rich.console import Console

    return Console(
        stderr=err, width=width(), markup=False, highlight=False, emoji=False, soft_wrap=False
    )


def show(draw: Callable[[Console], None]) -> None:
    """Draw on a console and print the result, without blanks at the ends of lines."""
    screen = console()
    with screen.capture() as captured:
        draw(screen)
    for line in captured.get().splitlines():
        click.echo(line.rstrip(), color=screen.is_terminal or None)


def width() -> int:
    """Columns to fill."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated) > 0:
        return max(MIN_WIDTH, int(stated))
    if not sys.stdout.isatty():
        return DEFAULT_WIDTH
    return max(MIN_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)
