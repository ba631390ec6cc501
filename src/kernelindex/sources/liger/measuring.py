"""A matched row's measured side as manifests: the protocol of its script, and the run.

A run's doubts are what the reviewed script shows: work of its own in the timed region, with
its size as bytes over the product's nominal bandwidth. Below one percent of the time they are
left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.manifests import Manifest, parse
from kernelindex.manifests.expressions import evaluate
from kernelindex.registry.costs import element_bits
from kernelindex.registry.hardware import resolve_gpu
from kernelindex.sources.liger.building import REPOSITORY, V2
from kernelindex.sources.liger.numbers import MISSING, to_bytes, to_ns
from kernelindex.sources.liger.table import harnesses, load_lines, load_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.sources.liger.matching import Matched
    from kernelindex.sources.liger.table import Entry, ExtraWork

__all__ = ["Quantiles", "build_protocol", "build_run", "is_single_sample", "read_quantiles"]

SOURCE = "liger-kernel-bench"
TICKS_FLOOR_NS = 1_024_000
"""1,000 ticks of the coarsest timer seen (1.024 µs): shorter times may agree by their tick."""

NOTABLE_SHARE = 0.01
COINCIDE = "p20, p50 and p80 are one number; on how many samples is not said"
LACKS = (
    "the published package {} does not contain this kernel: what ran was a source tree that "
    "still reported that version"
)
_STATISTICS = {"20": "p20", "50": "median", "80": "p80"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """A row's values in ns or bytes; low and high only where both were measured.

    ``alike`` where all three texts are one; ``native`` has the file's own numbers.
    """

    median: int
    low: int | None
    high: int | None
    alike: bool
    native: Mapping[str, float]


def read_quantiles(fields: Mapping[str, str]) -> Quantiles | str:
    """The row's p50, p20 and p80, or the reason why it has no value."""
    is_speed = fields["metric_name"] == "speed"
    texts = {key: fields[f"y_value_{key}"].strip() for key in _STATISTICS}
    if texts["50"].lower() in MISSING:
        return "missing_value"
    convert, prefix = (to_ns, "ms") if is_speed else (to_bytes, "mib")
    values = {key: convert(text) for key, text in texts.items()}
    median, low, high = values["50"], values["20"], values["80"]
    if median is None:
        return "bad_number"
    both = low is not None and high is not None
    return Quantiles(
        median=median,
        low=low if both else None,
        high=high if both else None,
        alike=both and texts["20"] == texts["50"] == texts["80"],
        native={f"{prefix}_{key}": float(texts[key]) for key in values if values[key] is not None},
    )


def is_single_sample(values: Quantiles, rep_ms: int | None) -> bool:
    """Whether three equal quantiles of a time show that it was sampled once.

    do_bench repeats ``rep / estimate`` times, the estimate a mean of five calls, mostly above
    the median: a median past 0.4 of ``rep`` leaves one repetition. Four and more samples of
    1,000 ticks and more do not agree to the last digit, so they were one as well. Between
    (two or three samples might agree) nothing is derived.
    """
    if rep_ms is None or not values.alike or values.median < TICKS_FLOOR_NS:
        return False
    repeats = rep_ms * 1e6 / values.median
    return repeats < 2.5 or repeats >= 4


@cache
def build_protocol(kernel: str, entry_id: str, mode: str, metric: str) -> Manifest:
    """The protocol that a mode's script followed: one for each pass, harness and metric."""
    entry = next(entry for entry in load_table()[kernel] if entry.id == entry_id)
    described, harness = entry.modes[mode], harnesses()[entry.harness]
    is_speed = metric == "speed"
    spec: dict[str, Any] = {
        "harness": {"name": "Liger-Kernel benchmark scripts", "repository": REPOSITORY},
        "measurement": dict(harness.speed if is_speed else harness.memory),
        "comparability": {"family": "liger_kernel_bench", "notes": _notes(entry, mode, is_speed)},
        "timedPass": described.timed_pass,
        "execution": "eager",
    }
    if is_speed and described.includes is not None:
        spec["timedRegion"] = {"includes": list(described.includes)}
    if is_speed and harness.cache is not None:
        spec["cache"] = dict(harness.cache)
    if entry.gradients and described.timed_pass in {"backward", "full"}:
        spec["gradients"] = entry.gradients
    what = "" if is_speed else "-memory"
    name = f"liger-{harness.id}-{described.timed_pass}{what}"
    title = f"Liger benchmark scripts · {described.timed_pass} pass"
    return parse(
        {
            "apiVersion": V2,
            "kind": "BenchmarkProtocol",
            "metadata": {"name": name, "title": title if is_speed else f"{title}, peak memory"},
            "spec": spec,
        }
    )


def build_run(
    row: Matched, fields: Mapping[str, str], values: Quantiles, digests: Mapping[str, str]
) -> Manifest:
    """The run: its numbers, the file's own numbers beside them, and its doubts."""
    is_speed = fields["metric_name"] == "speed"
    single = is_speed and is_single_sample(values, harnesses()[row.entry.harness].rep_ms)
    benchmark = f"{fields['kernel_name']}/{fields['kernel_operation_mode']}"
    spec: dict[str, Any] = {
        **digests,
        "status": "passed",
        "observedLocal": {"text": fields["timestamp"], "zone": "unstated"},
        "sourceNative": {
            "source": SOURCE,
            "benchmark": (benchmark if is_speed else f"{benchmark}/memory")[:200],
            "externalId": _external_id(fields),
            "metrics": dict(values.native),
        },
    }
    if is_speed:
        spec["timing"] = {"primaryStatistic": "median", "latencyNs": {"median": values.median}}
        if single:
            spec["timing"]["samples"] = 1
    measurements = _measurements(values, is_speed=is_speed)
    if measurements:
        spec["measurements"] = measurements
    doubts = _doubts(row, fields, values, single=single) if is_speed else []
    if doubts:
        spec["doubts"] = doubts
    name = f"liger-{benchmark}-{fields['kernel_provider']}-{fields['timestamp']}"
    title = f"{row.operation.title} · {fields['kernel_provider']} · {row.mode.timed_pass}"
    metadata = {
        "name": _plain_name(name),
        "title": title[:200],
        "labels": {"liger_version": fields["liger_version"][:200]},
        "sourceRefs": [{"url": row.entry.script.url}],
    }
    return parse({"apiVersion": V2, "kind": "BenchmarkRun", "metadata": metadata, "spec": spec})


def _measurements(values: Quantiles, *, is_speed: bool) -> list[dict[str, Any]]:
    """p20 and p80 where they differ; for memory the median itself as well."""
    metric, unit = ("latency", "ns") if is_speed else ("peak_memory", "bytes")
    found = [] if is_speed else [("median", values.median)]
    if not values.alike and values.low is not None and values.high is not None:
        found += [("p20", values.low), ("p80", values.high)]
    return [
        {"metric": metric, "unit": unit, "statistic": statistic, "value": value}
        for statistic, value in found
    ]


def _external_id(fields: Mapping[str, str]) -> str:
    parts = ("kernel_name", "kernel_operation_mode", "metric_name", "kernel_provider", "gpu_name")
    swept = f"{fields['x_name']}={fields['x_value']}"
    stem = "/".join([*(fields[part] for part in parts), swept, fields["timestamp"]])
    return f"{stem}/{fields['extra_benchmark_config_str']}"[:500]


def _plain_name(text: str) -> str:
    kept = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in text)
    return kept.lower().strip("-")[:200]


def _notes(entry: Entry, mode: str, is_speed: bool) -> str:
    harness, described = harnesses()[entry.harness], entry.modes[mode]
    timed = f"{harness.notes} {described.note}".strip() if is_speed else described.note
    return f"{timed} {entry.script.path} at {entry.script.revision[:12]}.".strip()[:1000]


def _doubts(
    row: Matched, fields: Mapping[str, str], values: Quantiles, *, single: bool
) -> list[dict[str, Any]]:
    found = []
    mode = fields["kernel_operation_mode"]
    for work in row.entry.extra:
        if mode in work.modes:
            found += _harness_work(row, work, fields["gpu_name"], values.median)
    for doubt in row.provider.doubts:
        if mode in doubt["modes"]:
            found.append({key: doubt[key] for key in ("code", "effect", "text")})
    if values.alike and not single:
        found.append(_note("QUANTILES_COINCIDE", COINCIDE))
    line = load_lines()[row.provider.line]
    if line.project == "liger-kernel" and fields["liger_version"] not in line.releases:
        found.append(_note("VERSION_LACKS_KERNEL", LACKS.format(fields["liger_version"])))
    return found


def _note(code: str, text: str) -> dict[str, Any]:
    return {"code": code, "effect": "note", "text": text}


def _harness_work(
    row: Matched, work: ExtraWork, gpu_name: str, median_ns: int
) -> list[dict[str, Any]]:
    bits = element_bits(row.operation, work.like, row.dtypes) or 0
    moved = evaluate(work.elements, row.all_axes) * bits // 8
    product = resolve_gpu(gpu_name).product
    doubt: dict[str, Any] = {
        "code": "HARNESS_WORK_IN_TIMED_REGION",
        "effect": "shifts",
        "text": f"{work.text}: about {moved / 1e9:.3g} GB more traffic in the timed region",
    }
    if product is not None and product.bandwidth_bytes_s:
        shift = round(moved / product.bandwidth_bytes_s * 1e9)
        if shift < NOTABLE_SHARE * median_ns:
            return []
        doubt["shiftNs"] = shift
    return [doubt]
