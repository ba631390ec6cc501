"""An answer on the terminal: the sentence first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.cohort import WIDE, print_cohort
from kernelindex.cli.render.overview import overview_table
from kernelindex.cli.render.pairs import mapping_words, print_list, print_pairs
from kernelindex.cli.render.tables import Column, build_table
from kernelindex.cli.terminal import clean
from kernelindex.ids import short
from kernelindex.resolve.deployable_words import deployable_words
from kernelindex.resolve.group_words import open_words, unmet_groups
from kernelindex.resolve.query import to_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from kernelindex.resolve.answer import Answer, CohortHead, NearMiss, Slot

FEW_COHORTS = 4
MAX_NEAR = 5
MAX_EXCLUDED = 5
MAX_SUGGESTIONS = 4
MAX_RERUNS = 4


def print_answer(console: Console, answer: Answer, *, entries: int, full: bool) -> None:
    """Everything of an answer that helps a reader, in the order of the answer page.

    More than a few groups are an overview, a row each, unless ``full``.
    """
    console.print("Not answered." if answer.problems else clean(answer.summary), style="bold")
    console.print()
    _print_question(console, answer)
    if full or len(answer.cohorts) <= FEW_COHORTS:
        _print_cohorts(console, answer, entries)
        _print_best(console, answer)
    else:
        console.print()
        console.print(overview_table(answer.cohorts, wide=console.width >= WIDE))
        told = clean(deployable_words(answer.cohorts, answer.best))
        print_list(console, "Best deployable", [told])
    if answer.cohorts_left_out:
        console.print(f"\nand {answer.cohorts_left_out} more groups that fit", style="dim")
    if answer.cohorts and answer.cohorts_not_met:
        console.print(f"\n{unmet_groups(answer)}", style="dim")
    _print_blocks(console, answer)
    _print_near(console, answer)
    print_list(console, "Rerun", [item.text for item in answer.reruns[:MAX_RERUNS]])
    print_list(console, "Between", [item.text for item in answer.neighbours])
    _print_excluded(console, answer)
    print_list(console, "Not known", answer.missing)
    _print_suggestions(console, answer)
    _print_next(console, answer)


def _print_cohorts(console: Console, answer: Answer, entries: int) -> None:
    differing = open_words(answer.cohorts, with_protocol=False)
    for cohort, words in zip(answer.cohorts, differing, strict=True):
        console.print()
        print_cohort(console, cohort, limit=entries, words=words)


def _print_question(console: Console, answer: Answer) -> None:
    rows: list[tuple[str, object]] = []
    if answer.request is not None:
        rows.append(("asked", f"{to_query(answer.request)}  ({answer.match})"))
    rows += [("assumed", item.text) for item in answer.assumptions]
    rows += [("problem", item.text) for item in answer.problems]
    print_pairs(console, rows)


def _print_blocks(console: Console, answer: Answer) -> None:
    empty = [block.timed_pass for block in answer.blocks if block.measured is False]
    unsaid = any(block.kind == "unstated" for block in answer.blocks)
    if answer.cohorts and empty and not unsaid:
        console.print(f"\nNot measured here: {', '.join(empty)}.", style="dim")


def _print_best(console: Console, answer: Answer) -> None:
    if not answer.cohorts:
        return
    best = answer.best
    slots = (("reported", best.reported), ("verified", best.verified))
    several = len(answer.cohorts) > 1
    every = (*slots, ("deployable", best.deployable))
    rows = [(name, _slot(slot, several=several)) for name, slot in every]
    print_pairs(console, rows, "Best")


def _slot(slot: Slot, *, several: bool) -> str:
    """The picks, one of each cohort, or what would fill the slot."""
    if not slot.picks:
        return f"none; it would take {clean(slot.would_fill or 'evidence')}"
    return "; ".join(
        clean(f"{pick.hardware} {pick.timed_pass}: {pick.text}" if several else pick.text)
        for pick in slot.picks
    )


def _print_near(console: Console, answer: Answer) -> None:
    if not answer.nearest:
        return
    console.print("\nNot the same, but near" if answer.cohorts else "\nNearest", style="bold")
    columns = (Column("differs in", flexible=True), Column("what leads there", flexible=True))
    asked = answer.request.axes if answer.request else {}
    rows = [(_differences(miss), _head(miss.cohort, asked)) for miss in answer.nearest[:MAX_NEAR]]
    console.print(build_table(columns, rows))


def _differences(miss: NearMiss) -> str:
    return clean("; ".join(item.text for item in miss.differences))


def _head(cohort: CohortHead, asked: Mapping[str, int]) -> str:
    """Where, with the axes nobody asked for, and who leads there."""
    timed = "" if cohort.timed_pass == "unstated" else f" {cohort.timed_pass}"
    axes = "" if asked else f" {mapping_words(cohort.shape.axes)}"
    return clean(f"{cohort.hardware.label}{timed}{axes}: {cohort.leader or 'no entry counts'}")


def _print_excluded(console: Console, answer: Answer) -> None:
    if not answer.excluded:
        return
    console.print("\nLeft out", style="bold")
    shown = answer.excluded[:MAX_EXCLUDED]
    total = sum(one.runs for one in answer.excluded_counts)
    if total > len(shown):
        for one in answer.excluded_counts[:MAX_EXCLUDED]:
            console.print(clean(f"{one.runs}: {one.text}"))
    rows = [
        (short(item.run), clean(item.title), clean("; ".join(r.text for r in item.reasons)))
        for item in shown
    ]
    columns = (Column("run"), Column("what ran", flexible=True), Column("why", flexible=True))
    console.print(build_table(columns, rows))
    if total > len(shown):
        console.print(f"and {total - len(shown)} more", style="dim")


def _print_suggestions(console: Console, answer: Answer) -> None:
    if not answer.suggestions:
        return
    console.print("\nAsk instead", style="bold")
    for item in answer.suggestions[:MAX_SUGGESTIONS]:
        console.print(f"  ki resolve {clean(item.query)}")
        console.print(f"      {clean(item.text)}", style="dim")


def _print_next(console: Console, answer: Answer) -> None:
    """The next command: look at the first of the first group."""
    if answer.cohorts and answer.cohorts[0].entries:
        first = answer.cohorts[0].entries[0]
        whom = "leader" if first.position == 1 else "first of those"
        told = f"\nki show run {short(first.run.digest)} shows everything known of the {whom}."
        console.print(told, style="dim")
