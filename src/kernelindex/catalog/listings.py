"""Lists with their counts: names, operations, implementations, projects, hardware, shapes.

Each ``refresh_*`` computes the rows that a change touches (all of them in a rebuild) as
they will be once it is published, into the list's pending twin. Publishing then replaces
the touched keys. Counts are over all runs known, whatever their standing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import String, case, func, insert, literal, select

from kernelindex.catalog import bulk, search_index
from kernelindex.catalog.operation_specs import refresh_operations
from kernelindex.catalog.search_documents import finish_search, list_documents
from kernelindex.catalog.shape_lists import list_shapes
from kernelindex.catalog.shown_status import shown_status
from kernelindex.catalog.tables import derived, truth
from kernelindex.catalog.touched import TOUCHED, Touched, current_manifests, current_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, FromClause, Table

    from kernelindex.catalog.database import Database

ROWS_AT_ONCE = 1_000
STATUS = "status"
FACETS = ("source", "operation", "hardware", "device_family", "timed_pass", STATUS, "metric")


def refresh_listings(database: Database, *, everything: bool) -> None:
    """Compute every list's touched rows into its pending twin."""
    with database.writing() as conn:
        clear_pending(conn)
    for listing in TOUCHED:
        with database.writing() as conn:
            Touched(conn, everything=everything).find(listing)
    for refresh in REFRESHES:
        if isinstance(refresh, Long):
            _write_long(database, refresh, everything=everything)
        with database.writing() as conn:
            finish = refresh.finish if isinstance(refresh, Long) else refresh
            finish(conn, Touched(conn, everything=everything))


class Long(NamedTuple):
    """A list of many rows: they are read without a lock and written some at a time.

    Within one transaction each of these kept other writers waiting for 0.2 to 0.3 s.
    """

    table: Table
    rows: Callable[[Connection, Touched], Iterator[tuple[Any, ...]]]
    finish: Callable[[Connection, Touched], None]


def _write_long(database: Database, long: Long, *, everything: bool) -> None:
    twin = derived.LISTINGS[long.table]
    names = tuple(column.name for column in twin.columns if column.name != "number")
    with database.reading_long() as conn:
        rows = long.rows(conn, Touched(conn, everything=everything))
        for batch in bulk.batches(rows, ROWS_AT_ONCE):
            with database.writing() as writer:
                bulk.insert_columns(writer, twin, names, batch)


def clear_pending(conn: Connection) -> None:
    """Forget what an earlier attempt computed."""
    conn.execute(derived.work_keys.delete())
    for twin in derived.LISTINGS.values():
        conn.execute(twin.delete())


def publish_listings(conn: Connection) -> None:
    """Replace the touched keys of every list by their new rows."""
    for table, twin in derived.LISTINGS.items():
        key = LISTING_KEYS[table.name]
        keys = select(derived.work_keys.c.key).where(derived.work_keys.c.listing == table.name)
        conn.execute(table.delete().where(table.c[key].in_(keys)))
        _publish_rows(conn, table, twin)


def publish_listings_anew(conn: Connection) -> None:
    """Replace every list whole, and what searches it: not even a damaged row outlives it."""
    search_index.drop(conn)
    for table, twin in derived.LISTINGS.items():
        conn.execute(table.delete())
        _publish_rows(conn, table, twin)
    search_index.renew(conn)


def _publish_rows(conn: Connection, table: Table, twin: Table) -> None:
    names = [column.name for column in table.columns if column.name != "number"]
    rows = select(*(twin.c[name] for name in names)).order_by(*(twin.c[n] for n in names[:2]))
    conn.execute(insert(table).from_select(names, rows))


LISTING_KEYS = {
    "names": "digest",
    "operation_specs": "digest",
    "operations": "slug",
    "implementations": "digest",
    "projects": "slug",
    "hardware": "id",
    "shapes": "shape_key",
    "facets": "facet",
    "search_documents": "key",
    "vocabulary": "word",
}
"""The column by which a list's rows are touched and replaced."""


def refresh_names(conn: Connection, touched: Touched) -> None:
    """Slugs: the name's own, with ``-<8 digest hex>`` where several objects share it.

    A project is known by its slug: its editions are one object.
    """
    all_names = current_manifests("named", "digest", "kind", "base_slug")
    one = touched.is_touched("base_slugs", all_names.c.base_slug)
    shared = func.count().over(partition_by=(all_names.c.base_slug, all_names.c.kind)) > 1
    suffixed = all_names.c.base_slug + "-" + func.substr(all_names.c.digest, 8, 8)
    several = shared & (all_names.c.kind != "SoftwareProject")
    slug = case((several, suffixed), else_=all_names.c.base_slug)
    rows = select(all_names.c.digest, all_names.c.kind, slug.label("slug")).where(
        all_names.c.base_slug.is_not(None), one
    )
    conn.execute(
        insert(derived.LISTINGS[derived.names]).from_select(["digest", "kind", "slug"], rows)
    )
    touched.replace_rows(derived.names, "digest")
    twin = derived.LISTINGS[derived.names]
    renamed = select(twin.c.digest).where(twin.c.kind == "ImplementationRevision")
    touched.add_from("implementations", renamed.subquery("renamed").c.digest)


def list_implementations(conn: Connection, touched: Touched) -> Iterator[tuple[Any, ...]]:
    """Every implementation manifest, with the line and runs it has."""
    from kernelindex.catalog.implementation_list import implementation_rows

    for part in bulk.chunks(touched.keys("implementations"), bulk.IN_CHUNK):
        yield from implementation_rows(conn, list(part))


def touch_owners(_conn: Connection, touched: Touched) -> None:
    """Projects and operations count their implementations."""
    twin = derived.LISTINGS[derived.implementations]
    touched.add_from("projects", twin.c.project)
    touched.add_from("operations", twin.c.operation)


def refresh_projects(conn: Connection, touched: Touched) -> None:
    """Every project that has an implementation or a manifest of its own."""
    implementations = touched.current(derived.implementations, "digest", "project", "run_count")
    counts = (
        select(
            implementations.c.project,
            func.count().label("implementation_count"),
            func.sum(implementations.c.run_count).label("run_count"),
        )
        .where(touched.is_touched("projects", implementations.c.project))
        .group_by(implementations.c.project)
    )
    counted = {row.project: row for row in conn.execute(counts)}
    manifests = _project_manifests(conn, touched)
    rows = []
    for slug in sorted(counted.keys() | manifests.keys()):
        row, (title, digest) = counted.get(slug), manifests.get(slug, (slug, None))
        count, runs = (row.implementation_count, int(row.run_count)) if row else (0, 0)
        rows.append((slug, title, digest, count, runs))
    bulk.insert_rows(conn, derived.LISTINGS[derived.projects], rows)


def _project_manifests(conn: Connection, touched: Touched) -> dict[str, tuple[str, str]]:
    """The newest edition of each touched project's manifest: slug -> (title, digest)."""
    table = current_manifests("projects_of", "digest", "kind", "base_slug", "title", "stamp")
    query = select(table.c.base_slug, table.c.stamp, table.c.title, table.c.digest).where(
        table.c.kind == "SoftwareProject", touched.is_touched("projects", table.c.base_slug)
    )
    newest: dict[str, tuple[str, str, str]] = {}
    for slug, stamp, title, digest in conn.execute(query):
        newest[slug] = max(newest.get(slug, ("", "", "")), (stamp, digest, title))
    return {slug: (title, digest) for slug, (_, digest, title) in newest.items()}


def refresh_hardware(conn: Connection, touched: Touched) -> None:
    """Every GPU product or label that has runs, named as its first run names it."""
    from kernelindex.catalog.facts_codec import decode

    runs = current_runs("on_hardware", "digest", "hardware")
    counts = (
        select(runs.c.hardware, func.count().label("count"), func.min(runs.c.digest).label("first"))
        .where(touched.is_touched("hardware", runs.c.hardware))
        .group_by(runs.c.hardware)
    )
    rows = []
    for name, count, first in conn.execute(counts).all():
        device = decode(touched.facts_of([first])[first]).device
        label = device.label or device.product
        named = (name, label, device.family, device.vendor, device.architecture)
        rows.append((*named, device.product_id, count))
    bulk.insert_rows(conn, derived.LISTINGS[derived.hardware], rows)


def refresh_facets(conn: Connection, touched: Touched) -> None:
    """Counts of runs by each value of each filter, all of them every time."""
    twin = derived.LISTINGS[derived.facets]
    for name in FACETS:
        read = ("status", "retracted") if name == STATUS else (name,)
        conn.execute(_counting(twin, name, current_runs(f"by_{name}", *read)))
    touched.add_keys(derived.facets, [*FACETS])


def recount_status(conn: Connection) -> None:
    """Count published runs by status again, after one of them was corrected."""
    facets, manifests, runs = derived.facets, truth.manifests, derived.runs
    published = select(manifests.c.digest).where(manifests.c.digest == runs.c.digest)
    shown = select(runs.c.status, runs.c.retracted).where(published.exists()).subquery("shown")
    conn.execute(facets.delete().where(facets.c.facet == STATUS))
    conn.execute(_counting(facets, STATUS, shown))


def _counting(table: Table, name: str, runs: FromClause) -> Any:
    """The insert of how many runs have each value of one filter."""
    value = shown_status(runs) if name == STATUS else runs.c[name]
    valued = select(value.label("value")).where(value.is_not(None)).subquery(f"values_of_{name}")
    counts = select(literal(name, String()), valued.c.value, func.count()).group_by(valued.c.value)
    return insert(table).from_select(["facet", "value", "count"], counts)


REFRESHES = (
    refresh_names,
    Long(derived.implementations, list_implementations, touch_owners),
    refresh_projects,
    refresh_hardware,
    refresh_operations,
    Long(derived.shapes, list_shapes, lambda _conn, _touched: None),
    refresh_facets,
    Long(derived.search_documents, list_documents, finish_search),
)
"""In the order in which one reads what another computed."""
