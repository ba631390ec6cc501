"""Lists whose filters, order and place all stand in the address.

A list's builder reads its address with ``read_asked``, offers filters with ``choice`` and
``words``, and gives the rest to ``list_fields``. What an address may not hold is refused
with what it may.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from kernelindex.errors import RequestError
from kernelindex.resolve.lists import ANY
from kernelindex.resolve.problems import Problem, closest
from kernelindex.web.asked import text
from kernelindex.web.context import Page, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from starlette.requests import Request

    from kernelindex.catalog.rows import FacetCount
    from kernelindex.resolve.dossier import StatusCount

ORDER, PLACE = "sort", "cursor"
LIST_ROWS = 50
RUN_ROWS = 30
"""A run takes two lines of a list."""
MOST_CHOICES = 400
UNASKED = "measured or failed"
"""What the filter of statuses is called where none is asked for."""
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a filter."""

    value: str = field(metadata=told("what the address holds"))
    label: str = field(metadata=told("what it is called"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One filter of a list: a choice where it has options, else words to type."""

    name: str = field(metadata=told("its parameter in the address"))
    label: str = field(metadata=told("what it is called"))
    value: str = field(metadata=told("what is asked for; empty for anything"))
    options: tuple[Option, ...] = field(metadata=told("values to choose from"), default=())
    hint: str = field(metadata=told("an example of words to type"), default="")
    anything: str = field(metadata=told("what it is called where nothing is asked"), default="any")


@dataclass(frozen=True, slots=True)
class SortLink:
    """One order of a list."""

    label: str = field(metadata=told("what it is called"))
    href: str = field(metadata=told("the list in that order; empty for the present one"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Page):
    """What every list shows around its rows."""

    list_path: str = field(metadata=told("address of the list without parameters"))
    filters: tuple[Filter, ...] = field(metadata=told("what the list can be narrowed by"))
    sorts: tuple[SortLink, ...] = field(metadata=told("orders of the list; empty for one only"))
    sort: str = field(metadata=told("the order asked for; empty for the usual one"))
    narrowed: bool = field(metadata=told("whether any filter is set"))
    first: str = field(metadata=told("address of the first page, where this is another one"))
    after: str = field(metadata=told("address of the next page, where there is one"))


@dataclass(frozen=True, slots=True)
class StatusLink:
    """Runs of one status that a list leaves out."""

    label: str = field(metadata=told("how many, and their status"))
    href: str = field(metadata=told("the list of them"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListPage(ListPage):
    """A list of runs: what was aborted or withdrawn is left out, and counted."""

    left_out: tuple[StatusLink, ...] = field(
        metadata=told("what is left out where no status is asked for; on the first page")
    )
    every: str = field(metadata=told("address of the list with nothing left out"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address of a list asks for; ``sort`` is never empty."""

    path: str
    values: Mapping[str, str]
    sorts: Mapping[str, str]
    sort: str
    cursor: str | None

    def value(self, name: str) -> str:
        """A filter's value, empty where it is not set."""
        return self.values.get(name, "")

    def link(self, **changes: str) -> str:
        """The list's address with other parameters; an empty one is left out."""
        order = {} if self.is_usual else {ORDER: self.sort}
        return address(self.path, {**self.values, **order, **changes})

    @property
    def is_usual(self) -> bool:
        """Whether the list is in its usual order."""
        return self.sort == next(iter(self.sorts), self.sort)


def address(path: str, parameters: Mapping[str, str]) -> str:
    """A path with those parameters that are not empty."""
    kept = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path


def read_asked(
    request: Request, *, filters: Sequence[str], sorts: Mapping[str, str] | None = None
) -> Asked:
    """What a list's address asks for; ``sorts`` maps each order to its words, usual first.

    Raises RequestError ``request.filter`` for a parameter that the list does not have, or
    one that is given twice, ``request.sort`` for an unknown order.
    """
    orders = dict(sorts or {})
    known = (*filters, PLACE, *((ORDER,) if orders else ()))
    for name in request.query_params:
        if name not in known:
            raise _refused(_unknown("request.filter", "the address", name, known))
        if len(request.query_params.getlist(name)) > 1:
            raise _refused(Problem.of("request.filter", name, "several values", "one"))
    sort = text(request, ORDER, most=40) or next(iter(orders), "")
    if orders and sort not in orders:
        raise _refused(_unknown("request.sort", ORDER, sort, tuple(orders)))
    values = {name: value for name in filters if (value := text(request, name, most=300))}
    return Asked(
        path=request.url.path,
        values=values,
        sorts=orders,
        sort=sort,
        cursor=text(request, PLACE) or None,
    )


def choice(
    asked: Asked,
    name: str,
    label: str,
    options: Iterable[Option],
    *,
    anything: str = "any",
    known: Iterable[str] = (),
) -> Filter:
    """A filter with values to choose from; ``anything`` is said where none is asked for.

    ``known`` values may be asked for though none has them.
    Raises RequestError ``request.filter`` where another value is asked for.
    """
    offered = tuple(options)[:MOST_CHOICES]
    value = asked.value(name)
    names = [option.value for option in offered]
    if value and value not in names and value in known:
        offered = (*offered, *plain_options([value]))
    elif value and value not in names:
        raise _refused(_unknown("request.filter", name, value, names))
    return Filter(name=name, label=label, value=value, options=offered, anything=anything)


def words(asked: Asked, name: str, label: str, hint: str) -> Filter:
    """A filter to type into."""
    return Filter(name=name, label=label, value=asked.value(name), hint=hint)


def plain_options(values: Iterable[str]) -> tuple[Option, ...]:
    """Options called by their values, with blanks for underscores."""
    return tuple(Option(value, value.replace("_", " ")) for value in values)


def facet_options(
    facets: Iterable[FacetCount], facet: str, titles: Mapping[str, str] | None = None
) -> tuple[Option, ...]:
    """The values of one facet that runs have, most runs first, with how many."""
    named = titles or {}
    return tuple(
        Option(
            item.value, f"{named.get(item.value, item.value.replace('_', ' '))} ({item.count:,})"
        )
        for item in facets
        if item.facet == facet
    )


def list_fields(asked: Asked, filters: Sequence[Filter], cursor: str | None) -> dict[str, Any]:
    """The fields of ``ListPage`` for what was asked, with the next page's cursor."""
    return {
        "list_path": asked.path,
        "filters": tuple(filters),
        "sorts": tuple(_sort_link(asked, name, said) for name, said in asked.sorts.items()),
        "sort": "" if asked.is_usual else asked.sort,
        "narrowed": bool(asked.values),
        "first": asked.link() if asked.cursor else "",
        "after": asked.link(cursor=cursor) if cursor else "",
        "indexed": not asked.values and not asked.cursor,
        "path": asked.path,
    }


def left_out_fields(asked: Asked, left_out: Iterable[StatusCount]) -> dict[str, Any]:
    """The fields of ``RunListPage`` for runs that a list does not show unless asked."""
    links = [StatusLink(f"{o.runs:,} {o.status}", asked.link(status=o.status)) for o in left_out]
    return {"left_out": tuple(links), "every": asked.link(status=ANY)}


def _sort_link(asked: Asked, name: str, said: str) -> SortLink:
    order = "" if name == next(iter(asked.sorts)) else name
    return SortLink(said, "" if name == asked.sort else asked.link(sort=order))


def _unknown(code: str, where: str, seen: str, known: Sequence[str]) -> Problem:
    shown = ", ".join(sorted(known)[:MOST_NAMED])
    if len(known) > MOST_NAMED:
        shown += f" and {len(known) - MOST_NAMED} more"
    wanted = f"one of {shown}" if shown else "nothing, as there is nothing to choose"
    return Problem.of(code, where, seen or "nothing", wanted, closest(seen, known))


def _refused(problem: Problem) -> RequestError:
    return RequestError(problem.text, code=problem.code, problems=[problem.model_dump()])
