"""An import killed at any step shows all of it or nothing, and the next one completes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from kernelindex.catalog import Catalog, check, export_digest, import_records, rebuild
from kernelindex.catalog.dumping import dump_derived, dump_line
from kernelindex.catalog.importing import FAILPOINT
from tests.catalog.factories import World, make_snapshot

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("staged", "touched", "judged", "listed", "published truth", "publishing", "published")
FIRST_VISIBLE = STEPS.index("published")
REBUILD_STEPS = ("read again", "judged again", "listed again", "publishing again")
SCRIPT = "import sys; from tests.catalog import test_crashes as t; t.{0}(sys.argv[1])"


def first_rows() -> list:
    return [World().row("a", 1000, key="k", stamp="1"), World().row("b", 3000)]


def second_rows() -> list:
    """Supersedes a run, adds entries and shapes, touches what is published."""
    bigger = [World(n=n).row("a", 10 * n) for n in (64, 128, 256)]
    return [World().row("a", 800, key="k", stamp="2"), World().row("c", 2000), *bigger]


def import_second(url: str) -> None:
    with Catalog.open(url) as catalog:
        import_records(catalog, make_snapshot("2"), second_rows())


def rebuild_anew(url: str) -> None:
    with Catalog.open(url) as catalog:
        rebuild(catalog)


def visible(catalog: Catalog) -> tuple[str, bytes]:
    with catalog.reading_long() as conn:
        derived = b"".join(dump_line(table, row) for table, row in dump_derived(conn))
    return export_digest(catalog), derived


def run_until(url: str, step: str, what: str = "import_second") -> int:
    environment = {**os.environ, FAILPOINT: step}
    command = [sys.executable, "-c", SCRIPT.format(what), url]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


@pytest.fixture
def expected(sqlite_template, tmp_path: Path) -> tuple[str, bytes]:
    """What both imports together show, when nothing is killed."""
    with Catalog.create(f"sqlite:///{tmp_path / 'whole.db'}") as catalog:
        import_records(catalog, make_snapshot(), first_rows())
        import_records(catalog, make_snapshot("2"), second_rows())
        return visible(catalog)


@pytest.mark.parametrize("step", STEPS)
def test_killed_import_is_all_or_nothing_and_completes(
    catalog_url: str, step: str, expected: tuple[str, bytes]
) -> None:
    with Catalog.open(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), first_rows())
        before = visible(catalog)
    assert run_until(catalog_url, step) == -signal.SIGKILL
    with Catalog.open(catalog_url) as catalog:
        after_kill = expected if STEPS.index(step) >= FIRST_VISIBLE else before
        assert visible(catalog) == after_kill
        report = import_records(catalog, make_snapshot("2"), second_rows())
        done = STEPS.index(step) >= FIRST_VISIBLE
        assert (report.existing, report.added, report.superseding) == (
            (5, 0, 0) if done else (0, 4, 1)
        )
        assert visible(catalog) == expected
        assert check(catalog) == []


def test_import_killed_while_staging_leaves_no_trace(catalog_url: str) -> None:
    with Catalog.open(catalog_url) as catalog:
        before = visible(catalog)

        def rows():
            yield from second_rows()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_records(catalog, make_snapshot("2"), rows())
        assert visible(catalog) == before
        assert check(catalog) == []


@pytest.mark.parametrize("step", REBUILD_STEPS)
def test_killed_rebuild_leaves_what_was_there(catalog_url: str, step: str) -> None:
    with Catalog.open(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), first_rows())
        import_records(catalog, make_snapshot("2"), second_rows())
        sound = visible(catalog)
        with catalog.writing() as conn:
            conn.execute(text("UPDATE runs SET source = 'odd'"))
        before = visible(catalog)
    assert run_until(catalog_url, step, "rebuild_anew") == -signal.SIGKILL
    with Catalog.open(catalog_url) as catalog:
        assert visible(catalog) == before
        rebuild(catalog)
        assert visible(catalog) == sound
        assert check(catalog) == []
