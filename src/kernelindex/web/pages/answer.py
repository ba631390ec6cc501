"""The answer to a question: the sentence, the three bests, the rows, and what is missing."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve import ask_text
from kernelindex.resolve.deployable_words import deployable_words
from kernelindex.resolve.group_words import (
    lead_heading,
    leader_intervals,
    leader_name,
    leader_values,
    leads_ahead,
    level_of_leader,
    open_words,
    place_words,
    unmet_groups,
)
from kernelindex.resolve.query import to_query
from kernelindex.resolve.use import read_use
from kernelindex.web import asked, paths
from kernelindex.web.charts.figure import Figure, cohort_figure
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_response, page_route, redirect
from kernelindex.web.rows import Rows, build_rows
from kernelindex.web.show import align
from kernelindex.web.slots import SlotView, slots
from kernelindex.web.tokens import MOST_FIELDS, Tokens, is_field, question, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.answer import Answer, Cohort
    from kernelindex.resolve.use import Use

FEW_GROUPS = 4
MOST_ROWS = 20
MOST_USED = 8
UNREADABLE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """One group that answers the question."""

    cohort: Cohort = field(metadata=told("the group as every surface shows it"))
    words: str = field(metadata=told("what sets it apart from the other groups of the answer"))
    rows: Rows = field(metadata=told("its entries as a table"))
    figure: Figure | None = field(metadata=told("its chart, where there is something to draw"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """One group of many, in one row."""

    words: str = field(metadata=told("what sets it apart"))
    place: str = field(metadata=told("device and pass where they differ"))
    href: str = field(metadata=told("path of the group's page"))
    leader: str = field(metadata=told("who leads"))
    value: str = field(metadata=told("the leader's value with its unit"))
    interval: str = field(metadata=told("its 95 % interval in the same unit"))
    level: str = field(metadata=told("how far that value may be trusted"))
    ahead: Markup = field(metadata=told("how far ahead of the first that is surely behind"))
    count: int = field(metadata=told("number of entries"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage(Page):
    """The answer to one question."""

    template: ClassVar[str] = "answer.html"

    answer: Answer = field(metadata=told("the answer, as every surface shows it"))
    tokens: Tokens | None = field(metadata=told("the question as fields; None when refused"))
    slots: tuple[SlotView, ...] = field(metadata=told("the bests; empty when nothing fits"))
    groups: tuple[GroupView, ...] = field(metadata=told("the groups in full, when they are few"))
    overview: tuple[OverviewRow, ...] = field(metadata=told("a row a group, when they are many"))
    leads: str = field(metadata=told("what the first entries of the many groups are"))
    use: tuple[Use, ...] = field(metadata=told("how to use the entries, when one group answers"))
    unmet: str = field(metadata=told("groups that fit, but have nothing that meets the conditions"))
    command: str = field(metadata=told("the same question as a line for a shell"))


def answer(catalog: Catalog, request: Request) -> AnswerPage | Response:
    """Answer ``?q=``; the fields of the form lead to the same question as text.

    Raises RequestError ``request.parameter`` for a parameter that would not be heeded.
    """
    text = asked.text(request, "q")
    asked.refuse_others(request, is_known=(lambda name: name == "q") if text else is_field)
    if not text:
        fields = dict(request.query_params.multi_items()[:MOST_FIELDS])
        text = question(fields)
        return redirect(paths.answer(text) if text else "/")
    found = ask_text(catalog, text, entries=MOST_ROWS)
    page = build_page(catalog, text, found)
    return page_response(request, page, UNREADABLE) if found.problems else page


def build_page(catalog: Catalog, text: str, found: Answer) -> AnswerPage:
    """The context of an answer's page."""
    few = len(found.cohorts) <= FEW_GROUPS
    single = found.cohorts[0].entries[:MOST_USED] if len(found.cohorts) == 1 else ()
    return AnswerPage(
        title=text,
        description=found.summary,
        path=paths.answer(to_query(found.request) if found.request else text),
        question=text,
        indexed=False,
        answer=found,
        tokens=tokens(found.request, _axes(found)) if found.request else None,
        slots=_slots(found) if found.cohorts else (),
        groups=_groups(found.cohorts) if few else (),
        overview=() if few else _overview(found.cohorts),
        leads=lead_heading(found.cohorts).capitalize(),
        use=read_use(catalog, single) if single else (),
        unmet=unmet_groups(found),
        command=command_line(text),
    )


def command_line(text: str) -> str:
    """``ki resolve`` with the question as words that no shell runs: anyone can write a link."""
    words = text.split()
    ends = ["--"] if any(word.startswith("-") for word in words) else []
    return shlex.join(["ki", "resolve", *ends, *words])


def _slots(found: Answer) -> tuple[SlotView, ...]:
    words = deployable_words(found.cohorts, found.best)
    return slots(found.best, groups=len(found.cohorts), deployable=words)


def _axes(found: Answer) -> tuple[str, ...]:
    """The axes of what was measured, where it is all of one operation."""
    heads = (*found.cohorts, *(miss.cohort for miss in found.nearest))
    if len({head.operation for head in heads}) != 1:
        return ()
    return tuple(dict.fromkeys(name for head in heads for name in head.shape.axes))


def _groups(cohorts: Sequence[Cohort]) -> tuple[GroupView, ...]:
    return tuple(
        GroupView(
            cohort=cohort,
            words=words,
            rows=build_rows(cohort, most=MOST_ROWS),
            figure=_figure(cohort),
        )
        for cohort, words in zip(cohorts, open_words(cohorts), strict=True)
    )


def _figure(cohort: Cohort) -> Figure | None:
    """The chart of a whole group; none of a part of one, which no address can bring again."""
    return None if cohort.entry_count < 2 or cohort.entries_not_met else cohort_figure(cohort)


def _overview(cohorts: Sequence[Cohort]) -> tuple[OverviewRow, ...]:
    columns = zip(
        cohorts,
        open_words(cohorts),
        place_words(cohorts),
        leader_values(cohorts),
        leader_intervals(cohorts),
        align(leads_ahead(cohorts)),
        strict=True,
    )
    return tuple(
        OverviewRow(
            words=words,
            place=place,
            href=paths.cohort(cohort.key),
            leader=leader_name(cohort),
            value=value,
            interval=interval,
            level=level_of_leader(cohort),
            ahead=lead,
            count=cohort.entry_count,
        )
        for cohort, words, place, value, interval, lead in columns
    )


routes = [page_route("/answer", answer)]
