"""Rows that follow from the runs: compared with what we derive, counted, never stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.sources.export.entry import Entry, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.catalog.intake import Row, Skipped
    from kernelindex.sources.export.ledger import History

__all__ = ["measurement", "record_event"]

# The export's table shortens two statistics that its manifests spell out.
_SPELLED_OUT = {"max": "maximum", "min": "minimum"}


def measurement(entry: Entry) -> Row | Skipped:
    """One number of a run, which its manifest states already."""
    run = entry.found["runId"]
    if run is None:
        return refuse(entry, "derived_measurement_without_run", entry.row["runId"])
    row = entry.row
    statistic = _SPELLED_OUT.get(row["statistic"], row["statistic"])
    ours = [row["metric"], statistic, row["unit"], row.get("value"), row.get("sampleCount")]
    if ours in orjson.loads(run.facts or "[]"):
        return refuse(entry, "derived_measurement_agrees")
    return refuse(
        entry, "derived_measurement_differs", f"{run.name} does not state {json.dumps(ours)}"
    )


def record_event(entry: Entry) -> Row | Skipped:
    """A change of the lead under one comparison key, which the runs imply."""
    row = entry.row
    history = entry.ledger.history(row["runId"])
    if history is None:
        return refuse(entry, "derived_record_event_without_run", row["runId"])
    problem = _disagreement(row, history)
    if problem is None:
        return refuse(entry, "derived_record_event_agrees")
    return refuse(entry, "derived_record_event_differs", f"{history.run.digest}: {problem}")


def _disagreement(row: Mapping[str, Any], history: History) -> str | None:
    if row["comparisonKey"] != history.run.comparison_key:
        return f"the run's comparison key is {history.run.comparison_key}"
    if not history.takes_the_lead:
        return f"{history.leader_value} led already, this is {history.run.value}"
    if row.get("previousRunId") != history.leader_id:
        return f"the leader before it was {history.leader_id}"
    if row["at"] != history.run.observed:
        return f"it was observed at {history.run.observed}"
    return None
