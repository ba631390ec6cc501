"""The samples of a controlled run: its round medians, and what its batch's calibration says.

A calibration artifact is JSON. Read of it: ``floor`` [[ns, relative], …], ``tickNs``,
``anchor`` {id, points: {point: generation > round, ns}, medians: the same of all points},
``betweenBatch`` {sd, degrees} and ``secondsPerGeneration``. Of a series: ``point`` and
``cycles``. Whatever is not of that form counts as not said.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.policy.samples import Samples
from kernelindex.selfchecks import calibration_problems
from kernelindex.stats import finite_number, median

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.policy.samples import RoundMedians

DEGREES = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Which point of the batch a series is of, and its round medians in SM cycles."""

    point: str | None
    cycles: RoundMedians | None


def calibration_of(run: Mapping[str, Any]) -> str | None:
    """The digest of the calibration artifact that a run's ``spec`` names, if it has samples."""
    if not (run.get("timing") or {}).get("roundMediansNs"):
        return None
    named = (run.get("batch") or {}).get("calibration") or {}
    digest = named.get("digest")
    return str(digest) if digest else None


def series_of(run: Mapping[str, Any]) -> str | None:
    """The digest of the series artifact that a run's ``spec`` names, if it is calibrated."""
    digest = (run.get("samples") or {}).get("digest")
    return str(digest) if digest and calibration_of(run) else None


def read_samples(
    run: Mapping[str, Any], calibration: Any, series: Series | None = None
) -> Samples | None:
    """The samples of a run's ``spec``; None without rounds, batch, runner or calibration.

    ``calibration`` is the artifact's JSON as read, of whatever form; ``series`` as
    ``read_series`` gives it.
    """
    rounds = _rounds((run.get("timing") or {}).get("roundMediansNs"))
    batch, runner = run.get("batch"), run.get("runner")
    if rounds is None or batch is None or runner is None or not isinstance(calibration, dict):
        return None
    floor = _floor(calibration.get("floor") or [])
    if floor is None:
        return None
    anchor, between = _object(calibration, "anchor"), _object(calibration, "betweenBatch")
    anchor_id = anchor.get("id")
    degrees = between.get("degrees")
    return Samples(
        batch=str(batch["id"]),
        runner=str(runner.get("keyDigest") or runner["id"]),
        rounds=rounds,
        samples_per_round=_per_round(run, rounds),
        floor=floor,
        tick_ns=_positive(calibration.get("tickNs")) or 0.0,
        cycles=series.cycles if series else None,
        anchor=_anchor(anchor, series, len(rounds)),
        anchor_id=anchor_id if isinstance(anchor_id, str) else None,
        between_batch_sd=_positive(between.get("sd")),
        between_batch_degrees=degrees if type(degrees) is int and degrees > 0 else DEGREES,
        number=_number(batch.get("number")),
        calibrated=_is_calibrated(calibration),
        seconds_per_generation=_positive(calibration.get("secondsPerGeneration")),
    )


def read_series(value: Any) -> Series:
    """What samples take of a series artifact, its JSON as read, of whatever form."""
    if not isinstance(value, dict):
        return Series(point=None, cycles=None)
    point, stated = value.get("point"), value.get("cycles")
    medians: list[list[float]] | None = []
    for rounds in stated if isinstance(stated, list) else ():
        numbers = _rounds(rounds) if rounds else None
        if numbers is None or medians is None or not all(numbers):
            medians = None
        else:
            medians.append([median(one) for one in numbers])
    cycles = tuple(map(tuple, medians)) if medians else None
    return Series(point=point if isinstance(point, str) else None, cycles=cycles)


def _anchor(
    anchor: Mapping[str, Any], series: Series | None, generations: int
) -> RoundMedians | None:
    """The anchor at the run's own point; that of the whole batch where it has but one."""
    if series is not None and series.point is not None:
        found = _rounds(_object(anchor, "points").get(series.point))
        if found is not None:
            return found
    whole = _rounds(anchor.get("medians"))
    return whole if whole is not None and len(whole) == generations else None


def _rounds(value: Any) -> RoundMedians | None:
    """Generation > round, all positive; None where it is not that."""
    if not isinstance(value, list | tuple) or not value:
        return None
    found = []
    for rounds in value:
        if not isinstance(rounds, list | tuple):
            return None
        numbers = [_positive(one) for one in rounds]
        if not all(numbers):
            return None
        found.append(tuple(one for one in numbers if one))
    return tuple(found)


def _floor(value: Any) -> tuple[tuple[float, float], ...] | None:
    """(ns, relative margin) by ascending duration, no duration twice."""
    if not isinstance(value, list):
        return None
    points = []
    for one in value:
        if not isinstance(one, list) or len(one) != 2:
            return None
        duration, margin = _positive(one[0]), _positive(one[1]) or 0.0
        if duration is None or (margin == 0.0 and one[1] != 0):
            return None
        points.append((duration, margin))
    points.sort()
    rising = all(a[0] < b[0] for a, b in itertools.pairwise(points))
    return tuple(points) if rising else None


def _per_round(run: Mapping[str, Any], rounds: RoundMedians) -> int:
    count = (run.get("samples") or {}).get("count") or run["timing"].get("samples") or 0
    return max(1, round(count / max(1, sum(map(len, rounds)))))


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _is_calibrated(calibration: Mapping[str, Any]) -> bool:
    """Inside the limits of a host or of a device: no calibration has the checks of both."""
    return any(not calibration_problems(calibration, device) for device in ("cuda:0", "cpu"))


def _number(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _positive(value: Any) -> float | None:
    found = finite_number(value)
    return found if found is not None and found > 0.0 else None
