"""The bundles that travel in the package: each holds, and its key is one we approve.

What is corrected of them is withdrawn when they are imported.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from kernelindex.catalog import Catalog, check, import_records, rebuild
from kernelindex.catalog.intake import Row
from kernelindex.catalog.tables import truth
from kernelindex.errors import RegistryError
from kernelindex.evidence import archive
from kernelindex.evidence.bundle import bundle_name, write
from kernelindex.evidence.chain import check_chain
from kernelindex.evidence.keys import PublicKey
from kernelindex.evidence.verify import verify
from kernelindex.registry import corrections
from kernelindex.registry.runners import load_runners
from kernelindex.resolve.show import show_run
from kernelindex.sources import find_source, records
from tests.cli.factories import Terminal
from tests.evidence.factories import Batch

REASON = "the audit compared gradients that add up over calls"
ACCUSING = Batch(run={"status": "suspected_reward_hack"})
SOURCE = find_source("records")


def ship(folder: Path, monkeypatch: pytest.MonkeyPatch, batch: Batch, *runs: str) -> None:
    """Let the package be a batch's bundle and corrections that retract these runs of it."""
    (folder / "evidence").mkdir(exist_ok=True)
    write(folder / "evidence" / bundle_name("box", batch.number), batch.seal())
    (folder / "data").mkdir(exist_ok=True)
    told = {"action": "retract", "reason": REASON, "date": "2026-11-30", "by": "us"}
    entries = [{"run": run, **told} for run in runs]
    (folder / "data" / corrections.FILE).write_text(json.dumps({"corrections": entries}))
    monkeypatch.setattr(records, "files", lambda _: folder)
    monkeypatch.setattr(
        corrections, "read_data", lambda name: (folder / "data" / name).read_bytes()
    )


def runs_of(data: bytes) -> dict[str, str]:
    """The runs in a bundle: the name of each by its digest."""
    found: dict[str, dict[str, Any]] = {
        f"sha256:{Path(name).stem}": json.loads(body)
        for name, body in archive.unpack(data).items()
        if name.startswith("manifests/")
    }
    return {
        digest: one["metadata"]["name"]
        for digest, one in found.items()
        if one["kind"] == "BenchmarkRun"
    }


def take(catalog: Catalog) -> dict[str, int]:
    """What ``ki import records`` does."""
    report = import_records(catalog, *SOURCE.read())
    return replace(report, corrections=SOURCE.correct(catalog)).to_dict()["corrections"]


def accused_pair() -> tuple[str, str]:
    """Digests of the two runs of the accusing batch: the fast one, the slow one."""
    named = {name: digest for digest, name in runs_of(ACCUSING.seal().data).items()}
    return named["run-fast-forward"], named["run-slow-forward"]


def test_every_packaged_bundle_holds_by_an_approved_key_and_none_is_missing() -> None:
    keys = [PublicKey.parse(runner.key) for runner in load_runners()]
    found = [one.read_bytes() for one in records.bundles()]
    reports = [verify(data, keys) for data in found]
    assert [fault for report in reports for fault in report.faults] == []
    for key in keys:
        mine = [report for report in reports if report.key == key]
        assert check_chain(mine).faults == ()
    snapshot, rows = find_source("records").read()
    assert all(isinstance(row, Row) for row in rows)
    assert snapshot.size_bytes == sum(map(len, found))


def test_bundles_are_read_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = Batch().seal()
    write(tmp_path / "evidence" / bundle_name("box", 1), sealed)
    (tmp_path / "evidence" / "README.md").write_text("not a bundle")
    monkeypatch.setattr(records, "files", lambda _: tmp_path)
    _, rows = find_source("records").read()
    assert [one.digest for row in rows for one in row.bundles] == [sealed.digest]  # type: ignore[union-attr]


def test_every_packaged_correction_names_a_run_of_a_packaged_bundle() -> None:
    shipped = {run for one in records.bundles() for run in runs_of(one.read_bytes())}
    assert {one.run for one in corrections.load_corrections()} <= shipped
    assert len(shipped) > 40


def test_a_correction_withdraws_an_accusation_and_a_second_time_changes_nothing(
    catalog_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, other = accused_pair()
    ship(tmp_path, monkeypatch, ACCUSING, honest)
    with Catalog.create(catalog_url) as catalog:
        assert SOURCE.correct(catalog, dry_run=True) == {"applied": 1, "existing": 0}
        assert take(catalog) == {"applied": 1, "existing": 0}
        before = show_run(catalog, honest)
        assert take(catalog) == {"applied": 0, "existing": 1}
        assert SOURCE.correct(catalog, dry_run=True) == {"applied": 0, "existing": 1}
        assert (show_run(catalog, honest), check(catalog)) == (before, [])
        with catalog.reading() as conn:
            (row,) = conn.execute(select(truth.corrections)).all()
            changes = conn.execute(select(truth.changes.c.action, truth.changes.c.detail)).all()
        assert (row.run_digest, row.action, row.actor, row.reason, row.at) == (
            honest,
            "retract",
            "us",
            REASON,
            "2026-11-30T00:00:00Z",
        )
        assert [detail for action, detail in changes if action == "correction"] == [honest]
        rebuild(catalog)
        assert (show_run(catalog, honest), check(catalog)) == (before, [])
        assert show_run(catalog, other).status == "suspected_reward_hack"


def test_a_correction_of_a_run_that_is_not_here_is_an_error_that_names_it(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "sha256:" + "0" * 64
    ship(tmp_path, monkeypatch, ACCUSING, nowhere)
    with Catalog.create(sqlite_url) as catalog:
        with pytest.raises(RegistryError, match=f"corrects run {nowhere}, which is not") as caught:
            take(catalog)
        assert caught.value.code == "registry.correction"
        assert len(catalog.runs().rows) == 2


def test_the_importer_s_report_counts_corrections(
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ship(tmp_path, monkeypatch, ACCUSING, *accused_pair())
    terminal = Terminal(capsys, monkeypatch)
    with Catalog.create(sqlite_url) as catalog:
        dry = terminal.ki("import", "records", "--dry-run", "--json", catalog=catalog).data
        assert dry["corrections"] == {"applied": 2, "existing": 0}
        text = terminal.ki("import", "records", catalog=catalog).out
        assert "applied=2" in text
        again = terminal.ki("import", "records", "--json", catalog=catalog).data
        assert again["corrections"] == {"applied": 0, "existing": 2}
        starter = terminal.ki("import", "starter", "--json", catalog=catalog).data
        assert starter["corrections"] == {}


def test_other_sources_correct_nothing(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        assert find_source("starter").correct(catalog) == {}
