"""Answers as chart inputs: what a page already has read, in the words of a chart."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from kernelindex.ids import short
from kernelindex.registry.hardware import load_products
from kernelindex.resolve.group_words import open_words
from kernelindex.web.charts.cohort import CohortEntry, CohortInput, Floor
from kernelindex.web.charts.ecdf import EcdfInput, SampleSet
from kernelindex.web.charts.limit_bar import LimitInput
from kernelindex.web.charts.roofline import Roof, RooflineInput, RooflinePoint
from kernelindex.web.charts.samples import ROUND_MEDIAN, SAMPLE, Generation, SamplesInput
from kernelindex.web.charts.series import CLOCK
from kernelindex.web.charts.staircase import RecordsInput, RecordStep
from kernelindex.web.charts.sweep import SweepInput, SweepLine, SweepPoint
from kernelindex.web.charts.words import (
    head_title,
    path_name,
    setting_words,
    shape_words,
    source_note,
    version_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.registry.hardware import Product
    from kernelindex.resolve.answer import Cohort, Entry, Spread
    from kernelindex.resolve.dossier import RecordLine, RunDossier, RunLine

CONTROLLED = frozenset({"verified", "replicated"})
UNRESOLVED = frozenset({"SAME", "UNCLEAR"})
LEAST_TOLERANCE = 0.05
"""Below this a lead between reported numbers says nothing (the floor of every source)."""


def cohort_input(cohort: Cohort) -> CohortInput:
    """A ranked group."""
    return CohortInput(
        title=head_title(cohort),
        setting=setting_words(shape_words(cohort.operation, cohort.shape), cohort.regime),
        source=source_note(cohort.source, date=cohort.newest_observed, key=cohort.key),
        metric=cohort.metric.metric,
        statistic=cohort.metric.statistic,
        unit=cohort.metric.unit,
        direction=cohort.metric.direction,
        entries=tuple(map(_entry, cohort.entries)),
        left_out=cohort.entries_left_out,
        unbeaten=len(cohort.unbeaten),
        floor=_floor(cohort),
        tolerance=cohort.tolerance,
    )


def _entry(entry: Entry) -> CohortEntry:
    run = entry.run
    return CohortEntry(
        name=entry.implementation.title or path_name(entry.implementation),
        version=version_words(entry.implementation, entry.revision),
        value=run.primary.value,
        level=entry.evidence,
        rank=(entry.rank.low, entry.rank.high) if entry.rank else None,
        tie_group=entry.tie_group,
        ratio=entry.ratio_to_leader,
        told_apart=entry.verdict_to_leader not in UNRESOLVED,
        interval=_ends(run.interval),
        spread=_ends(run.spread),
        spread_kind=run.spread.kind if run.spread else "",
    )


def _ends(spread: Spread | None) -> tuple[float, float] | None:
    return (spread.low, spread.high) if spread else None


def _floor(cohort: Cohort) -> Floor | None:
    """The floor that all entries share: the attainable one, else the nominal one."""
    if cohort.metric.unit != "ns":
        return None
    for entry in cohort.entries:
        nominal, attainable = _floors(entry.run.primary.value, entry.limit)
        if attainable:
            return Floor(attainable, "attainable")
        if nominal:
            return Floor(nominal, "nominal")
    return None


def _floors(value: float, limit: object) -> tuple[float | None, float | None]:
    """Nominal and attainable floor, from the percents of a limit."""
    percents = (getattr(limit, name, None) for name in ("percent_nominal", "percent_attainable"))
    nominal, attainable = (percent * value / 100.0 if percent else None for percent in percents)
    return nominal, attainable


def limit_input(dossier: RunDossier) -> LimitInput | None:
    """A run's distance to its device's limit; None where it has no latency."""
    primary = dossier.primary
    if primary is None or primary.unit != "ns":
        return None
    nominal, attainable = _floors(primary.value, dossier.limit)
    return LimitInput(
        title=f"{dossier.implementation.title}: distance to the limit",
        setting=_setting(dossier),
        source=source_note(dossier.source.slug, key=dossier.identity.run, kind="run"),
        unit=primary.unit,
        value=primary.value,
        nominal=nominal,
        attainable=attainable,
        bound=dossier.limit.bound if dossier.limit else None,
    )


def samples_input(dossier: RunDossier, strips: Sequence[Generation] = ()) -> SamplesInput | None:
    """A controlled run, a strip a process: every sample with its clock where they are here.

    Else the medians of rounds that the run states; None where it states none.
    """
    timing = dossier.manifests["run"]["spec"].get("timing") or {}
    rounds = timing.get("roundMediansNs") or ()
    medians = [Generation(values=tuple(map(float, one))) for one in rounds]
    if not (strips or medians):
        return None
    what = "samples in time order" if strips else "medians of rounds"
    return SamplesInput(
        title=f"{dossier.implementation.title}: {what}, a strip for each process",
        setting=_setting(dossier),
        source=source_note(dossier.source.slug, key=dossier.identity.run, kind="run"),
        metric="latency",
        unit="ns",
        generations=tuple(strips or medians),
        dot=SAMPLE if strips else ROUND_MEDIAN,
        clock=CLOCK,
    )


def ecdf_input(
    runs: Sequence[RunLine], specs: Sequence[Mapping[str, Any]], apart: Sequence[str]
) -> EcdfInput | None:
    """The round medians of two controlled runs; None where one of them states none.

    ``specs`` are the claims of the runs' manifests, ``apart`` the words that tell how each was
    timed from the other, both in the order of the runs.
    """
    rounds = [(spec.get("timing") or {}).get("roundMediansNs") or () for spec in specs]
    if len(runs) != 2 or not all(rounds):
        return None
    names = _pair_names(runs, apart)
    sets = [
        SampleSet(name, tuple(float(value) for process in one for value in process))
        for name, one in zip(names, rounds, strict=True)
    ]
    return EcdfInput(
        title=f"{names[0]} and {names[1]}: medians of rounds",
        setting=_pair_setting(runs),
        source=" ".join(
            dict.fromkeys(source_note(run.source, key=run.digest, kind="run") for run in runs)
        ),
        metric="latency",
        unit="ns",
        first=sets[0],
        second=sets[1],
        dot=ROUND_MEDIAN,
    )


def _pair_names(runs: Sequence[RunLine], apart: Sequence[str]) -> list[str]:
    """What ran, and how it was timed where that differs; else which run it is."""
    differ = len({run.timed_pass for run in runs}) > 1
    passes = [run.timed_pass if differ else "" for run in runs]
    titles = [run.implementation.title for run in runs]
    named = [", ".join(filter(None, one)) for one in zip(titles, passes, apart, strict=True)]
    if named[0] != named[1]:
        return named
    return [f"{run.implementation.title}, run {short(run.digest)}" for run in runs]


def _pair_setting(runs: Sequence[RunLine]) -> str:
    """What both runs share once, the rest of each beside that of the other."""
    each = [
        (
            f"{_timed(run.operation_title or run.operation, run.timed_pass)}, on {run.hardware}",
            shape_words(run.operation, run.shape),
            run.regime,
        )
        for run in runs
    ]
    return setting_words(*(" | ".join(dict.fromkeys(part)) for part in zip(*each, strict=True)))


def _timed(what: str, timed_pass: str) -> str:
    return what if timed_pass == "unstated" else f"{what}, {timed_pass}"


def _setting(dossier: RunDossier) -> str:
    what = _timed(dossier.operation_title or dossier.operation, dossier.timed_pass)
    shape = shape_words(dossier.operation, dossier.shape)
    return setting_words(f"{what}, on {dossier.hardware.label}", shape, dossier.regime)


def sweep_input(axis: str, cohorts: Sequence[Cohort]) -> SweepInput | None:
    """Groups that differ in one axis only, as lines; None where there is no group.

    Of several entries of one line in a group the best placed one is drawn.
    """
    if not cohorts:
        return None
    ordered = sorted(cohorts, key=lambda cohort: cohort.shape.axes[axis])
    names: dict[str, str] = {}
    points: dict[str, dict[int, SweepPoint]] = {}
    for cohort in ordered:
        size = cohort.shape.axes[axis]
        for entry in sorted(cohort.entries, key=lambda entry: entry.position):
            line = entry.implementation.line or entry.implementation.slug
            names.setdefault(line, path_name(entry.implementation))
            point = SweepPoint(size, entry.run.primary.value, entry.evidence in CONTROLLED)
            points.setdefault(line, {}).setdefault(size, point)
    first = ordered[0]
    newest = max((cohort.newest_observed or "" for cohort in ordered), default="")
    shape = shape_words(first.operation, first.shape, without=axis)
    return SweepInput(
        title=head_title(first, left_out=f": by {axis}"),
        setting=setting_words(shape, first.regime),
        source=source_note(first.source, date=newest or None),
        axis=axis,
        unit=first.metric.unit,
        direction=first.metric.direction,
        lines=tuple(SweepLine(names[line], tuple(points[line].values())) for line in names),
        tolerance=max(LEAST_TOLERANCE, *(cohort.tolerance or 0.0 for cohort in ordered)),
    )


def records_input(
    lines: Iterable[RecordLine],
    *,
    levels: Mapping[str, str],
    source: str,
    metric: str,
    setting: str,
    until: str,
) -> RecordsInput | None:
    """The changes of one cohort's leader, in any order; None where there is none.

    ``levels`` maps a run's digest to its evidence level; ``until`` is the newest day known.
    """
    ordered = sorted(lines, key=lambda line: line.date or "9999")
    if not ordered:
        return None
    last = ordered[-1]
    timed = "" if last.timed_pass == "unstated" else f", {last.timed_pass}"
    return RecordsInput(
        title=f"{last.operation_title or last.operation}{timed}, on {last.hardware}: leaders",
        setting=setting,
        source=source_note(source, key=last.cohort),
        metric=metric,
        unit=last.unit or "",
        direction=None,
        steps=tuple(_step(line, levels) for line in ordered),
        until=_day(until),
    )


def _step(line: RecordLine, levels: Mapping[str, str]) -> RecordStep:
    return RecordStep(
        date=_day(line.date),
        leader=line.leader,
        value=line.value,
        level=levels.get(line.leader_run or line.run, ""),
        retracts=line.cause == "retraction",
        same_day=line.same_day,
    )


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None


def roofline_input(cohorts: Sequence[Cohort], *, more: bool = False) -> RooflineInput | None:
    """Entries of groups of one operation, pass and product; None where no peak is known.

    A group is told from the others in the words of an answer's overview; ``more`` than these,
    which have most entries, are not drawn.
    """
    usable = [cohort for cohort in cohorts if cohort.hardware.product_id]
    if not usable:
        return None
    first = usable[0]
    product = load_products().get(first.hardware.product_id or "")
    dtype = _fastest(product, first.shape.dtypes.values()) if product else None
    if product is None or dtype is None or not product.bandwidth_bytes_s:
        return None
    return RooflineInput(
        title=head_title(first, left_out=": roofline"),
        setting=_shapes(usable, more=more),
        source=_sources(usable),
        peak=f"{dtype} dense",
        roof=_roof(product, dtype),
        points=tuple(_points(usable)),
        partial=more,
    )


def _shapes(cohorts: Sequence[Cohort], *, more: bool) -> str:
    """The one shape and regime of all groups, or how many there are."""
    shapes = dict.fromkeys(shape_words(cohort.operation, cohort.shape) for cohort in cohorts)
    regimes = dict.fromkeys(cohort.regime for cohort in cohorts)
    return setting_words(
        next(iter(shapes)) if len(shapes) == 1 else f"{len(shapes)} shapes",
        f"the {len(cohorts)} groups with most entries, of more"
        if more
        else ""
        if len(cohorts) == 1
        else f"{len(cohorts)} groups",
        next(iter(regimes)) if len(regimes) == 1 else "",
    )


def _sources(cohorts: Sequence[Cohort]) -> str:
    """Every source of the groups, each as of its newest run."""
    newest: dict[str, str] = {}
    for cohort in cohorts:
        newest[cohort.source] = max(newest.get(cohort.source, ""), cohort.newest_observed or "")
    return " ".join(source_note(slug, date=day or None) for slug, day in newest.items())


def _fastest(product: Product, dtypes: Iterable[str]) -> str | None:
    """The dtype of the shape with the highest peak, as limits take it."""
    known = [dtype for dtype in dict.fromkeys(dtypes) if dtype in product.peaks_flops]
    known = [dtype for dtype in known if not dtype.startswith(("int", "uint", "bool"))]
    return max(known, key=lambda dtype: product.peaks_flops[dtype], default=None)


def _roof(product: Product, dtype: str) -> Roof:
    flops, copy = product.attainable.get(dtype), product.attainable.get("copy")
    return Roof(
        nominal_tflops=product.peaks_flops[dtype] / 1e12,
        nominal_tbps=(product.bandwidth_bytes_s or 0.0) / 1e12,
        attainable_tflops=flops.value / 1e12 if flops else None,
        attainable_tbps=copy.value / 1e12 if copy else None,
    )


def _points(cohorts: Sequence[Cohort]) -> Iterable[RooflinePoint]:
    """The best placed entry of every line in each group."""
    for cohort, words in zip(cohorts, open_words(cohorts), strict=True):
        drawn = set()
        for entry in sorted(cohort.entries, key=lambda entry: entry.position):
            limit, line = entry.limit, entry.implementation.line or entry.implementation.slug
            if line not in drawn and limit and limit.tflops and limit.tbps:
                drawn.add(line)
                yield RooflinePoint(
                    name=entry.implementation.title or path_name(entry.implementation),
                    group=words,
                    intensity=limit.tflops / limit.tbps,
                    tflops=limit.tflops,
                    verified=entry.evidence in CONTROLLED,
                )
