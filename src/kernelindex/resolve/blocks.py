"""Without a pass in the question: a training block and an inference block, never a default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kernelindex.resolve.answer import Block
from kernelindex.resolve.wording import leader_words, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow

Kind = Literal["training", "inference", "unstated"]
PASS_ORDER = ("full", "forward", "backward", "inference", "unstated")
_KINDS: dict[str, Kind] = {
    "full": "training",
    "forward": "training",
    "backward": "training",
    "inference": "inference",
    "unstated": "unstated",
}


def view_blocks(
    rows: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]
) -> tuple[Block, ...]:
    """A block for every pass; ``unstated`` only where a source does not say the pass."""
    blocks = [_block(name, rows, entries) for name in PASS_ORDER]
    return tuple(block for block in blocks if block.kind != "unstated" or block.cohorts)


def pass_rank(timed_pass: str) -> int:
    """Order of passes in an answer."""
    return PASS_ORDER.index(timed_pass) if timed_pass in PASS_ORDER else len(PASS_ORDER)


def _block(
    name: str, rows: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]
) -> Block:
    own = [row for row in rows if row.timed_pass == name]
    return Block(
        kind=_KINDS[name],
        timed_pass=name,
        cohorts=tuple(row.key for row in own),
        text=_text(name, own, entries),
    )


def _text(name: str, own: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]) -> str:
    if not own:
        return f"{name}: not measured here"
    said = [
        f"{row.device.get('label')}: {leader_words(row, entries[row.key])}"
        for row in own
        if entries.get(row.key)
    ]
    return f"{name}: {listed(said)}"
