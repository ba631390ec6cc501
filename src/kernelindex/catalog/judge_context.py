"""What policy wants to know beside the runs, loaded for some cohorts at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from kernelindex.catalog import bulk
from kernelindex.catalog.cohort_documents import Shown
from kernelindex.catalog.findings import load_evidence, load_passes
from kernelindex.catalog.recent import Recent
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import truth
from kernelindex.policy import JudgeContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from kernelindex.policy.facts import RunFacts

IMPLEMENTATIONS_KEPT = 5_000


class ContextReader:
    """Loads contexts; keeps the implementations it met, which cohorts share.

    With ``staged`` it sees evidence that the running import has not published.
    """

    def __init__(self, newest: dict[str, str], *, staged: bool = True) -> None:
        self._newest = newest
        self._staged = staged
        self._implementations: Recent[str, tuple[Shown, Any]] = Recent(IMPLEMENTATIONS_KEPT)

    def prepare(
        self, conn: Connection, runs: Sequence[RunFacts]
    ) -> tuple[dict[str, Shown], JudgeContext]:
        """What is shown of each implementation, and the context to judge these runs in."""
        wanted = {run.implementation_digest for run in runs}
        found = {digest: self._implementations.get(digest) for digest in wanted}
        missing = [digest for digest, known in found.items() if known is None]
        for digest, known in _load_implementations(conn, missing):
            found[digest] = self._implementations.put(digest, known)
        known_ones = {digest: known for digest, known in found.items() if known is not None}
        retracted = [run.digest for run in runs if run.retracted is not None]
        context = JudgeContext(
            newest=self._newest,
            implementations={digest: known[1] for digest, known in known_ones.items()},
            retracted_on=_retraction_dates(conn, retracted),
            evidence=load_evidence(conn, runs, staged=self._staged),
            passes=load_passes(conn, runs, staged=self._staged),
        )
        return {digest: known[0] for digest, known in known_ones.items()}, context


NEWEST_QUERY = (
    select(truth.coverage.c.source, func.max(truth.snapshots.c.fetched_at))
    .join(truth.snapshots, truth.snapshots.c.digest == truth.coverage.c.snapshot)
    .group_by(truth.coverage.c.source)
)


def newest_snapshots(conn: Connection) -> dict[str, str]:
    """The calendar date of each source's newest published snapshot."""
    return {source: at[:10] for source, at in conn.execute(NEWEST_QUERY)}


def _load_implementations(
    conn: Connection, digests: list[str]
) -> Iterable[tuple[str, tuple[Shown, Any]]]:
    bodies = truth.bodies
    for part in bulk.chunks(digests, bulk.IN_CHUNK):
        query = select(bodies.c.digest, bodies.c.body).where(bodies.c.digest.in_(part))
        for digest, body in conn.execute(query):
            spec = read_body(body)["spec"]
            yield digest, (Shown(language=spec["callable"]["language"]), spec)


def _retraction_dates(conn: Connection, digests: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in (truth.corrections, truth.STAGED["corrections"]):
        for part in bulk.chunks(digests, bulk.IN_CHUNK):
            query = select(table.c.run_digest, func.min(table.c.at)).where(
                table.c.run_digest.in_(part), table.c.action == "retract"
            )
            for digest, at in conn.execute(query.group_by(table.c.run_digest)):
                found[digest] = min(found.get(digest, at[:10]), at[:10])
    return found
