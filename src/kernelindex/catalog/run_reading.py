"""Manifests -> facts -> the invisible first version of a run's derived rows.

Workloads, protocols, environments and implementations are read once and kept, in bounded
caches: thousands of runs share them, and they usually come just before their runs.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import func, select

from kernelindex.catalog import bulk, facts_codec, row_tuples
from kernelindex.catalog.stored import load_manifest
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy import cohorts, entries, reading
from kernelindex.policy.comparison import comparison_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from sqlalchemy import Connection

    from kernelindex.catalog.intake import Observation
    from kernelindex.manifests import Manifest
    from kernelindex.policy.facts import DeviceClass, RunFacts

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")

MANIFESTS_KEPT = 2_000
FACTS_KEPT = 20_000


class Recent(Generic[K, V]):
    """A mapping that forgets what was not used for longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        value = self._items.get(key)
        if value is not None:
            self._items.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> V:
        self._items[key] = value
        if len(self._items) > self._limit:
            self._items.popitem(last=False)
        return value


class RunReader:
    """Reads runs into facts; sees what the running import has staged."""

    def __init__(self) -> None:
        self._manifests: Recent[str, Manifest] = Recent(MANIFESTS_KEPT)
        self._facts: Recent[tuple[str, ...], Any] = Recent(FACTS_KEPT)
        self._projects: Recent[str, str] = Recent(FACTS_KEPT)

    def note_manifest(self, manifest: Manifest) -> None:
        """Keep a manifest that runs to come will probably name."""
        if manifest.kind not in row_tuples.UNNAMED_KINDS:
            self._manifests.put(manifest.digest, manifest)

    def note_link(self, implementation_digest: str, project: str) -> None:
        """Keep whose implementation it is; of several projects the first by name."""
        held = self._projects.get(implementation_digest)
        self._projects.put(implementation_digest, min(held or project, project))

    def take(self, conn: Connection, runs: Iterable[tuple[Manifest, Observation]]) -> None:
        """Write facts and run rows of new runs, ahead of publishing.

        A run whose workload, protocol, environment or implementation is not here yet gets
        none; ``derive_missing`` tries again when everything is staged.
        """
        facts = []
        for run, observation in runs:
            seen = reading.ObservationFacts(source=observation.source, bound=observation.bound)
            read = self.read(conn, run, seen)
            if read is not None:
                facts.append(read)
        write_runs(conn, facts)

    def read(
        self, conn: Connection, run: Manifest, observation: reading.ObservationFacts
    ) -> tuple[RunFacts, str, str] | None:
        """The facts, comparison key and project link of a run; None where a part is missing."""
        spec = run.document["spec"]
        workload = self._workload(conn, spec["workloadDigest"])
        protocol = self._single(conn, spec["protocolDigest"], reading.read_protocol)
        environment = self._single(conn, spec["environmentDigest"], reading.read_environment)
        project = self._project(conn, spec["implementationDigest"])
        implementation = self._implementation(
            conn, spec["implementationDigest"], observation.source, project
        )
        if workload is None or protocol is None or environment is None or implementation is None:
            return None
        facts = reading.read_run(run, workload, protocol, environment, implementation, observation)
        return facts, comparison_key(spec, workload.spec, protocol.spec).key, project

    def _workload(self, conn: Connection, digest: str) -> reading.WorkloadFacts | None:
        held = self._facts.get((digest,))
        if held is not None:
            return held  # type: ignore[no-any-return]
        workload = self._manifest(conn, digest)
        if workload is None:
            return None
        operation = self._manifest(conn, workload.document["spec"]["operationSpecDigest"])
        if operation is None:
            return None
        return self._facts.put((digest,), reading.read_workload(workload, operation))  # type: ignore[no-any-return]

    def _single(self, conn: Connection, digest: str, read: Callable[[Manifest], V]) -> V | None:
        held = self._facts.get((digest,))
        if held is not None:
            return held  # type: ignore[no-any-return]
        manifest = self._manifest(conn, digest)
        return None if manifest is None else self._facts.put((digest,), read(manifest))

    def _implementation(
        self, conn: Connection, digest: str, source: str, project: str
    ) -> reading.ImplementationFacts | None:
        key = (digest, source, project)
        held = self._facts.get(key)
        if held is not None:
            return held  # type: ignore[no-any-return]
        manifest = self._manifest(conn, digest)
        if manifest is None:
            return None
        read = reading.read_implementation(manifest, source=source, project=project or None)
        return self._facts.put(key, read)  # type: ignore[no-any-return]

    def _manifest(self, conn: Connection, digest: str) -> Manifest | None:
        held = self._manifests.get(digest)
        if held is not None:
            return held
        loaded = load_manifest(conn, digest, staged=True)
        return None if loaded is None else self._manifests.put(digest, loaded)

    def _project(self, conn: Connection, implementation_digest: str) -> str:
        held = self._projects.get(implementation_digest)
        if held is not None:
            return held
        return self._projects.put(
            implementation_digest, stored_project(conn, implementation_digest)
        )


def stored_project(conn: Connection, implementation_digest: str) -> str:
    """The first by name of the projects linked to an implementation; empty where none is."""
    found = []
    for table in (truth.project_links, truth.STAGED["project_links"]):
        query = select(func.min(table.c.project)).where(
            table.c.implementation_digest == implementation_digest
        )
        found.append(conn.execute(query).scalar_one_or_none())
    return min((project for project in found if project), default="")


def write_runs(conn: Connection, runs: Iterable[tuple[RunFacts, str, str]]) -> None:
    """Write facts and run rows that are not there yet; no manifest shows them so far."""
    runs = list(runs)
    bulk.insert_rows(
        conn,
        derived.run_facts,
        [(facts.digest, facts_codec.encode(facts), project) for facts, _, project in runs],
    )
    bulk.insert_rows(conn, derived.runs, [run_row(facts, key) for facts, key, _ in runs])


def run_row(facts: RunFacts, comparison: str) -> tuple[Any, ...]:
    """The row of ``runs`` as the facts alone give it; its standing is judged later."""
    rankable = facts.primary is not None
    return (
        facts.digest,
        "BenchmarkRun",
        facts.status,
        facts.source,
        facts.shape.operation,
        cohorts.shape_key(facts.shape),
        cohorts.cohort_key(facts),
        entries.entry_key(facts) if rankable else None,
        comparison,
        facts.implementation_digest,
        facts.workload_digest,
        facts.line.id,
        facts.line.project,
        hardware_id(facts.device),
        facts.device.family,
        str(facts.timed_pass),
        facts.primary.metric if facts.primary else None,
        facts.primary.value if facts.primary else None,
        facts.observed.date or "",
        None,
        None,
        None,
    )


def hardware_id(device: DeviceClass) -> str:
    """Our product id, else a slug of the label: no product is guessed."""
    if device.product_id is not None:
        return device.product_id
    label = device.label or device.product
    return "-".join(part for part in row_tuples.WORD.findall(label.lower())) or "unknown"
