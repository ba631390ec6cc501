"""Doubts in a line: at most two with their size, the rest counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.terminal import clean
from kernelindex.resolve.numbers import signed_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.resolve.answer import DoubtRef

INLINE = 2


def doubt_words(doubt: DoubtRef, beside_ns: float | None = None) -> str:
    """A doubt in a few words, with its size and sign where known.

    ``beside_ns`` is the value it stands beside: the size is then in the same unit.
    """
    words = clean(doubt.code.replace("_", " ").lower())
    if doubt.shift_ns:
        return f"{words}: about {signed_time(doubt.shift_ns, beside_ns)}"
    return words


def inline_doubts(
    doubts: Sequence[DoubtRef], shared: Iterable[str] = (), beside_ns: float | None = None
) -> str:
    """The two weightiest doubts that not every row has, and how many more there are."""
    said = set(shared)
    own = [doubt for doubt in doubts if doubt.code not in said]
    words = [doubt_words(doubt, beside_ns) for doubt in own[:INLINE]]
    if len(own) > INLINE:
        rest = len(own) - INLINE
        words.append(f"+{rest} note" if rest == 1 else f"+{rest} notes")
    return "; ".join(words)
