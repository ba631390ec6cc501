"""What other groups hold of the same thing: before a group's leader is called best at all.

Protocols are never ranked together. But who leads one group may not be called the best on a
GPU while the leader of another group of the same operation, shape, dtypes and pass on that GPU
is faster, or is verified where this one is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex.catalog.rows import CohortRow
    from kernelindex.resolve.dossier import RunDossier
    from kernelindex.resolve.reads import Reads

TRUSTED = frozenset({"verified", "replicated"})


@dataclass(frozen=True, slots=True)
class Rivals:
    """Other groups of the same thing on the same GPU.

    ``groups`` are those with results; ``ahead`` says that one of them has a better leader, or
    a verified entry where the run is not verified.
    """

    groups: int = 0
    ahead: bool = False


def find_rivals(catalog: Reads, run: RunDossier) -> Rivals:
    """The other groups of a run's operation, shape, dtypes, pass and metric on its GPU."""
    own = catalog.cohort(run.standing.cohort) if run.standing.cohort else None
    if own is None or run.primary is None:
        return Rivals()
    others = [row for row in _of_the_shape(catalog, own) if _is_beside(own, row)]
    firsts = catalog.entries([row.key for row in others], first=1) if others else {}
    trusted = run.ladder.reached in TRUSTED
    leaders = [entries[0] for entries in firsts.values() if entries]
    faster = any(_is_better(one.value, run.primary.value, own) for one in leaders)
    verified = any(row.best.get("verified", {}).get("entries") for row in others)
    return Rivals(groups=len(others), ahead=faster or (verified and not trusted))


def _of_the_shape(catalog: Reads, own: CohortRow) -> list[CohortRow]:
    """Groups of its axes, whatever the distribution of the data; a suite is its own shape."""
    passes, metric = (own.timed_pass,), own.metric
    if not own.axes:
        return list(catalog.cohorts(shape_key=own.shape_key, passes=passes, metric=metric))
    operation, axes = own.operation, own.axes
    return list(
        catalog.cohorts(operation=operation, axes=axes, passes=passes, metric=metric, limit=200)
    )


def _is_beside(own: CohortRow, row: CohortRow) -> bool:
    mine, theirs = _measured(own), _measured(row)
    return row.key != own.key and mine == theirs


def _measured(row: CohortRow) -> tuple[object, ...]:
    """What has to be equal; the family, as it is what is claimed of."""
    device = row.device.get("family") or row.device.get("label")
    return (row.operation, row.axes, row.dtypes, row.timed_pass, row.metric, row.unit, device)


def _is_better(value: float, own: float, cohort: CohortRow) -> bool:
    return value > own if cohort.direction == "higher" else value < own
