"""Two to eight runs side by side: what differs, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlencode

import orjson
from starlette.responses import Response

from kernelindex.policy.verdicts import REASONS
from kernelindex.resolve.columns import ends_of, run_values, scaled, show_column
from kernelindex.resolve.compare import LEAST, MOST, compare_runs
from kernelindex.resolve.compare_words import PairNumbers, apart_words, pair_numbers
from kernelindex.resolve.numbers import scale_for, spaced_percent
from kernelindex.resolve.views import CONTROLLED
from kernelindex.web import paths
from kernelindex.web.asked import several
from kernelindex.web.charts.figure import Figure, pair_figure
from kernelindex.web.comparison_files import to_csv, to_markdown
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.show import exact, named_sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.columns import Number
    from kernelindex.resolve.dossier import ComparedField, Comparison, PairVerdict, RunLine
    from kernelindex.resolve.numbers import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """One column of the comparison."""

    line: RunLine = field(metadata=told("the run"))
    apart: str = field(metadata=told("what tells it from others of its name, where any has it"))
    value: str = field(metadata=told("its number in the unit of all"))
    exact: str = field(metadata=told("its number unrounded"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairWords:
    """What may be said of one run against the first."""

    text: str = field(metadata=told("the verdict, or why there is none"))
    why: str = field(metadata=told("on which ground it is given, in words"))
    run: str = field(metadata=told("path of the run"))
    numbers: PairNumbers | None = field(
        metadata=told("ratio, interval and margin, where samples were compared")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage(Page):
    """Runs side by side; without two runs, a form that asks for them."""

    template: ClassVar[str] = "compare.html"

    asked: tuple[str, ...] = field(metadata=told("runs that were asked for"))
    comparison: Comparison | None = field(metadata=told("the comparison, where there is one"))
    runs: tuple[ComparedRun, ...] = field(metadata=told("columns in the order asked for"))
    pairs: tuple[PairWords, ...] = field(metadata=told("each further run against the first"))
    material: tuple[ComparedField, ...] = field(metadata=told("what must be equal to rank"))
    beside: tuple[ComparedField, ...] = field(metadata=told("what else there is to see"))
    tolerance: str = field(metadata=told("where the tolerance of the group is from, with its size"))
    figure: Figure | None = field(
        metadata=told("two runs over each other, where both state their rounds")
    )
    groups: frozenset[str] = field(metadata=told("keys of their groups in which anything ranks"))
    query: str = field(metadata=told("the parameters that name the runs, for downloads"))


def compare(catalog: Catalog, request: Request) -> ComparePage:
    """The runs named by ``run``, each against the first."""
    asked = _asked(request)
    if len(asked) < LEAST:
        return _form(asked)
    found = compare_runs(catalog, asked)
    columns = _columns(found)
    names = " and ".join(dict.fromkeys(map(_name, columns)))
    query = urlencode([("run", paths.prefix(one.digest)) for one in found.runs])
    return ComparePage(
        title=f"Comparison of {names}",
        description=found.summary,
        path=f"/compare?{query}",
        json_path=f"/api/v1/compare?{query}",
        indexed=False,
        asked=asked,
        comparison=found,
        runs=columns,
        pairs=tuple(
            PairWords(
                text=_sentence(one),
                why="; ".join(REASONS.get(code, code.replace("_", " ")) for code in one.reasons),
                run=paths.run(one.run),
                numbers=numbers,
            )
            for one, numbers in zip(found.verdicts, pair_numbers(found.verdicts), strict=True)
        ),
        material=tuple(one for one in found.fields if one.material),
        beside=tuple(one for one in found.fields if not one.material and one.name != "value"),
        tolerance=_tolerance(catalog, found),
        figure=pair_figure(catalog, found.runs) if len(found.runs) == LEAST else None,
        groups=_groups(catalog, found),
        query=query,
    )


def _sentence(pair: PairVerdict) -> str:
    """A verdict begins with a name, which keeps its letters; why there is none is prose."""
    return (sentence if pair.verdict == "INCOMPARABLE" else named_sentence)(pair.text)


def as_file(catalog: Catalog, request: Request) -> Response:
    """The same as Markdown, CSV or JSON, by the ending of the address."""
    found = compare_runs(catalog, _asked(request))
    ending = request.url.path.rpartition(".")[2]
    make, media = _FILES[ending]
    body = make(found)
    name = "-".join(paths.prefix(one.digest)[:8] for one in found.runs)
    headers = {"content-disposition": f'inline; filename="compare-{name}.{ending}"'}
    return Response(body, media_type=media, headers=headers)


_FILES: dict[str, tuple[Callable[[Comparison], str | bytes], str]] = {
    "md": (to_markdown, "text/markdown; charset=utf-8"),
    "csv": (to_csv, "text/csv; charset=utf-8"),
    "json": (lambda found: orjson.dumps(found.to_dict()), "application/json"),
}


def _asked(request: Request) -> tuple[str, ...]:
    return tuple(one.strip() for one in several(request, "run", most=MOST))


def _form(asked: tuple[str, ...]) -> ComparePage:
    return ComparePage(
        title="Compare runs",
        description="Two to eight runs side by side: what differs, and what may be said of it.",
        path="/compare",
        asked=asked,
        comparison=None,
        runs=(),
        pairs=(),
        material=(),
        beside=(),
        tolerance="",
        figure=None,
        groups=frozenset(),
        query="",
    )


def _columns(found: Comparison) -> tuple[ComparedRun, ...]:
    """The runs with their numbers in one unit, where they share the stored one."""
    told = zip(found.runs, apart_words(found.runs), _values(found.runs), strict=True)
    return tuple(
        ComparedRun(
            line=line,
            apart=apart,
            value=text or "no number",
            exact=exact(line.primary.value, line.primary.unit) if line.primary else "",
        )
        for line, apart, text in told
    )


def _values(runs: Sequence[RunLine]) -> list[str]:
    """The number of each run, all in one unit where they share the stored one."""
    numbers = [one.primary for one in runs if one.primary]
    if len({one.unit for one in numbers}) != 1:
        return run_values(runs)
    scale = scale_for([one.value for one in numbers], numbers[0].unit)
    texts = show_column([_number(run, scale) for run in runs])
    return [f"{text} {scale.unit}".rstrip() if text else "" for text in texts]


def _number(run: RunLine, scale: Scale) -> Number | None:
    return scaled(scale, run.primary.value, ends_of(run.interval)) if run.primary else None


def _name(run: ComparedRun) -> str:
    title = run.line.implementation.title
    return f"{title} ({run.apart})" if run.apart else title


def _groups(catalog: Catalog, found: Comparison) -> frozenset[str]:
    keys = {key for one in found.fields if one.name == "cohort" for key in one.values if key}
    return frozenset(key for key in keys if catalog.cohort(key))


def _tolerance(catalog: Catalog, found: Comparison) -> str:
    """Where the tolerance of the group is from, with its size; empty across groups.

    Samples need none: a controlled group has margins.
    """
    key = next((one.values[0] for one in found.fields if one.name == "cohort"), None)
    row = catalog.cohort(key) if found.comparable and key else None
    if row is None or row.profile == CONTROLLED or not row.tolerance.get("relative"):
        return ""
    return spaced_percent(str(row.tolerance.get("basis") or "").replace("_", " "))


routes = [
    page_route("/compare", compare),
    *(page_route(f"/compare.{ending}", as_file) for ending in ("md", "csv", "json")),
]
