"""What a series found beside its times: correctness, telemetry, memory, traits, trace, doubts.

Everything in a series came through a candidate's process, so texts are cut to length and
numbers that no manifest takes are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kernelindex.runner import batch_files
from kernelindex.runner.recording.protocol import DRAWS
from kernelindex.runner.recording.workload import COMPARATOR, is_routed
from kernelindex.selfchecks import calibration_problems
from kernelindex.stats import finite_number, mean, median

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernelindex.runner.recording.batch import Batch, Series

MAX_KERNELS = 50
MAX_DOUBTS = 32
_CODE = re.compile(r"[^A-Z0-9]+")
_ERRORS = {
    "maximumAbsoluteError": "max_abs",
    "maximumRelativeError": "max_rel",
    "frobeniusError": "frobenius",
    "worstRowError": "worst_row",
    "errorRatio": "error_ratio",
    "matchedRatio": "matched",
}
_RANGES = {
    "smClockMhz": "sm_mhz",
    "memoryClockMhz": "memory_mhz",
    "powerWatts": "power_w",
    "temperatureCelsius": "temperature_c",
}


def build_correctness(series: Series) -> dict[str, Any] | None:
    """What checking found, by output; ``None`` where nothing was checked."""
    stated = series.found.get("correctness") or {}
    outputs = stated.get("outputs") or {}
    found: dict[str, Any] = {"comparator": COMPARATOR}
    if outputs:
        found["outputs"] = {name: _errors(one) for name, one in sorted(outputs.items())}
    draws = stated.get("draws") or ()
    names = sorted({DRAWS.get(draw, draw) for draw in draws})
    parts = {"draws": names or None, "timedCallsChecked": stated.get("timedCallsChecked")}
    found |= {name: value for name, value in parts.items() if value is not None}
    for name in ("maximumAbsoluteError", "maximumRelativeError"):
        worst = [one[name] for one in found.get("outputs", {}).values() if name in one]
        if worst:
            found[name] = max(worst)
    return found if len(found) > 1 else None


def _errors(stated: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"passed": bool(stated.get("passed"))}
    if isinstance(stated.get("finite"), bool):
        found["finite"] = stated["finite"]
    for name, key in _ERRORS.items():
        value = _number(stated.get(key))
        if value is not None and value >= 0:
            found[name] = value
    return found


def build_telemetry(batch: Batch, series: Series) -> dict[str, Any] | None:
    """Ranges over the series' rounds of what the device reported."""
    rounds = list(_rounds(series.found.get("telemetry")))
    found: dict[str, Any] = {}
    driver = batch.facts.get("driver")
    if driver and batch.on_device:
        found["driver"] = str(driver)[:100]
    for name, key in _RANGES.items():
        values = [value for one in rounds for value in _values(one.get(key))]
        if values:
            found[name] = _range(values)
    joules = _number((_traits(series).get("energy") or {}).get("joules_per_call"))
    if joules is not None and joules >= 0:
        found["energyJoulesPerCall"] = joules
    throttled = {_token(reason) for one in rounds for reason in one.get("throttle_reasons") or ()}
    if rounds and batch.on_device:
        found["throttleReasons"] = sorted(throttled)
    errors = [count for one in rounds if (count := _count(one.get("ecc_errors"))) is not None]
    if errors:
        found["eccErrors"] = max(errors)
    others = list(_other_processes(series.found.get("telemetry")))
    if others:
        found["otherProcesses"] = max(others)
    digest = batch_files.file_digest(batch.folder / batch_files.TELEMETRY)
    if found and digest:
        found["artifact"] = {"uri": batch_files.TELEMETRY, "digest": digest}
    return found or None


def build_memory(series: Series) -> dict[str, int] | None:
    """Peak allocation and bytes saved for backward."""
    stated = _traits(series)
    found = {
        "peakBytes": _count(stated.get("peak_bytes")),
        "savedBytes": _count(stated.get("saved_bytes")),
    }
    return {name: value for name, value in found.items() if value is not None} or None


def build_traits(series: Series) -> dict[str, Any] | None:
    """Determinism, graph capture, first call and set-up in ns."""
    stated = {**series.found, **_traits(series)}
    flags = {
        "deterministic": stated.get("deterministic"),
        "graphCapturable": stated.get("graph_capturable"),
    }
    times = {
        "firstCall": _count(stated.get("firstCallNs")),
        "setup": _count(stated.get("setup_ns")),
    }
    found: dict[str, Any] = {n: one for n, one in flags.items() if isinstance(one, bool)}
    return found | {n: one for n, one in times.items() if one is not None} or None


def build_executed(series: Series) -> list[dict[str, Any]]:
    """The device kernels of the traced call, largest share first."""
    trace = series.found.get("trace") or {}
    found = []
    for one in trace.get("kernels") or ():
        share = _number(one.get("share"))
        name = str(one.get("name") or "")[:500]
        if name and share is not None:
            row: dict[str, Any] = {"kernel": name, "share": min(1.0, max(0.0, share))}
            launches = _count(one.get("launches"))
            found.append(row | ({} if launches is None else {"launches": launches}))
    return sorted(found, key=lambda row: (-row["share"], row["kernel"]))[:MAX_KERNELS]


def build_trace(series: Series) -> dict[str, Any] | None:
    """Launches of a call, and busy time over event time."""
    trace = series.found.get("trace") or {}
    found: dict[str, Any] = {"launches": _count(trace.get("launches"))}
    found["busyRatio"] = _number(trace.get("busy_ratio"))
    return {name: value for name, value in found.items() if value is not None} or None


def build_doubts(batch: Batch, series: Series) -> list[dict[str, Any]]:
    """The worker's doubts, and those that the plan itself shows; each code once."""
    found: dict[str, dict[str, Any]] = {}
    for one in (*(series.found.get("doubts") or ()), *_planned_doubts(batch, series)):
        code = _CODE.sub("_", str(one.get("code", "")).upper()).strip("_")
        if code and code not in found:
            found[code] = _doubt(code, one)
    return list(found.values())[:MAX_DOUBTS]


def _doubt(code: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    effect = stated.get("effect")
    doubt: dict[str, Any] = {"code": code, "effect": effect if effect in EFFECTS else "note"}
    if stated.get("text"):
        doubt["text"] = str(stated["text"])[:1000]
    return doubt


EFFECTS = ("blocks", "shifts", "note")


def _planned_doubts(batch: Batch, series: Series) -> Iterable[dict[str, Any]]:
    outside = calibration_problems(batch.calibration, batch.plan.device)
    if batch.calibration and outside:
        yield {
            "code": "CALIBRATION_OUT_OF_LIMITS",
            "effect": "blocks",
            "text": f"the batch's own self-checks were outside their limits: {'; '.join(outside)}",
        }
    if batch.outcome != "complete":
        yield {
            "code": "BATCH_CUT_SHORT",
            "effect": "note",
            "text": f"batch {batch.outcome.replace('_', ' ')}: not all of it was measured",
        }
    if is_routed(series.point.operation) and series.point.distribution == "uniform":
        yield {
            "code": "UNIFORM_ROUTING_ONLY",
            "effect": "note",
            "text": "tokens are spread evenly over experts; real routing is skewed",
        }


def _traits(series: Series) -> Mapping[str, Any]:
    return series.found.get("traits") or {}


def _rounds(stated: Any) -> Iterable[Mapping[str, Any]]:
    """Telemetry of rounds, however deep they are listed."""
    if isinstance(stated, dict):
        yield stated.get("summary") or stated
    elif isinstance(stated, list):
        for one in stated:
            yield from _rounds(one)


def _other_processes(stated: Any) -> Iterable[int]:
    """By round, the processes on the device that are not the batch's own."""
    if isinstance(stated, list):
        for one in stated:
            yield from _other_processes(one)
    elif isinstance(stated, dict):
        seen = _count((stated.get("summary") or {}).get("processes"))
        own = _count(stated.get("own_processes"))
        if seen is not None and own is not None:
            yield max(0, seen - own)


def _values(stated: Any) -> list[float]:
    """A reading, several of them, or a range of them, as numbers."""
    if isinstance(stated, dict):
        parts = [stated.get(name) for name in ("minimum", "median", "mean", "maximum")]
        return _values([part for part in parts if part is not None])
    many = stated if isinstance(stated, list) else [stated]
    return [value for value in map(_number, many) if value is not None]


def _range(values: list[float]) -> dict[str, Any]:
    return {
        "minimum": min(values),
        "median": median(values),
        "mean": mean(values),
        "maximum": max(values),
        "samples": len(values),
    }


def _number(value: Any) -> float | None:
    """A finite number as it is, whole ones too."""
    return None if finite_number(value) is None else value


def _count(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number < 0 else round(number)


def _token(text: Any) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", str(text).lower()).strip("_") or "unknown"
    return plain if plain[0].isalpha() else f"r_{plain}"
