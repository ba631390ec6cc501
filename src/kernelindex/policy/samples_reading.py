"""The samples of a controlled run: its round medians, and what its batch's calibration says.

A calibration artifact is JSON. Read of it: ``floor`` [[ns, relative], …], ``tickNs``,
``anchor`` {id, roundMediansNs: generation > round, ns}, ``betweenBatch`` {sd, degrees} and
``secondsPerGeneration``. Whatever is not of that form counts as not said.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from kernelindex.policy.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.policy.samples import RoundMedians

DEGREES = 9


def calibration_of(run: Mapping[str, Any]) -> str | None:
    """The digest of the calibration artifact that a run's ``spec`` names, if it has samples."""
    if not (run.get("timing") or {}).get("roundMediansNs"):
        return None
    named = (run.get("batch") or {}).get("calibration") or {}
    digest = named.get("digest")
    return str(digest) if digest else None


def read_samples(run: Mapping[str, Any], calibration: Any) -> Samples | None:
    """The samples of a run's ``spec``; None without rounds, batch, runner or calibration.

    ``calibration`` is the artifact's JSON as read, of whatever form.
    """
    rounds = _rounds((run.get("timing") or {}).get("roundMediansNs"))
    batch, runner = run.get("batch"), run.get("runner")
    if rounds is None or batch is None or runner is None or not isinstance(calibration, dict):
        return None
    floor = _floor(calibration.get("floor"))
    tick = _positive(calibration.get("tickNs"))
    if floor is None or tick is None:
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
        tick_ns=tick,
        cycles=_rounds(_object(calibration, "cycles").get(_samples_digest(run))),
        anchor=_rounds(anchor.get("roundMediansNs")),
        anchor_id=anchor_id if isinstance(anchor_id, str) else None,
        between_batch_sd=_positive(between.get("sd")),
        between_batch_degrees=degrees if type(degrees) is int and degrees > 0 else DEGREES,
        seconds_per_generation=_positive(calibration.get("secondsPerGeneration")),
    )


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
    if not isinstance(value, list) or not value:
        return None
    points = []
    for one in value:
        if not isinstance(one, list) or len(one) != 2:
            return None
        duration, margin = _positive(one[0]), _positive(one[1])
        if duration is None or margin is None:
            return None
        points.append((duration, margin))
    points.sort()
    rising = all(a[0] < b[0] for a, b in itertools.pairwise(points))
    return tuple(points) if rising else None


def _per_round(run: Mapping[str, Any], rounds: RoundMedians) -> int:
    count = (run.get("samples") or {}).get("count") or run["timing"].get("samples") or 0
    return max(1, round(count / max(1, sum(map(len, rounds)))))


def _samples_digest(run: Mapping[str, Any]) -> str:
    return str((run.get("samples") or {}).get("digest") or "")


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _positive(value: Any) -> float | None:
    if type(value) not in {int, float} or not math.isfinite(value) or value <= 0.0:
        return None
    return float(value)
