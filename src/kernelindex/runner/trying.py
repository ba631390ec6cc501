"""Someone's own kernel file against the installed candidates: right or wrong, and how fast.

Nothing is recorded in an index here: a trial is a plan, a batch folder, and what they show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.policy.verdicts import Verdict, VerdictKind, compare_in_cohort, correct_family
from kernelindex.runner.offers import available
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.planning import Ask, choose_point
from kernelindex.runner.protocols import build_plan
from kernelindex.runner.standings import judge_as_passed
from kernelindex.runner.surroundings import UNSETTLED, Surroundings, read_surroundings
from kernelindex.stats import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.policy.judging import JudgedCohort, JudgedEntry
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.planning import Choice
    from kernelindex.runner.recording import Batch, Series
    from kernelindex.runner.standings import Judged

RIVALS, RIVALS_ON_HOST = 3, 2
"""Installed candidates beside an own file; on a host each is one more import of torch, thrice."""
OTHER_SHAPES = 2
BUDGET_SECONDS = 300.0
_NUMPY = re.compile(r"^\s*(?:import|from)\s+numpy\b", re.MULTILINE)
_WRONG_ON = "wrong_on_"
_TORCH = re.compile(r"^\s*(?:import|from)\s+(?:torch|triton)\b", re.MULTILINE)
QUICK: dict[str, Any] = {"generations": 3, "rounds": 8, "round_seconds": 0.05}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """Where a result is wrong: the output or gradient, the draw, the row, by how much.

    ``draws`` are those that were checked; ``draw`` is None where it is not known of which of
    them the errors are.
    """

    output: str
    draw: str | None
    draws: tuple[str, ...]
    worst_row: int | None
    worst_row_error: float | None
    frobenius_error: float | None
    allowed: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """One installed candidate beside the own one; ``verdict`` is of the own against it."""

    title: str
    id: str
    median_ns: float
    verdict: Verdict

    @property
    def decided(self) -> bool:
        """Whether faster, slower or the same could be said."""
        return self.verdict.kind is not VerdictKind.UNCLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One pass of the own kernel at one shape.

    ``status`` is ``passed`` or what went wrong, with ``reason`` and ``text``; ``checked`` says
    whether every draw was, and held. ``rivals`` are best first and empty where there is no
    time to compare; ``lost`` says who of them has none. ``process_ns`` has the median of each
    of its processes.
    """

    point: str
    axes: Mapping[str, int]
    timed_pass: str
    load: str
    status: str
    reason: str
    text: str
    wrong: tuple[Wrong, ...]
    median_ns: float | None
    interval_ns: tuple[float, float] | None
    percent_of_limit: float | None
    peak_bytes: int | None
    doubts: tuple[str, ...]
    rivals: tuple[Rival, ...]
    lost: tuple[str, ...]
    checked: bool
    process_ns: tuple[float, ...]
    surroundings: Surroundings

    @property
    def correct(self) -> bool:
        """Whether every check passed; its time may still be unsettled."""
        return self.status == "passed" or (self.checked and self.unsettled)

    @property
    def unsettled(self) -> bool:
        """Whether it is the time that is doubted: its processes differ, or too few ran."""
        return self.status in UNSETTLED

    @property
    def loses(self) -> bool:
        """Whether some installed candidate is shown to be faster."""
        return any(one.verdict.kind is VerdictKind.SLOWER for one in self.rivals)


def plan_trial(
    ask: Ask, *, against: Sequence[str] = (), number: int = 0, **rules: Any
) -> tuple[Plan, Choice]:
    """The plan of an own file (``ask.files``) with its rivals, short enough to wait for.

    ``against`` names rivals; without it the first few that are installed, in the order of
    the operation's description. Raises what ``choose_point`` does.
    """
    rivals = tuple(against) or usual_rivals(ask)
    choice = choose_point(replace(ask, candidates=rivals, passes=ask.passes or ("forward",)))
    own = replace(choice.point.candidates[0], interface=interface_of(ask.files[0]))
    point = replace(choice.point, candidates=(own, *choice.point.candidates[1:]))
    asked = {name: value for name, value in rules.items() if value is not None}
    plan = build_plan(
        [point],
        runner="try",
        number=number,
        device=ask.device,
        purpose="try",
        protocol="quick",
        time_budget_seconds=BUDGET_SECONDS,
        **{**QUICK, **asked},
    )
    return plan, replace(choice, point=point)


def usual_rivals(ask: Ask) -> tuple[str, ...]:
    """The first installed candidates that do the passes and the dtype, the trusted included."""
    operation = load_operation(ask.operation)
    passes = ask.passes or ("forward",)
    fits = [
        one.id
        for one, obstacle in available(operation, ask.device, ask.packages)
        if obstacle is None
        and any(timed in one.passes for timed in passes)
        and (not ask.dtypes or one.takes(ask.dtypes[0], ask.device))
    ]
    trusted = operation.trusted.get(ask.device.partition(":")[0])
    first = fits[: RIVALS_ON_HOST if ask.device == "cpu" else RIVALS]
    return tuple(first if trusted in first or trusted not in fits else [*first, str(trusted)])


def usual_shapes(device: str) -> int:
    """How many other shapes are tried unasked: none on a host.

    They are published for GPUs: an input of the largest RMSNorm has 256 MiB, three times over.
    """
    return 0 if device == "cpu" else OTHER_SHAPES


def other_shapes(plan: Plan, rival: str, count: int) -> Plan | None:
    """The same file and its best rival at up to ``count`` other published shapes.

    The smallest and the largest first: a kernel tuned to one shape loses there.
    """
    point = plan.points[0]
    operation = load_operation(point.operation)
    shapes = [one for one in operation.published if dict(one.axes) != dict(point.axes)]
    shapes.sort(key=lambda one: _size(one.axes))
    chosen = (shapes[:1] + shapes[-1:] + shapes[1:-1])[:count] if len(shapes) > 1 else shapes
    pair = tuple(one for one in point.candidates if one.id in (point.candidates[0].id, rival))
    points = [
        replace(
            point,
            id=f"{point.id}/{'-'.join(str(value) for value in one.axes.values())}",
            axes=dict(one.axes),
            candidates=pair,
            trusted=point.trusted if point.trusted == rival else None,
        )
        for one in chosen[:count]
    ]
    return replace(plan, points=tuple(points), number=plan.number + 1) if points else None


def _size(axes: Mapping[str, int]) -> int:
    total = 1
    for value in axes.values():
        total *= value
    return total


def interface_of(text: str) -> str:
    """``numpy`` for a file that imports numpy and neither torch nor triton, else ``torch``."""
    source = Path(text.rpartition(":")[0]).read_text(encoding="utf-8", errors="replace")
    return "numpy" if _NUMPY.search(source) and not _TORCH.search(source) else "torch"


def read_trials(batch: Batch, judged: Sequence[Judged], own: str) -> tuple[Trial, ...]:
    """What a judged batch says of the candidate ``own``, one trial a pass, shape and regime."""
    surroundings, found = read_surroundings(batch), []
    for one in judged:
        recorded = next((run for run in one.runs.values() if run.series.candidate.id == own), None)
        if recorded is not None:
            series, digest = recorded.series, recorded.run.digest
            found.append(_trial(one, series, digest, surroundings))
    return tuple(found)


def _trial(one: Judged, series: Series, digest: str, surroundings: Surroundings) -> Trial:
    sound = {name for name, run in one.runs.items() if _is_sound(run.series)}
    cohort = judge_as_passed(one, sound)
    entry = next((row for row in cohort.entries if row.run.digest == digest), None)
    interval = entry.run.interval if entry else None
    spec = one.runs[digest].run.document["spec"]
    return Trial(
        point=series.point.id,
        axes=series.point.axes,
        timed_pass=series.regime.timed_pass,
        load=series.regime.load,
        status=series.status,
        reason=series.reason,
        text=str(series.found.get("text") or ""),
        wrong=tuple(_wrong(series)),
        median_ns=entry.entry.value if entry else None,
        interval_ns=(interval.low, interval.high) if interval else None,
        percent_of_limit=entry.limit.percent_nominal if entry and entry.limit else None,
        peak_bytes=spec.get("memory", {}).get("peakBytes"),
        doubts=tuple(doubt.code for doubt in entry.doubts) if entry else (),
        rivals=_rivals(one, cohort, entry) if entry else (),
        lost=tuple(
            f"{row.run.line.title}: {row.run.status.replace('_', ' ')}"
            for row in cohort.excluded
            if row.run.digest != digest
        ),
        checked=_is_checked(series),
        process_ns=tuple(
            median([median(samples) for samples in rounds if samples])
            for rounds in series.samples_ns
            if any(rounds)
        ),
        surroundings=surroundings,
    )


def _is_sound(series: Series) -> bool:
    """Whether nothing but its time is doubted, and there is one."""
    timed = any(any(rounds) for rounds in series.samples_ns)
    return series.status == "passed" or (
        series.status in UNSETTLED and timed and _is_checked(series)
    )


def _is_checked(series: Series) -> bool:
    """Whether every draw of the point was checked, and every output of it passed."""
    stated = series.found.get("correctness") or {}
    outputs = (stated.get("outputs") or {}).values()
    drawn = set(series.point.draws) <= set(stated.get("draws") or ())
    return drawn and bool(outputs) and all(one.get("passed") for one in outputs)


def _rivals(one: Judged, cohort: JudgedCohort, own: JudgedEntry) -> tuple[Rival, ...]:
    """The own entry against each other one, corrected as a family."""
    others = [row for row in cohort.entries if row.run.digest != own.run.digest]
    verdicts = correct_family(
        [compare_in_cohort(own.entry, row.entry, cohort.tolerance) for row in others]
    )
    return tuple(
        Rival(
            title=row.run.line.title,
            id=one.runs[row.run.digest].series.candidate.id,
            median_ns=row.entry.value,
            verdict=verdict,
        )
        for row, verdict in zip(others, verdicts, strict=True)
    )


def _wrong(series: Series) -> list[Wrong]:
    """Every output beyond its tolerance, with the worst that any draw showed."""
    stated = series.found.get("correctness") or {}
    draws = tuple(map(str, stated.get("draws") or ()))
    found = []
    for name, errors in (stated.get("outputs") or {}).items():
        if errors.get("passed"):
            continue
        tolerance = series.point.tolerances.get(name)
        found.append(
            Wrong(
                output=name,
                draw=_draw_of(series, errors, draws),
                draws=draws,
                worst_row=errors.get("worst_at"),
                worst_row_error=errors.get("worst_row"),
                frobenius_error=errors.get("frobenius"),
                allowed=tolerance.frobenius if tolerance else None,
            )
        )
    return found


def _draw_of(series: Series, errors: Mapping[str, Any], draws: Sequence[str]) -> str | None:
    """The draw that errors are of: as stated, as the reason has it, or the only one."""
    if errors.get("draw"):
        return str(errors["draw"])
    named = series.reason.removeprefix(_WRONG_ON)
    if named != series.reason:
        return named
    return draws[0] if len(draws) == 1 else None
