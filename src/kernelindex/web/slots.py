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
    picks: tuple[PickView, ...] = field(metadata=told("its picks, one a group"))
    share: str = field(metadata=told("how many of many groups have one, in place of the picks"))
    empty: str = field(metadata=told("a sentence of what would fill it, where it is empty"))


def slots(best: Best, *, groups: int = 1, deployable: str = "") -> tuple[SlotView, ...]:
    """Reported, verified, deployable; of more than a few groups only how many have one.

    ``deployable`` are words that then stand for the last.
    """
    named = (
        ("Best reported", best.reported),
        ("Best verified", best.verified),
        ("Best deployable", best.deployable),
    )
    if best.reported.picks and all(_same(best.reported, slot) for _, slot in named):
        return (_slot("Best reported, verified and deployable", best.reported, groups),)
    found = tuple(_slot(title, slot, groups) for title, slot in named)
    if groups > MOST_PICKS and deployable:
        return (*found[:2], SlotView("Best deployable", (), deployable, ""))
    return found


def _same(one: Slot, other: Slot) -> bool:
    return [pick.runs for pick in one.picks] == [pick.runs for pick in other.picks]


def _slot(title: str, slot: Slot, groups: int) -> SlotView:
    count = len(slot.picks)
    if groups > MOST_PICKS and count:
        share = "Each of the groups has one" if count == groups else f"{count} of {groups} have one"
        return SlotView(title, (), f"{share}; its page names it.", "")
    picks = tuple(_pick(pick, several=groups > 1) for pick in slot.picks)
    return SlotView(title, picks, "", "" if picks else _empty(slot.would_fill or "evidence"))


def _empty(would_fill: str) -> str:
    """Why a slot is empty, as a sentence."""
    if would_fill.startswith("for "):
        return f"Empty. {would_fill[0].upper()}{would_fill[1:]}."
    return f"Empty; it would take {would_fill}."


def _pick(pick: Pick, *, several: bool) -> PickView:
    timed = "" if pick.timed_pass == "unstated" else f" {pick.timed_pass}"
    return PickView(
        text=pick.text,
        claim=HOW[pick.how],
        href=paths.run(pick.runs[0]),
        where=f"{pick.hardware}{timed}" if several else "",
    )
