"""What one run says of itself, value by value, beside its primary measurement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kernelindex.policy.facts import (
    UNSTATED,
    Correctness,
    Cost,
    Doubt,
    Interval,
    Observed,
    Primary,
    Profile,
    Shape,
    Spread,
    TimedPass,
)
from kernelindex.registry.costs import cost_of
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.registry.sources_info import find_source, shift_ns

NOT_ASSERTED = "not_asserted"
SPREADS = (("p20", "p80"), ("p25", "p75"), ("p05", "p95"), ("minimum", "maximum"))
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Spec = Mapping[str, Any]


def read_spread(spec: Spec, primary: Primary | None) -> Spread | None:
    """The first published pair of quantiles around the primary value, for display."""
    if primary is None:
        return None
    values = {
        item["statistic"]: item["value"]
        for item in spec.get("measurements") or ()
        if item["metric"] == primary.metric and item["unit"] == primary.unit
    }
    if primary.metric == "latency":
        values |= spec.get("timing", {}).get("latencyNs", {})
    for low, high in SPREADS:
        if low in values and high in values:
            return Spread(kind=f"{low}-{high}", low=values[low], high=values[high])
    return None


def read_interval(spec: Spec, primary: Primary | None, profile: Profile) -> Interval | None:
    """A confidence interval counts only where our own protocol made it."""
    bounds = spec.get("timing", {}).get("latencyNs", {}).get("confidence95")
    if primary is None or profile is not Profile.CONTROLLED or not bounds:
        return None
    return Interval(low=bounds[0], high=bounds[1])


def read_sample_count(spec: Spec, primary: Primary | None) -> int | None:
    """How many samples stand behind the primary value, where it is stated."""
    if "timing" in spec:
        count: int | None = spec["timing"].get("samples")
        return count
    for item in spec.get("measurements") or ():
        if primary and (item["metric"], item["statistic"]) == (primary.metric, primary.statistic):
            samples: int | None = item.get("sampleCount")
            return samples
    return None


def read_correctness(spec: Spec, workload_comparator: str) -> Correctness:
    """Correctness counts as asserted only where neither side says that it is not."""
    stated = spec.get("correctness", {})
    comparator = stated.get("comparator", workload_comparator)
    return Correctness(
        asserted=NOT_ASSERTED not in (comparator, workload_comparator),
        comparator=comparator,
        max_absolute_error=stated.get("maximumAbsoluteError"),
        max_relative_error=stated.get("maximumRelativeError"),
        matched_ratio=stated.get("matchedRatio"),
    )


def read_observed(spec: Spec) -> Observed:
    """The instant as text; its calendar date only where the text begins with one."""
    if "observedAt" in spec:
        text, zone = spec["observedAt"], "utc"
    else:
        text, zone = spec["observedLocal"]["text"], UNSTATED
    date = _DATE.match(text)
    return Observed(text=text, zone=zone, date=date.group() if date else None)


def read_cost(
    shape: Shape, timed_pass: TimedPass, computes: str | None, primary: Primary | None
) -> Cost | None:
    """Work is counted for times of mapped cases; a suite's score is no single call.

    ``computes`` is the pass whose work counts where the protocol names none.
    """
    if not shape.mapped or not shape.axes or primary is None or primary.metric != "latency":
        return None
    work_pass = computes if timed_pass is TimedPass.UNSTATED else str(timed_pass)
    if work_pass is None:
        return None
    asked = (shape.operation, work_pass, dict(shape.axes), dict(shape.dtypes))
    work, least = cost_of(*asked), cost_of(*asked, surely=True)
    if work is None or least is None:
        return None
    return Cost(flops=work.flops, bytes=work.bytes, sure_bytes=least.bytes)


def read_own_doubts(spec: Spec) -> tuple[Doubt, ...]:
    """The doubts that a v1alpha2 run names itself."""
    return tuple(
        Doubt(
            code=item["code"],
            effect=item["effect"],
            text=item.get("text", ""),
            shift_ns=item.get("shiftNs"),
        )
        for item in spec.get("doubts") or ()
    )


def read_source_doubts(
    source: str, shape: Shape, timed_pass: TimedPass, product_id: str | None, *, is_time: bool
) -> tuple[Doubt, ...]:
    """The standing doubts of a source that apply here; only times have a size in ns."""
    info = find_source(source)
    product = PRODUCTS.get(product_id or "")
    return tuple(
        Doubt(
            code=item.code,
            effect=item.effect,
            text=item.text,
            shift_ns=shift_ns(item, product, dict(shape.axes)) if is_time else None,
        )
        for item in (info.doubts if info else ())
        if item.applies_to(shape.operation, str(timed_pass))
    )
