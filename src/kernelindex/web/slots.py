"""The three bests of an answer as slots; one where they are equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.web import paths
from kernelindex.web.context import told

if TYPE_CHECKING:
    from kernelindex.resolve.answer import Best, Pick, Slot

MOST_PICKS = 3
HOW = {"unbeaten": "not told apart: ", "only_result": "only result: ", "leads": ""}


@dataclass(frozen=True, slots=True)
class PickView:
    """One pick of a slot."""

    text: str = field(metadata=told("the pick in words"))
    claim: str = field(metadata=told("what it claims before the words; empty where it leads"))
    href: str = field(metadata=told("path of its first run"))
    where: str = field(metadata=told("device and pass, where the answer has several groups"))


@dataclass(frozen=True, slots=True)
class SlotView:
    """One slot."""

    title: str = field(metadata=told("what it is the best of"))
    picks: tuple[PickView, ...] = field(metadata=told("its picks, at most three"))
    left_out: int = field(metadata=told("further picks"))
    would_fill: str = field(metadata=told("what would fill it, where it is empty"))


def slots(best: Best, *, several: bool) -> tuple[SlotView, ...]:
    """Reported, verified, deployable; ``several`` groups are named beside their picks."""
    reported, verified, deployable = best.reported, best.verified, best.deployable
    if reported.picks and _same(reported, verified) and _same(reported, deployable):
        return (_slot("Best reported, verified and deployable", reported, several=several),)
    return (
        _slot("Best reported", reported, several=several),
        _slot("Best verified", verified, several=several),
        _slot("Best deployable", deployable, several=several),
    )


def _same(one: Slot, other: Slot) -> bool:
    return [pick.runs for pick in one.picks] == [pick.runs for pick in other.picks]


def _slot(title: str, slot: Slot, *, several: bool) -> SlotView:
    shown = slot.picks[:MOST_PICKS]
    return SlotView(
        title=title,
        picks=tuple(_pick(pick, several=several) for pick in shown),
        left_out=len(slot.picks) - len(shown),
        would_fill=slot.would_fill or "",
    )


def _pick(pick: Pick, *, several: bool) -> PickView:
    timed = "" if pick.timed_pass == "unstated" else f" {pick.timed_pass}"
    return PickView(
        text=pick.text,
        claim=HOW[pick.how],
        href=paths.run(pick.runs[0]),
        where=f"{pick.hardware}{timed}" if several else "",
    )
