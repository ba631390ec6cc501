"""Which of many groups' leaders can be deployed, and what is best to deploy in the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.group_words import open_words, place_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Best, Cohort

MOST_NAMED = 3


def deployable_words(cohorts: Sequence[Cohort], best: Best) -> str:
    """Sentences on the slot "best deployable" of an answer with several groups."""
    leading = {pick.cohort: pick.runs for pick in best.reported.picks}
    picks = best.deployable.picks
    if not picks:
        return _empty(best.deployable.would_fill or "evidence")
    others = [pick for pick in picks if pick.runs != leading.get(pick.cohort)]
    count, total = len(picks) - len(others), len(cohorts)
    first = f"What leads, in {count} of {total} groups." if count else "Nothing that leads."
    told = zip(cohorts, place_words(cohorts), open_words(cohorts), strict=True)
    words = {one.key: f"{place} {group}".strip() for one, place, group in told}
    named = [_with_group(pick.text, words.get(pick.cohort, "")) for pick in others[:MOST_NAMED]]
    if len(others) > MOST_NAMED:
        named.append(f"{len(others) - MOST_NAMED} more")
    elsewhere = f" Elsewhere {'; '.join(named)}." if named else ""
    empty = f" None in {total - len(picks)}." if total > len(picks) else ""
    return first + elsewhere + empty


def _with_group(text: str, group: str) -> str:
    """Rules and protocols are in brackets already; places and axes follow a comma."""
    return f"{text}{'' if group.startswith('(') else ','} {group}" if group else text


def _empty(would_fill: str) -> str:
    """What an entry lacks reads ``for <entry>: ...``; anything else is a thing to have."""
    if would_fill.startswith("for "):
        return f"None. F{would_fill[1:]}."
    return f"None; it would take {would_fill}."
