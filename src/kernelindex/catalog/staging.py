"""Taking in a stream of rows: committed batches that nothing shows yet.

Index rows go to ``staged_*`` twins. Bodies are content-addressed and go to their final
table at once; no published row names them before the import is published.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from kernelindex.catalog import bulk, row_tuples
from kernelindex.catalog.intake import Observation, Row, Skipped
from kernelindex.catalog.run_reading import write_runs
from kernelindex.catalog.stored import body_of
from kernelindex.catalog.tables import truth
from kernelindex.catalog.witnesses import known_witnesses, witness_of
from kernelindex.policy.reading import ObservationFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import Snapshot
    from kernelindex.catalog.run_reading import RunReader
    from kernelindex.manifests import Manifest

    Progress = Callable[[int], None]

BATCH_ROWS = 1_000
"""Source rows a committed batch: about 60 ms of locks, which a small writer waits at most."""
RECENT_LIMIT = 10_000
DETAILS_KEPT = 20
UNREADABLE = ("evidence.", "canonical.", "manifest.")
"""How reasons begin that a file, and not what it tells, is at fault by."""
RUN_KINDS = row_tuples.UNNAMED_KINDS


class Stager:
    """Stages one import and counts what becomes of its rows."""

    def __init__(
        self, database: Database, change_id: int, snapshot: Snapshot, reader: RunReader
    ) -> None:
        self.database = database
        self.change_id = change_id
        self.snapshot = snapshot
        self.reader = reader
        self.stamp = row_tuples.edition_stamp(snapshot)
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.refusals: list[str] = []
        """Why bundles of evidence and manifests were not taken, the first few in words."""
        self.sources: set[str] = set()
        self._recent: set[str] = set()

    def stage(self, records: Iterable[Row | Skipped], progress: Progress | None = None) -> None:
        """Take in every record, a committed batch at a time."""
        for batch in bulk.batches(records, BATCH_ROWS):
            rows = [record for record in batch if isinstance(record, Row)]
            self._skip(record for record in batch if isinstance(record, Skipped))
            self._stage_batch(rows)
            self.counts["read"] += len(batch)
            if progress is not None:
                progress(self.counts["read"])

    def _skip(self, records: Iterable[Skipped]) -> None:
        for record in records:
            self.skipped[record.reason] += 1
            told = record.detail and record.reason.startswith(UNREADABLE)
            if told and len(self.refusals) < DETAILS_KEPT:
                self.refusals.append(f"{record.where}: {record.detail}")

    def _stage_batch(self, rows: list[Row]) -> None:
        """Whatever needs no lock is done without: runs are read between two transactions."""
        with self.database.reading_long() as conn:
            published = published_editions(conn, rows)
            self._count(conn, rows)
        prepared = Batch(self, published)
        for row in rows:
            prepared.add(row)
        with self.database.writing() as conn:
            prepared.write(conn)
        if prepared.runs:
            with self.database.reading_long() as conn:
                read = self.reader.read_new(conn, prepared.runs)
            with self.database.writing() as conn:
                write_runs(conn, read)

    def _count(self, conn: Connection, rows: list[Row]) -> None:
        """Count each row as added or existing, by the first thing it brings."""
        witnesses = [witness_of(row) for row in rows]
        known = known_witnesses(conn, [w for w in witnesses if w is not None])
        for witness in witnesses:
            if witness is None or witness in known:
                self.counts["existing"] += 1
            else:
                self.counts["added"] += 1
                known.add(witness)

    def is_recent(self, digest: str) -> bool:
        """Whether this import staged the manifest lately; bounded, so it may forget."""
        if digest in self._recent:
            return True
        if len(self._recent) >= RECENT_LIMIT:
            self._recent.clear()
        self._recent.add(digest)
        return False


class Batch:
    """The table rows of one batch, collected before the transaction opens."""

    def __init__(self, stager: Stager, published: dict[str, tuple[str, str]]) -> None:
        self._stager = stager
        self._published = published
        self.bodies: list[tuple[Any, ...]] = []
        self.artifact_bodies: list[tuple[Any, ...]] = []
        self.staged: dict[str, list[tuple[Any, ...]]] = {name: [] for name in truth.STAGED}
        self.runs: list[tuple[Manifest, ObservationFacts]] = []

    def add(self, row: Row) -> None:
        """Turn one row into table rows."""
        run = self._add_manifests(row)
        observation = row.observation or self._implied(run)
        if observation is not None:
            self._add_observation(observation, run)
        for alias in row.aliases:
            self._put("aliases", (alias.alias, alias.kind, alias.digest, alias.source))
        for link in row.links:
            self._put("project_links", (link.implementation_digest, link.project, link.source))
            self._stager.reader.forget_project(link.implementation_digest)
        for correction in row.corrections:
            self._put(
                "corrections",
                row_tuples.correction_row(correction, self._stager.snapshot.fetched_at),
            )
        for bundle in row.bundles:
            self._put("evidence_bundles", row_tuples.bundle_row(bundle))
        for finding in row.findings:
            self._put("evidence_findings", row_tuples.finding_row(finding))
        for artifact in row.artifacts:
            self._put("artifacts", row_tuples.artifact_row(artifact))
            if artifact.body is not None:
                self.artifact_bodies.append((artifact.digest, artifact.body))

    def write(self, conn: Connection) -> None:
        """Insert everything; what is there already stays."""
        bulk.insert_rows(conn, truth.bodies, self.bodies)
        bulk.insert_rows(conn, truth.artifact_bodies, self.artifact_bodies)
        for name, rows in self.staged.items():
            bulk.insert_rows(conn, truth.STAGED[name], rows)

    def _add_manifests(self, row: Row) -> Manifest | None:
        run = None
        for manifest in row.manifests:
            if manifest.kind in RUN_KINDS:
                run = manifest
            if self._stager.is_recent(manifest.digest):
                continue
            row_of = row_tuples.manifest_row(manifest, self._stager.stamp)
            edition = self._published.get(manifest.digest)
            if edition is None:
                self.bodies.append((manifest.digest, body_of(manifest)))
            if edition is None or edition < (row_of[-1], row_of[-2]):
                self._put("manifests", row_of)
                self._stager.reader.note_manifest(manifest)
        return run

    def _add_observation(self, observation: Observation, run: Manifest | None) -> None:
        text = row_tuples.json_text(dict(observation.row))
        version = self._stager.snapshot.parser_version
        row = row_tuples.observation_row(observation, run, version, text)
        self.bodies.append((row[5], text))
        self._put("observations", row)
        self._stager.sources.add(observation.source)
        if run is not None and run.kind == "BenchmarkRun":
            told = ObservationFacts(source=observation.source, bound=observation.bound)
            self.runs.append((run, told))

    def _implied(self, run: Manifest | None) -> Observation | None:
        """A run without an observation was said by its own source, else by this snapshot's."""
        if run is None:
            return None
        native = run.document["spec"].get("sourceNative", {})
        source = native.get("source") or self._stager.snapshot.source
        return Observation(run_digest=run.digest, source=source, row={})

    def _put(self, table: str, row: tuple[Any, ...]) -> None:
        self.staged[table].append((self._stager.change_id, *row))


def published_editions(conn: Connection, rows: list[Row]) -> dict[str, tuple[str, str]]:
    """(stamp, metadata) of the manifests of a batch that are published already."""
    table = truth.manifests
    digests = sorted({manifest.digest for row in rows for manifest in row.manifests})
    found: dict[str, tuple[str, str]] = {}
    for part in bulk.chunks(digests, bulk.IN_CHUNK):
        query = select(table.c.digest, table.c.stamp, table.c.metadata)
        for digest, stamp, metadata in conn.execute(query.where(table.c.digest.in_(part))):
            found[digest] = (stamp, metadata)
    return found


def count_becomes(conn: Connection) -> dict[str, int]:
    """How many manifests of each kind the staged rows add to the catalog."""
    staged, published = truth.STAGED["manifests"], truth.manifests
    known = select(published.c.digest).where(published.c.digest == staged.c.digest)
    query = select(staged.c.kind, func.count()).where(~known.exists()).group_by(staged.c.kind)
    return {row[0]: row[1] for row in conn.execute(query)}
