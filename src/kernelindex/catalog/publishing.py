"""Making a prepared change visible: one short transaction of set-based statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from kernelindex.catalog import bulk
from kernelindex.catalog.listings import publish_listings
from kernelindex.catalog.rederiving import is_newer_edition
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database

GENERATION_KEY = "generation"
AT_ONCE = 200


def read_generation(conn: Connection, *, lock: bool = False) -> int:
    """How many changes were published; ``lock`` keeps others from publishing meanwhile."""
    query = select(truth.state.c.value).where(truth.state.c.key == GENERATION_KEY)
    found = conn.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    return int(found or 0)


def raise_generation(conn: Connection) -> None:
    """Tell a change that is being prepared that another one was published."""
    value = str(read_generation(conn) + 1)
    table = truth.state
    conn.execute(update(table).where(table.c.key == GENERATION_KEY).values(value=value))


def publish_truth(conn: Connection) -> None:
    """Move staged rows into the truth; merges do not depend on the order of arrival.

    A bundle that was verified again says what this version of the code finds.
    """
    _merge_editions(conn)
    _merge_observations(conn)
    _merge_corrections(conn)
    for table in truth.PUBLISHED:
        newer = ("finding",) if table is truth.evidence_findings else ()
        bulk.insert_from(conn, table, truth.STAGED[table.name], update=newer)


def publish_derived(conn: Connection, version: int) -> None:
    """Point the touched cohorts at their new version; replace pending runs and lists."""
    publish_heads(conn, version)
    publish_pending_runs(conn)
    publish_listings(conn)


def publish_heads(conn: Connection, version: int) -> None:
    """Make ``version`` the current one of the touched cohorts."""
    heads, rows = derived.cohort_heads, derived.cohorts
    touched = select(derived.work_cohorts.c.key)
    conn.execute(delete(heads).where(heads.c.key.in_(touched)))
    new = select(rows.c.key, rows.c.version).where(rows.c.version == version)
    conn.execute(insert(heads).from_select(["key", "version"], new))


def publish_pending_runs(conn: Connection) -> None:
    """Replace runs whose facts or standing changed."""
    for table, twin in (
        (derived.runs, derived.pending_runs),
        (derived.run_facts, derived.pending_facts),
    ):
        conn.execute(delete(table).where(table.c.digest.in_(select(twin.c.digest))))
        names = [column.name for column in table.columns]
        rows = select(*(twin.c[name] for name in names))
        conn.execute(insert(table).from_select(names, rows))


def set_underived(conn: Connection, missing: list[str]) -> None:
    """Note the runs that cannot be read until a part of them arrives."""
    conn.execute(derived.underived.delete())
    bulk.insert_rows(conn, derived.underived, [(digest,) for digest in sorted(missing)])


def clear_working(database: Database) -> None:
    """Empty the scratch tables and the staged rows, a short transaction each."""
    for table in (*derived.WORKING, *truth.STAGED.values()):
        with database.writing() as conn:
            conn.execute(table.delete())


def drop_old_versions(database: Database) -> None:
    """Remove versions of cohorts that nothing points at, some at a time."""
    while True:
        with database.writing() as conn:
            old = [{"of": key, "at": at} for key, at in conn.execute(_old_versions())]
            for table, key in (
                (derived.entries, derived.entries.c.cohort_key),
                (derived.record_events, derived.record_events.c.cohort_key),
                (derived.cohorts, derived.cohorts.c.key),
            ):
                one = (key == bindparam("of")) & (table.c.version == bindparam("at"))
                if old:
                    conn.execute(delete(table).where(one), old)
        if len(old) < AT_ONCE:
            return


def drop_orphans(database: Database) -> None:
    """Remove entries and events of versions of cohorts that are not there."""
    cohorts = derived.cohorts
    for table in (derived.entries, derived.record_events):
        named = (cohorts.c.key == table.c.cohort_key) & (cohorts.c.version == table.c.version)
        with database.writing() as conn:
            conn.execute(delete(table).where(~select(cohorts.c.key).where(named).exists()))


def _old_versions() -> Any:
    rows, heads = derived.cohorts, derived.cohort_heads
    current = select(heads.c.key).where(
        heads.c.key == rows.c.key, heads.c.version == rows.c.version
    )
    return select(rows.c.key, rows.c.version).where(~current.exists()).limit(AT_ONCE)


def drop_unpublished(database: Database) -> None:
    """Remove what a killed import wrote ahead: runs, facts and bodies that nothing names."""
    drop_unpublished_runs(database)
    body = truth.bodies.c.digest
    named = select(truth.manifests.c.digest).where(truth.manifests.c.digest == body)
    told = select(truth.observations.c.id).where(truth.observations.c.row_digest == body)
    _drop_in_parts(database, truth.bodies, ~named.exists() & ~told.exists())
    artifact = truth.artifact_bodies.c.digest
    held = select(truth.artifacts.c.id).where(truth.artifacts.c.digest == artifact)
    _drop_in_parts(database, truth.artifact_bodies, ~held.exists())


def drop_unpublished_runs(database: Database) -> None:
    """Remove derived rows of runs that no manifest is there for."""
    for table in (derived.runs, derived.run_facts):
        published = select(truth.manifests.c.digest).where(
            truth.manifests.c.digest == table.c.digest
        )
        _drop_in_parts(database, table, ~published.exists())


def _drop_in_parts(database: Database, table: Any, condition: Any) -> None:
    with database.reading_long() as conn:
        digests = list(conn.execute(select(table.c.digest).where(condition)).scalars())
    for part in bulk.chunks(digests, bulk.IN_CHUNK):
        with database.writing() as conn:
            conn.execute(delete(table).where(table.c.digest.in_(part)))


def _merge_editions(conn: Connection) -> None:
    """The newest edition of a manifest's metadata is kept."""
    old, new = truth.manifests, truth.STAGED["manifests"]
    names = ("name", "base_slug", "title", "metadata", "stamp")
    conn.execute(
        update(old)
        .where(old.c.digest == new.c.digest, is_newer_edition(new, old))
        .values({name: new.c[name] for name in names})
    )


def _merge_observations(conn: Connection) -> None:
    """The same row told again: the highest parser version and the first publication stay."""
    old, new = truth.observations, truth.STAGED["observations"]
    conn.execute(
        update(old)
        .where(old.c.id == new.c.id, new.c.parser_version > old.c.parser_version)
        .values(parser_version=new.c.parser_version)
    )
    conn.execute(
        update(old)
        .where(
            old.c.id == new.c.id,
            new.c.published_at < func.coalesce(old.c.published_at, "~"),
        )
        .values(published_at=new.c.published_at)
    )


def _merge_corrections(conn: Connection) -> None:
    """The same correction said again keeps its first date."""
    old, new = truth.corrections, truth.STAGED["corrections"]
    conn.execute(update(old).where(old.c.id == new.c.id, new.c.at < old.c.at).values(at=new.c.at))
