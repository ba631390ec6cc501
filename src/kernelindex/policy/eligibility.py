"""Which runs do not rank, and why, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.policy.comparison import AMBIGUOUS_PRIMARY, MISSING_PRIMARY
from kernelindex.policy.limits import above_physical_floor, floor_text

if TYPE_CHECKING:
    from kernelindex.policy.facts import RunFacts
    from kernelindex.registry.hardware import Product

CODES = (
    "not_passed",
    "retracted",
    "superseded",
    "inferred",
    "wrong_operation",
    "missing_primary_metric",
    "unknown_metric",
    "not_positive",
    "above_physical_floor",
)


WITHDRAWN = "withdrawn"
"""Status shown of a run that did not pass and was retracted; its manifest has the other."""
PRIMARY_PROBLEMS = {
    MISSING_PRIMARY: "no measurement at the protocol's primary statistic",
    AMBIGUOUS_PRIMARY: "several measurements at the protocol's primary statistic",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """One reason why a run does not rank: a stable code and a sentence."""

    code: str
    text: str


def exclusions(facts: RunFacts, product: Product | None = None) -> tuple[Exclusion, ...]:
    """Every reason why this run does not rank, in the order of ``CODES``; empty if it does."""
    found = [*_standing(facts), *_identity(facts), *_value(facts)]
    if above_physical_floor(facts, product):
        found.append(Exclusion(code="above_physical_floor", text=floor_text(facts)))
    return tuple(found)


def _standing(facts: RunFacts) -> list[Exclusion]:
    found = []
    if facts.status != "passed":
        text = f"the run did not pass: {facts.status.replace('_', ' ')}"
        found.append(Exclusion(code="not_passed", text=text))
    if facts.retracted is not None:
        text = f"retracted: {facts.retracted or 'no reason given'}"
        found.append(Exclusion(code="retracted", text=text))
    if facts.superseded_by is not None:
        text = f"superseded by {facts.superseded_by[:15]}, the source's newer reading"
        found.append(Exclusion(code="superseded", text=text))
    if facts.inferred:
        text = "inferred by its source from another result, not measured"
        found.append(Exclusion(code="inferred", text=text))
    return found


def _identity(facts: RunFacts) -> list[Exclusion]:
    if facts.operation_digest == facts.implementation_operation_digest:
        return []
    text = (
        f"the workload is of operation {facts.operation_digest[:15]}, "
        f"the implementation of {facts.implementation_operation_digest[:15]}"
    )
    return [Exclusion(code="wrong_operation", text=text)]


def _value(facts: RunFacts) -> list[Exclusion]:
    primary = facts.primary
    if primary is None:
        if facts.status != "passed":
            return []
        text = PRIMARY_PROBLEMS.get(facts.primary_problem or "", "no primary measurement")
        return [Exclusion(code="missing_primary_metric", text=text)]
    if primary.direction is None:
        text = f"no registered direction for the metric {primary.metric}"
        return [Exclusion(code="unknown_metric", text=text)]
    if primary.value <= 0.0:
        text = f"a {primary.metric} of {primary.value:g} {primary.unit} is not a measurement"
        return [Exclusion(code="not_positive", text=text)]
    return []
