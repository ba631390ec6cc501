"""Without a pass in the question: a training block and an inference block, never a default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kernelindex.resolve.answer import Block
from kernelindex.resolve.wording import leader_words, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow
    from kernelindex.resolve.findings import Findings

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
    findings: Findings, shown: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]
) -> tuple[Block, ...]:
    """A block for every pass; ``unstated`` only where a source does not say the pass.

    A pass with a group that fits has one among those shown: passes take turns.
    """
    blocks = [_block(name, findings, shown, entries) for name in PASS_ORDER]
    return tuple(block for block in blocks if block.kind != "unstated" or block.measured)


def pass_rank(timed_pass: str) -> int:
    """Order of passes in an answer."""
    return PASS_ORDER.index(timed_pass) if timed_pass in PASS_ORDER else len(PASS_ORDER)


def _block(
    name: str,
    findings: Findings,
    shown: Sequence[CohortRow],
    entries: Mapping[str, Sequence[EntryRow]],
) -> Block:
    own = [row for row in shown if row.timed_pass == name]
    unmet = any(row.timed_pass == name for row in findings.unmet)
    measured = True if own or unmet else False if findings.read_all else None
    return Block(
        kind=_KINDS[name],
        timed_pass=name,
        cohorts=tuple(row.key for row in own),
        measured=measured,
        text=_text(name, own, entries) if own else f"{name}: {_absent(findings, unmet=unmet)}",
    )


def _absent(findings: Findings, *, unmet: bool) -> str:
    """Why no group of a pass is shown."""
    if unmet:
        return "nothing that meets the conditions"
    return "not measured here" if findings.read_all else "not among the groups that were read"


def _text(name: str, own: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]) -> str:
    said = [
        f"{row.device.get('label')}: {leader_words(row, entries[row.key])}"
        for row in own
        if entries.get(row.key)
    ]
    return f"{name}: {listed(said)}"
