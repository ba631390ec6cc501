"""The bundles that travel in the package: each holds, and its key is one we approve."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.catalog.intake import Row
from kernelindex.evidence.bundle import bundle_name, write
from kernelindex.evidence.chain import check_chain
from kernelindex.evidence.keys import PublicKey
from kernelindex.evidence.verify import verify
from kernelindex.registry.runners import load_runners
from kernelindex.sources import find_source, records
from tests.evidence.factories import Batch


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
