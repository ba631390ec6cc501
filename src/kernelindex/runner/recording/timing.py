"""Samples of one series as the numbers of a run: quantiles, round medians, an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernelindex.stats import (
    deviation,
    mad,
    mean,
    median,
    quantile,
    round_medians,
    student_t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


def build_timing(samples: Sequence[Sequence[Sequence[float]]]) -> dict[str, Any] | None:
    """The ``timing`` of a run; ``samples`` are ns, generation > round > sample.

    The median is over all samples. Its interval has the process generation as the unit of
    replication; with fewer than two there is none. ``None`` where nothing was sampled.
    """
    kept = [[rounds for rounds in generation if rounds] for generation in samples]
    kept = [generation for generation in kept if generation]
    every = [value for generation in kept for rounds in generation for value in rounds]
    if not every:
        return None
    medians = round_medians(kept)
    middle = median(every)
    latency: dict[str, Any] = {
        "median": round(middle),
        "mean": round(mean(every)),
        "p05": round(quantile(every, 0.05)),
        "p20": round(quantile(every, 0.2)),
        "p80": round(quantile(every, 0.8)),
        "p95": round(quantile(every, 0.95)),
        "minimum": round(min(every)),
        "maximum": round(max(every)),
        "mad": round(mad(every)),
    }
    interval = median_interval(medians, middle)
    if interval is not None:
        latency["confidence95"] = [math.floor(interval[0]), math.ceil(interval[1])]
    return {
        "primaryStatistic": "median",
        "samples": len(every),
        "latencyNs": latency,
        "roundMediansNs": [[round(one) for one in generation] for generation in medians],
    }


def median_interval(
    medians: Sequence[Sequence[float]], middle: float
) -> tuple[float, float] | None:
    """The 95 % interval of the median, from one log median a generation (Student t).

    It always holds ``middle``, which is over all samples and not the mean of generations.
    """
    logs = [math.log(median(list(generation))) for generation in medians if generation]
    if len(logs) < 2:
        return None
    error = deviation(logs) / math.sqrt(len(logs))
    half = student_t_quantile(0.5 + CONFIDENCE / 2, len(logs) - 1) * error
    centre = mean(logs)
    return min(math.exp(centre - half), middle), max(math.exp(centre + half), middle)
