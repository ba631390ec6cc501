"""Metrics: what a number measures, in which unit, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from kernelindex.registry.resources import load_data

Kind = Literal["time", "memory", "score", "rate", "quality", "energy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric; ``canonical_unit`` is the unit the index stores it in."""

    id: str
    kind: Kind
    direction: Literal["lower", "higher"]
    canonical_unit: str
    title: str
    source: str


@cache
def load_metrics() -> dict[str, Metric]:
    """Every metric by id."""
    return {row["id"]: Metric(**row) for row in load_data("metrics.json")["metrics"]}


def find_metric(metric_id: str) -> Metric | None:
    """The metric of this exact id, or ``None``: a number without direction does not rank."""
    return load_metrics().get(metric_id)


METRICS: dict[str, Metric]
"""``load_metrics()``, read on first use."""


def __getattr__(name: str) -> object:
    if name == "METRICS":
        return load_metrics()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
