"""Doubts in a line of a list: at most two with their size, the rest counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.terminal import clean
from kernelindex.resolve import row_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import DoubtRef


def doubt_words(doubt: DoubtRef) -> str:
    """A doubt in a few words, with its size and sign where known."""
    return clean(row_words.doubt_words(doubt))


def inline_doubts(doubts: Sequence[DoubtRef]) -> str:
    """The two weightiest doubts and how many more there are."""
    return clean("; ".join(row_words.inline_doubts(doubts)))
