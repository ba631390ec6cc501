"""The series of a controlled run as strips: every sample, with the SM clock of its round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kernelindex.evidence.samples import read_samples, read_series
from kernelindex.stats import finite_number
from kernelindex.web.charts.samples import Generation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.catalog.evidence_reads import StoredArtifact

CLOCK = "SM clock, median of each round's readings"
MOST_BYTES = 4 << 20
"""A packed series beyond this is not read for a page; 3,000 samples take 56 KB."""


class SeriesReads(Protocol):
    """What the catalog is asked for series."""

    def artifact(self, digest: str) -> StoredArtifact | None: ...


def find_generations(catalog: SeriesReads, spec: Mapping[str, Any]) -> tuple[Generation, ...]:
    """The strips of the series that a run's ``spec`` names; none where it is not kept here."""
    digest = (spec.get("samples") or {}).get("digest")
    stored = catalog.artifact(digest) if digest else None
    if stored is None or len(stored.body) > MOST_BYTES:
        return ()
    try:
        series = read_series(stored.body)
        read_samples(series)
    except ValueError:
        return ()
    return generations_of(series)


def generations_of(series: Mapping[str, Any]) -> tuple[Generation, ...]:
    """A strip for each process; clocks only where every round of it has readings."""
    found = []
    for number, rounds in enumerate(series.get("samplesNs") or ()):
        values: list[float] = []
        clocks: list[float] = []
        for place, samples in enumerate(rounds or ()):
            clock = _clock(series, number, place)
            values += samples or ()
            clocks += [clock] * len(samples or ()) if clock is not None else []
        if values:
            known = tuple(clocks) if len(clocks) == len(values) else ()
            found.append(Generation(values=tuple(values), clock_mhz=known))
    return tuple(found)


def _clock(series: Mapping[str, Any], generation: int, number: int) -> float | None:
    """Readings are few and have no sample's time, so a round has one clock."""
    try:
        told = series["telemetry"][generation][number]
        return finite_number(told["summary"]["sm_mhz"]["median"])
    except (LookupError, TypeError):
        return None
