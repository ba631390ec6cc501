"""The short table that a batch ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.stats import median
from kernelindex.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def summary_table(series: Sequence[Mapping[str, Any]]) -> str:
    """Lines by point: candidate, pass, regime, median, status."""
    lines, point = [], None
    for one in series:
        if one["point"] != point:
            point = one["point"]
            lines.append(f"\n{point}")
        regime = f"{one['pass']} {one['cache']} {one['load']} {one['execution']}"
        lines.append(f"  {one['candidate']:<44} {regime:<36} {_median(one):>11}  {_outcome(one)}")
    return "\n".join(lines)


def _median(one: Mapping[str, Any]) -> str:
    rounds = [median(each) for generation in one["samplesNs"] for each in generation if each]
    return format_duration_ns(median(rounds)) if rounds else "-"


def _outcome(one: Mapping[str, Any]) -> str:
    reason = one["reason"]
    return f"{one['status']} ({reason})" if reason else str(one["status"])
