"""Bundles as a source: what is taken, and that nothing is taken of a bundle with a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.errors import SourceError
from kernelindex.evidence import bundle
from kernelindex.evidence.verify import verify
from kernelindex.manifests import parse
from kernelindex.sources import find_source
from tests.evidence.factories import ALICE, Batch, seal_aborted, sha256

SOURCE = find_source("evidence")


def test_a_bundle_becomes_itself_and_a_row_for_each_run() -> None:
    sealed = Batch(passes=("forward", "backward")).seal()
    snapshot, rows = SOURCE.read(sealed.data)
    assert (snapshot.source, snapshot.digest) == ("kernelindex-runner", sealed.digest)
    whole, *runs = rows
    assert isinstance(whole, Row)
    (said,) = whole.bundles
    assert (said.digest, said.record_digest) == (sealed.digest, sealed.record_digest)
    assert (said.key_digest, said.number) == (ALICE.public.digest, 1)
    shared = [artifact.kind for artifact in whole.artifacts]
    assert shared == ["evidence_bundle", "calibration", "environment_facts", "telemetry"]
    assert whole.artifacts[0].body == sealed.data
    assert len(runs) == 4
    for row in runs:
        assert isinstance(row, Row)
        assert row.manifests[-1].kind == "BenchmarkRun"
        (samples,) = row.artifacts
        named = row.manifests[-1].document["spec"]["samples"]["digest"]
        assert samples.digest == named == sha256(samples.body or b"")
        (finding,) = row.findings
        assert finding.run_digest == row.manifests[-1].digest
        assert finding.finding["owner"] == "alice"


def test_every_manifest_comes_before_those_that_name_it() -> None:
    _, rows = SOURCE.read(Batch().seal().data)
    for row in rows:
        seen: set[str] = set()
        for manifest in row.manifests:  # type: ignore[union-attr]
            text = str(manifest.document["spec"])
            assert all(one.digest in seen for one in row.manifests if one.digest in text)  # type: ignore[union-attr]
            seen.add(manifest.digest)


def test_a_record_without_runs_is_taken_too() -> None:
    _, rows = SOURCE.read(seal_aborted(Batch()).data)
    (whole,) = rows
    assert isinstance(whole, Row)
    assert whole.bundles[0].number == 1


@pytest.mark.parametrize("at", [10, -300])
def test_nothing_is_taken_of_a_bundle_with_a_fault(at: int) -> None:
    data = bytearray(Batch().seal().data)
    data[at] ^= 1
    (only,) = SOURCE.read(bytes(data))[1]
    assert isinstance(only, Skipped)
    assert only.reason == "evidence.archive"
    assert "it was changed" in only.detail or "not a bundle" in only.detail


def test_a_folder_is_read_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    first, second = Batch().seal(), Batch(number=2, previous=sha256(b"x")).seal()
    bundle.write(tmp_path / "deep" / bundle.bundle_name("box", 2), second)
    bundle.write(tmp_path / bundle.bundle_name("box", 1), first)
    (tmp_path / "link.evidence.zip").symlink_to(tmp_path / bundle.bundle_name("box", 1))
    (tmp_path / "other.zip").write_bytes(b"")
    _, rows = SOURCE.read(tmp_path)
    numbers = [one.number for row in rows for one in row.bundles]  # type: ignore[union-attr]
    assert sorted(numbers) == [1, 2]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="holds no file"):
        SOURCE.read(tmp_path / "empty")


def test_implementations_are_linked_to_the_projects_the_bundle_says() -> None:
    batch = Batch()
    project = parse(
        {
            "apiVersion": "kernelindex.dev/v1alpha1",
            "kind": "SoftwareProject",
            "metadata": {"name": "fast-kernels"},
            "spec": {"name": "Fast kernels"},
        }
    )
    sealed = batch.but(project=project).seal()
    assert verify(sealed.data, None).ok
    _, rows = SOURCE.read(sealed.data)
    rows = list(rows)
    linked = {link.project for row in rows for link in row.links}  # type: ignore[union-attr]
    kinds = {one.kind for row in rows for one in row.manifests}  # type: ignore[union-attr]
    assert linked == {"fast-kernels"}
    assert "SoftwareProject" in kinds
