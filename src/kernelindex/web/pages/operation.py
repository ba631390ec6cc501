"""One operation: what it computes, every result by GPU and pass, sweeps, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.groups import GroupList
from kernelindex.resolve.operation_page import (
    OperationDossier,
    find_row,
    operation_groups,
    show_operation,
)
from kernelindex.resolve.sweeps import Sweep, find_sweeps
from kernelindex.web import paths
from kernelindex.web.charts.figure import Figure, subject_figure
from kernelindex.web.context import told
from kernelindex.web.gpu_names import gpus_meant
from kernelindex.web.handling import page_route, redirect
from kernelindex.web.listing import (
    Asked,
    Filter,
    ListPage,
    Option,
    choice,
    list_fields,
    plain_options,
    read_asked,
)
from kernelindex.web.sweeps import SweepView, build_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.groups import GroupCountLine, GroupLine

GROUPS = 15
MOST_SWEEPS = 2
MOST_LINKS = 24
MEMORY = "peak_memory"
FILTERS = ("gpu", "pass", "metric", "axis")


@dataclass(frozen=True, slots=True)
class Setting:
    """Groups of one GPU and pass."""

    gpu: str = field(metadata=told("hardware id"))
    label: str = field(metadata=told("name of the GPU"))
    timed_pass: str = field(metadata=told("timed pass, or unstated"))
    groups: int = field(metadata=told("groups"))
    contested: int = field(metadata=told("groups of several entries"))
    runs: int = field(metadata=told("runs"))
    href: str = field(metadata=told("this page narrowed to them"))


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of the GPUs that a name means, such as a family's."""

    label: str = field(metadata=told("name of the GPU"))
    href: str = field(metadata=told("this page narrowed to it, other filters kept"))
    groups: int = field(metadata=told("groups that meet the other filters"))


@dataclass(frozen=True, slots=True)
class SweepLink:
    """A sweep that is not shown."""

    text: str = field(metadata=told("axis, GPU and pass"))
    href: str = field(metadata=told("this page with that sweep"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPage(ListPage):
    """One operation."""

    template: ClassVar[str] = "operation.html"

    dossier: OperationDossier = field(metadata=told("semantics, costs and counts"))
    settings: tuple[Setting, ...] = field(metadata=told("results by GPU and pass"))
    meanings: tuple[Meaning, ...] = field(
        metadata=told("what the asked GPU's name means, where that is not one GPU")
    )
    groups: tuple[GroupLine, ...] = field(
        metadata=told("groups that meet the filters; of several GPUs meant the first of each")
    )
    sweeps: tuple[SweepView, ...] = field(metadata=told("sweeps shown, with chart and table"))
    sweep_links: tuple[SweepLink, ...] = field(metadata=told("further sweeps"))
    roofline: Figure | None = field(metadata=told("roofline of the asked GPU and pass"))
    roofline_path: str = field(metadata=told("this page with a roofline, where it has none"))


def operation(catalog: Catalog, request: Request) -> OperationPage | Response:
    """An operation by slug, or by digest where nothing is mapped; an alias leads there."""
    ident = request.path_params["ident"]
    row = find_row(catalog, ident)
    if paths.operation(row.slug) != f"/operations/{ident}":
        return redirect(paths.operation(row.slug))
    asked = read_asked(request, filters=FILTERS)
    dossier = show_operation(catalog, row)
    asked, meant = gpus_meant(catalog, asked, (one.hardware for one in dossier.counts))
    labels = {one.id: one.label for one in catalog.hardware()}
    filters = _filters(asked, dossier, labels)
    groups = _groups(catalog, asked, dossier, meant)
    found = _sweeps(catalog, asked, row.slug, meant)
    costs, one_gpu = bool(dossier.semantics.costs), meant[0] if len(meant) == 1 else ""
    shown = _shown(found, asked.value("axis"))
    return OperationPage(
        title=row.title,
        description=f"{row.title}: {row.run_count:,} runs of {row.implementation_count:,}"
        f" implementations over {row.shape_count:,} shapes.",
        section="Operations",
        json_path=f"/api/v1{paths.operation(row.slug)}",
        dossier=dossier,
        settings=_settings(asked, dossier.counts, labels),
        meanings=_meanings(asked, dossier.counts, labels, meant),
        groups=groups.groups,
        sweeps=tuple(build_sweep(catalog, one) for one in shown),
        sweep_links=_links(asked, found, shown),
        roofline=_roofline(catalog, asked, row.slug, one_gpu) if costs else None,
        roofline_path=_roofline_path(asked, one_gpu, groups.groups) if costs else "",
        **list_fields(asked, filters, groups.cursor),
    )


def _groups(
    catalog: Catalog, asked: Asked, dossier: OperationDossier, meant: Sequence[str]
) -> GroupList:
    """A page of groups; of several GPUs meant the first of each, as no order spans them."""
    pages = [
        operation_groups(
            catalog,
            dossier.operation.slug,
            cursor=asked.cursor,
            limit=GROUPS,
            hardware=hardware,
            timed_pass=asked.value("pass") or None,
            metric=asked.value("metric") or None,
            without_metric=None if asked.value("metric") else _beside(dossier.counts),
        )
        for hardware in (meant or (asked.value("gpu") or None,))
    ]
    if len(pages) == 1:
        return pages[0]
    return GroupList(groups=tuple(group for page in pages for group in page.groups))


def _meanings(
    asked: Asked,
    counts: Sequence[GroupCountLine],
    labels: dict[str, str],
    meant: Sequence[str],
) -> tuple[Meaning, ...]:
    """Each GPU that a name of several means, with what the other filters leave of it."""
    if len(meant) < 2:
        return ()
    passes, metric = asked.value("pass"), asked.value("metric") or _beside(counts)
    groups = {
        hardware: sum(
            one.groups
            for one in counts
            if one.hardware == hardware
            and one.timed_pass == (passes or one.timed_pass)
            and (one.metric == metric) is bool(asked.value("metric"))
        )
        for hardware in meant
    }
    return tuple(
        Meaning(labels.get(one, one), asked.link(gpu=one) + "#groups", groups[one]) for one in meant
    )


def _beside(counts: Sequence[GroupCountLine]) -> str | None:
    """The metric that is left out where none is asked for, as it is measured beside another."""
    return MEMORY if any(one.metric != MEMORY for one in counts) else None


def _mixes(counts: Sequence[GroupCountLine]) -> bool:
    return len({one.metric == MEMORY for one in counts}) > 1


def _filters(asked: Asked, dossier: OperationDossier, labels: dict[str, str]) -> list[Filter]:
    counts = dossier.counts
    gpus = dict.fromkeys(one.hardware for one in counts)
    axes = [one.name for one in dossier.semantics.axes]
    filters = [
        choice(
            asked,
            "gpu",
            "GPU",
            [Option(name, labels.get(name, name)) for name in gpus],
            known=(asked.value("gpu"),),
        ),
        choice(
            asked, "pass", "Pass", plain_options(dict.fromkeys(one.timed_pass for one in counts))
        ),
        choice(
            asked,
            "metric",
            "Metric",
            plain_options(dict.fromkeys(one.metric for one in counts)),
            anything="any but memory" if _mixes(counts) else "any",
        ),
    ]
    if len(axes) > 1:
        filters.append(choice(asked, "axis", "Sweep over", plain_options(axes)))
    return filters


def _settings(
    asked: Asked, counts: Sequence[GroupCountLine], labels: dict[str, str]
) -> tuple[Setting, ...]:
    """A line for each GPU and pass; memory was measured beside and is not counted again."""
    return tuple(
        Setting(
            one.hardware,
            labels.get(one.hardware, one.hardware),
            one.timed_pass,
            one.groups,
            one.contested,
            one.runs,
            asked.link(gpu=one.hardware, **{"pass": one.timed_pass}, axis="") + "#groups",
        )
        for one in counts
        if one.metric != MEMORY
    )


def _sweeps(catalog: Catalog, asked: Asked, slug: str, meant: Sequence[str]) -> tuple[Sweep, ...]:
    """The sweeps on the GPUs that are meant, on all where none is asked for."""
    timed_pass = asked.value("pass") or None
    return tuple(
        sweep
        for hardware in (meant or (asked.value("gpu") or None,))
        for sweep in find_sweeps(catalog, slug, hardware=hardware, timed_pass=timed_pass)
    )


def _shown(found: Sequence[Sweep], axis: str) -> tuple[Sweep, ...]:
    """Sweeps of one GPU and pass: of the asked axis, else of the first ones."""
    wanted = [one for one in found if not axis or one.axis == axis]
    same = [
        one
        for one in wanted
        if (one.hardware, one.timed_pass) == (wanted[0].hardware, wanted[0].timed_pass)
    ]
    return tuple(same[:MOST_SWEEPS])


def _links(asked: Asked, found: Sequence[Sweep], shown: Sequence[Sweep]) -> tuple[SweepLink, ...]:
    return tuple(
        SweepLink(
            f"{one.axis}, {one.hardware}, {one.timed_pass}",
            asked.link(gpu=one.hardware_id, **{"pass": one.timed_pass}, axis=one.axis) + "#sweeps",
        )
        for one in found[:MOST_LINKS]
        if one not in shown and one.hardware_id
    )


def _roofline(catalog: Catalog, asked: Asked, slug: str, gpu: str) -> Figure | None:
    """The roofline of the asked GPU and pass; reading all its entries is not for every page."""
    timed_pass = asked.value("pass")
    if not (gpu and timed_pass):
        return None
    return subject_figure(catalog, "roofline", f"{slug}/{gpu}/{timed_pass}")


def _roofline_path(asked: Asked, gpu: str, groups: Sequence[GroupLine]) -> str:
    """The page narrowed to the first group's GPU and pass, where it has a roofline."""
    first = next((one for one in groups if one.hardware.product_id), None)
    if first is None or (gpu and asked.value("pass")):
        return ""
    narrowed = {"gpu": first.hardware.product_id or "", "pass": first.timed_pass}
    return asked.link(**narrowed) + "#roofline"


routes = [page_route("/operations/{ident}", operation)]
