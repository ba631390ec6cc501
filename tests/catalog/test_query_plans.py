"""No read walks a large table: each looks rows up, or walks an index and stops at its limit."""

from __future__ import annotations

import re

from sqlalchemy import text

from kernelindex.catalog import Catalog, import_records
from tests.catalog.factories import World, make_snapshot

LARGE = (
    "runs",
    "run_facts",
    "cohorts",
    "entries",
    "manifests",
    "observations",
    "bodies",
    "aliases",
)
WALK = re.compile(rf"SCAN ({'|'.join(LARGE)})\b(?! USING)")
SORT_OF_ALL = "USE TEMP B-TREE FOR ORDER BY"


def ask_everything(catalog: Catalog) -> None:
    operation = World().operation.digest
    run = catalog.runs(limit=1).rows[0]
    (cohort,) = catalog.cohorts(operation=operation, axes={"n": 1024}, dtypes=["fp32"])
    catalog.cohorts(families=["H100"], product_ids=["h100-sxm5-80gb"])
    catalog.cohorts(operation=operation, shape_key=cohort.shape_key, passes=["backward"])
    catalog.cohort(cohort.key[7:19])
    catalog.entries([cohort.key], first=3, also=["x"])
    catalog.excluded([cohort.key])
    catalog.excluded(shape_key=cohort.shape_key)
    catalog.run(run.digest)
    catalog.relatives(run)
    catalog.documents([run.digest, run.workload_digest])
    catalog.parts(run)
    catalog.manifest(run.digest)
    for name in ("operation", "source", "hardware", "project"):
        catalog.runs({name: "x"})
    catalog.runs({"implementation": run.implementation["digest"]})
    catalog.records({"operation": operation})
    catalog.records()
    catalog.find(run.digest[7:19])
    catalog.find("a")
    catalog.implementations(operation=operation)
    catalog.shapes(operation)
    catalog.search_text("scale")


def test_reads_use_indexes(sqlite_url: str) -> None:
    world = World()
    statements: set[str] = set()
    with Catalog.open(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [world.row("a", 1000), world.row("b", 2000)])
        with catalog.reading() as conn:
            driver = conn.connection.driver_connection
            driver.set_trace_callback(statements.add)
        with catalog.snapshot():
            ask_everything(catalog)
        driver.set_trace_callback(None)
        with catalog.reading() as conn:
            for statement in statements:
                if not statement.startswith("SELECT"):
                    continue
                plan = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")
                walked = [row.detail for row in plan if WALK.search(row.detail)]
                assert not walked, f"{walked} in {statement}"
    assert len(statements) > 20


def test_newest_runs_of_an_operation_are_not_sorted(sqlite_url: str) -> None:
    """The page is read off the index; sorting all of an operation's runs would not stay flat."""
    with Catalog.open(sqlite_url) as catalog, catalog.reading() as conn:
        plan = conn.execute(
            text(
                "EXPLAIN QUERY PLAN SELECT digest FROM runs WHERE operation = 'x' "
                "ORDER BY observed_at DESC, digest DESC LIMIT 50"
            )
        )
        assert SORT_OF_ALL not in " ".join(row.detail for row in plan)
