"""What a batch says of itself: self-checks, sentinels, floor, tick, the anchor by point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernelindex.stats import median, quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernelindex.runner.plan import Plan

_FLOOR_SHARE = 0.95


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
    passed = [check.get("passed") for one in checks for check in one.get("checks", ())]
    return {
        "selfchecks": checks,
        "sentinels": sentinels,
        "floor": sentinel_floor([one["medians"] for one in sentinels]),
        "tickNs": next((one["tick_ns"] for one in checks if one.get("tick_ns")), None),
        "anchor": {
            "id": plan.anchor.id,
            "medians": [one["anchor"]["medians"] for one in generations],
            "points": by_point,
            "after": [one["anchor"]["after"] for one in generations],
            "problems": [p for one in generations if (p := one["anchor"]["problem"])],
        },
        "withinLimits": bool(passed) and all(passed) and not any(_problems(generations)),
    }


def _problems(generations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in generations:
        if one["anchor"]["problem"]:
            yield one["anchor"]["problem"]
        yield from (one.get("sentinels") or {}).get("problems", ())


def sentinel_floor(
    sentinels: Sequence[Mapping[str, Mapping[str, Sequence[float]]]],
) -> list[list[float]]:
    """[duration ns, relative margin] ascending: the 95th percentile of |A/A| log ratios.

    One ratio a generation and one a round; equal work in equal processes, so what they
    differ by is the least difference this batch could show.
    """
    ratios: dict[str, list[float]] = {}
    lengths: dict[str, list[float]] = {}
    for generation in sentinels:
        for which, pair in generation.items():
            logs = [math.log(a / b) for a, b in zip(pair["a"], pair["b"], strict=True)]
            ratios.setdefault(which, []).extend(abs(one) for one in (*logs, median(logs)))
            lengths.setdefault(which, []).append(median([*pair["a"], *pair["b"]]))
    floor = [
        [median(lengths[which]), math.expm1(quantile(ratios[which], _FLOOR_SHARE))]
        for which in ratios
    ]
    return sorted(floor)
