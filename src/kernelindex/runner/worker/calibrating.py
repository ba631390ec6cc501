"""What a batch says of itself: self-checks, sentinels, floor, tick, the anchor by point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.calibration.floor import floor_points, pair_ratios
from kernelindex.selfchecks import calibration_problems
from kernelindex.stats import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.runner.plan import Plan


def calibration_record(
    plan: Plan, done: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """The content of ``calibration.json`` from the generations finished so far."""
    generations = [one for point in plan.points for one in done.get(point.id, ())]
    checks = [one["selfcheck"] for one in generations if one.get("selfcheck")]
    sentinels = [one["sentinels"] for one in generations if one.get("sentinels")]
    by_point = {
        point.id: [one["anchor"]["medians"] for one in done.get(point.id, ())]
        for point in plan.points
    }
    tick_ns = next((float(one["tick_ns"]) for one in checks if one.get("tick_ns")), 0.0)
    record = {
        "selfchecks": checks,
        "sentinels": sentinels,
        "floor": sentinel_floor([one["medians"] for one in sentinels], plan.device, tick_ns),
        "tickNs": tick_ns,
        "anchor": {
            "id": plan.anchor.id,
            "medians": [one["anchor"]["medians"] for one in generations],
            "points": by_point,
            "after": [one["anchor"]["after"] for one in generations],
            "problems": [p for one in generations if (p := one["anchor"]["problem"])],
        },
    }
    return {**record, "withinLimits": not calibration_problems(record, plan.device)}


def sentinel_floor(
    sentinels: Sequence[Mapping[str, Mapping[str, Sequence[float]]]], device: str, tick_ns: float
) -> list[list[float]]:
    """``[[duration ns, relative margin], ...]`` ascending (``calibration.floor``).

    One A/A log ratio a generation: of the medians of two processes that do equal work.
    """
    ratios: dict[str, list[float]] = {}
    lengths: dict[str, list[float]] = {}
    for generation in sentinels:
        for which, pair in generation.items():
            both = [median(pair["a"])], [median(pair["b"])]
            ratios.setdefault(which, []).extend(pair_ratios(*both))
            lengths.setdefault(which, []).extend([*pair["a"], *pair["b"]])
    return floor_points({median(lengths[one]): ratios[one] for one in ratios}, device, tick_ns)
