"""Manifests -> facts -> the invisible first version of a run's derived rows.

Workloads, protocols, environments and implementations are read once and kept, in bounded
caches: thousands of runs share them, and they usually come just before their runs.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, select, union_all

from kernelindex.catalog import bulk, facts_codec, row_tuples
from kernelindex.catalog.recent import Recent
from kernelindex.catalog.stored import load_manifests
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy import cohorts, entries, reading
from kernelindex.policy.comparison import comparison_key
from kernelindex.policy.samples_reading import (
    calibration_of,
    read_samples,
    read_series,
    series_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from kernelindex.manifests import Manifest
    from kernelindex.policy.facts import DeviceClass, Observed, RunFacts
    from kernelindex.policy.samples_reading import Series

    Told = tuple[Manifest, reading.ObservationFacts]
    Read = tuple[RunFacts, "RunKeys", str]
    """Facts, keys, and the project that the implementation is linked to."""

MANIFESTS_KEPT = 2_000
CALIBRATIONS_KEPT = 100
SERIES_AT_ONCE = 50
GZIP_MAGIC = b"\x1f\x8b"
MAX_ARTIFACT = 32 << 20
"""Bytes of an artifact's JSON that is read here."""
FACTS_KEPT = 4_000
KEYS_KEPT = 2_000
FRESH_KEPT = 4_000
"""What is read comes together, so that larger caches only grow: by 80 MB at 30,000 runs."""
PARTS = ("workloadDigest", "protocolDigest", "environmentDigest", "implementationDigest")


@dataclass(frozen=True, slots=True)
class RunKeys:
    """The keys of a run, all digests."""

    shape: str
    cohort: str
    comparison: str


class RunReader:
    """Reads runs into facts; sees what the running import has staged."""

    def __init__(self) -> None:
        self._manifests: Recent[str, Manifest] = Recent(MANIFESTS_KEPT)
        self._facts: Recent[tuple[str, ...], Any] = Recent(FACTS_KEPT)
        self._projects: Recent[str, str] = Recent(FACTS_KEPT)
        self._keys: Recent[tuple[str, ...], RunKeys] = Recent(KEYS_KEPT)
        self._calibrations: Recent[str, Any] = Recent(CALIBRATIONS_KEPT)
        self.fresh: Recent[str, RunFacts] = Recent(FRESH_KEPT)
        """Facts read lately, so that judging need not decode them."""

    def note_manifest(self, manifest: Manifest) -> None:
        """Keep a manifest that runs to come will probably name."""
        if manifest.kind not in row_tuples.UNNAMED_KINDS:
            self._manifests.put(manifest.digest, manifest)

    def forget_project(self, implementation_digest: str) -> None:
        """A link of this implementation was staged; look again whose it is."""
        self._projects.drop(implementation_digest)

    def read_new(self, conn: Connection, runs: Sequence[Told]) -> list[Read]:
        """Facts and keys of the runs that have none yet.

        A run whose workload, protocol, environment or implementation is not here yet is
        left out; ``rederiving`` tries again when everything is staged.
        """
        known = bulk.present(conn, [derived.run_facts.c.digest], [run.digest for run, _ in runs])
        new = [pair for pair in runs if pair[0].digest not in known]
        read = [one for one in self.read_all(conn, new) if one is not None]
        for facts, _, _ in read:
            self.fresh.put(facts.digest, facts)
        return read

    def read_all(self, conn: Connection, runs: Sequence[Told]) -> list[Read | None]:
        """The facts of each run; None where a part of it is missing."""
        specs = [run.document["spec"] for run, _ in runs]
        self._load_manifests(conn, {spec[part] for spec in specs for part in PARTS})
        self._load_manifests(conn, self._operations_of({s["workloadDigest"] for s in specs}))
        self._load_projects(conn, {spec["implementationDigest"] for spec in specs})
        self._load_calibrations(conn, {calibration_of(spec) for spec in specs} - {None})
        series = _load_series(conn, {series_of(spec) for spec in specs} - {None})
        return [self._read(run, told, series) for run, told in runs]

    def _read(
        self, run: Manifest, told: reading.ObservationFacts, series: Mapping[str, Series]
    ) -> Read | None:
        spec = run.document["spec"]
        project = self._projects.get(spec["implementationDigest"]) or ""
        workload = self._workload(spec["workloadDigest"])
        protocol = self._part(spec["protocolDigest"], reading.read_protocol)
        environment = self._part(spec["environmentDigest"], reading.read_environment)
        implementation = self._implementation(spec["implementationDigest"], told.source, project)
        if workload is None or protocol is None or environment is None or implementation is None:
            return None
        calibration = self._calibrations.get(calibration_of(spec) or "")
        samples = read_samples(spec, calibration, series.get(series_of(spec) or ""))
        facts = reading.read_run(
            run, workload, protocol, environment, implementation, told, samples
        )
        return facts, self._keys_of(facts, spec, workload, protocol), project

    def _keys_of(
        self,
        facts: RunFacts,
        spec: Mapping[str, Any],
        workload: reading.WorkloadFacts,
        protocol: reading.ProtocolFacts,
    ) -> RunKeys:
        """The run's keys: equal for runs of the same parts, metric, status and source."""
        metric = facts.primary.key if facts.primary else ""
        parts = tuple(spec[part] for part in PARTS[:3])
        key = (*parts, metric, facts.status, facts.source)
        held = self._keys.get(key)
        return held or self._keys.put(
            key,
            RunKeys(
                shape=cohorts.shape_key(facts.shape),
                cohort=cohorts.cohort_key(facts),
                comparison=comparison_key(spec, workload.spec, protocol.spec).key,
            ),
        )

    def _workload(self, digest: str) -> reading.WorkloadFacts | None:
        def read(workload: Manifest) -> reading.WorkloadFacts | None:
            operation = self._manifests.get(workload.document["spec"]["operationSpecDigest"])
            return None if operation is None else reading.read_workload(workload, operation)

        found: reading.WorkloadFacts | None = self._part(digest, read)
        return found

    def _implementation(
        self, digest: str, source: str, project: str
    ) -> reading.ImplementationFacts | None:
        def read(manifest: Manifest) -> reading.ImplementationFacts:
            return reading.read_implementation(manifest, source=source, project=project or None)

        found: reading.ImplementationFacts | None = self._part(digest, read, source, project)
        return found

    def _part(self, digest: str, read: Callable[[Manifest], Any], *more: str) -> Any:
        """What ``read`` makes of a manifest, kept by digest and what else it depends on."""
        key = (digest, *more)
        held = self._facts.get(key)
        if held is None:
            manifest = self._manifests.get(digest)
            held = None if manifest is None else read(manifest)
            if held is not None:
                self._facts.put(key, held)
        return held

    def _operations_of(self, workloads: set[str]) -> set[str]:
        held = [self._manifests.get(digest) for digest in workloads]
        return {one.document["spec"]["operationSpecDigest"] for one in held if one is not None}

    def _load_manifests(self, conn: Connection, digests: set[str]) -> None:
        """Load what is not kept; what is read into facts already is not needed again."""
        missing = [
            digest
            for digest in sorted(digests)
            if self._manifests.get(digest) is None and self._facts.get((digest,)) is None
        ]
        for manifest in load_manifests(conn, missing, staged=True):
            self._manifests.put(manifest.digest, manifest)

    def _load_calibrations(self, conn: Connection, digests: set[str | None]) -> None:
        """Load the artifacts that say how finely a batch measured, where they are here."""
        missing = {one for one in digests if one and self._calibrations.get(one) is None}
        for digest, value in _artifacts(conn, missing):
            self._calibrations.put(digest, value)

    def _load_projects(self, conn: Connection, implementations: set[str]) -> None:
        missing = [digest for digest in implementations if self._projects.get(digest) is None]
        projects = linked_projects(conn, missing)
        for digest in missing:
            self._projects.put(digest, projects.get(digest, ""))


def _load_series(conn: Connection, digests: set[str | None]) -> dict[str, Series]:
    """What samples take of these series, of those that are here."""
    return {digest: read_series(value) for digest, value in _artifacts(conn, digests)}


def _artifacts(conn: Connection, digests: Collection[str | None]) -> Iterator[tuple[str, Any]]:
    """The JSON of artifacts, False where one is none; those not here are left out."""
    table = truth.artifact_bodies
    for part in bulk.chunks(sorted(one for one in digests if one), SERIES_AT_ONCE):
        query = select(table.c.digest, table.c.body).where(table.c.digest.in_(part))
        for digest, body in conn.execute(query):
            yield digest, _json(body)


def _json(body: bytes) -> Any:
    """JSON as it is or in gzip, within bounds; False for anything else."""
    try:
        if body.startswith(GZIP_MAGIC):
            unpacker = zlib.decompressobj(wbits=31)
            body = unpacker.decompress(body, MAX_ARTIFACT)
            if not unpacker.eof:
                return False
        return orjson.loads(body) if len(body) <= MAX_ARTIFACT else False
    except (orjson.JSONDecodeError, zlib.error):
        return False


def linked_projects(conn: Connection, implementations: Sequence[str]) -> dict[str, str]:
    """The first by name of the projects each implementation is linked to, staged ones too."""
    digests: Any = bindparam("digests", expanding=True)
    tables = (truth.project_links, truth.STAGED["project_links"])
    query = union_all(
        *(
            select(t.c.implementation_digest, func.min(t.c.project))
            .where(t.c.implementation_digest.in_(digests))
            .group_by(t.c.implementation_digest)
            for t in tables
        )
    )
    found: dict[str, str] = {}
    for part in bulk.chunks(implementations, bulk.IN_CHUNK):
        for digest, project in conn.execute(query, {"digests": part}):
            found[digest] = min(found.get(digest, project), project)
    return found


def write_runs(conn: Connection, read: Sequence[Read]) -> None:
    """Write facts and run rows of new runs, ahead of publishing."""
    bulk.insert_rows(conn, derived.run_facts, [facts_row(one) for one in read])
    bulk.insert_rows(conn, derived.runs, [run_row(one) for one in read])


def facts_row(read: Read) -> tuple[str, bytes, str]:
    """The row of ``run_facts``."""
    facts, _, project = read
    return facts.digest, facts_codec.encode(facts), project


def run_row(read: Read) -> tuple[Any, ...]:
    """The row of ``runs`` as the facts alone give it; its standing is judged later."""
    facts, keys, _ = read
    rankable = facts.primary is not None
    return (
        facts.digest,
        "BenchmarkRun",
        facts.status,
        facts.source,
        facts.shape.operation,
        keys.shape,
        keys.cohort,
        entries.entry_key(facts) if rankable else None,
        keys.comparison,
        facts.implementation_digest,
        facts.workload_digest,
        facts.line.id,
        facts.line.project,
        hardware_id(facts.device),
        facts.device.family,
        str(facts.timed_pass),
        facts.primary.metric if facts.primary else None,
        facts.primary.value if facts.primary else None,
        when(facts.observed),
        None,
        None,
        None,
    )


def when(observed: Observed) -> str:
    """What runs are put in order by: the instant in UTC where one is stated, else the date."""
    if observed.zone == "utc":
        with suppress(ValueError):
            found = datetime.fromisoformat(observed.text)
            if found.tzinfo is not None:
                return found.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return observed.date or ""


def hardware_id(device: DeviceClass) -> str:
    """Our product id, else a slug of the label: no product is guessed."""
    if device.product_id is not None:
        return device.product_id
    label = device.label or device.product
    return "-".join(row_tuples.WORD.findall(label.lower())) or "unknown"
