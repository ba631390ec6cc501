"""A batch folder becomes a signed bundle that verifies, chained to the batches before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.evidence import ledger
from kernelindex.evidence.keys import Signer
from kernelindex.evidence.verify import verify
from kernelindex.runner import batch_files
from kernelindex.runner.ingest import Signing, ingest
from kernelindex.runner.recording import BatchError
from tests.runner.recording.factories import make_batch, make_plan

if TYPE_CHECKING:
    from pathlib import Path

SIGNER = Signer.from_seed(b"i" * 32)


def signing(folder: Path) -> Signing:
    return Signing(
        name="tests",
        owner="tester",
        host="bench",
        signer=SIGNER,
        ledger=folder / "ledger.jsonl",
        version="0.1.0",
    )


def planned(folder: Path, number: int = 1) -> Path:
    batch = make_batch(folder / f"batch-{number}", make_plan(number=number))
    plan = (batch / batch_files.PLAN).read_bytes()
    ledger.plan(folder / "ledger.jsonl", number, batch_files.digest(plan))
    return batch


def test_the_bundle_verifies_and_its_runs_lack_nothing(tmp_path: Path) -> None:
    done = ingest(planned(tmp_path), signing(tmp_path), tmp_path / "bundles")
    data = (tmp_path / "bundles" / "tests-00001.evidence.zip").read_bytes()
    report = verify(data, [SIGNER.public])
    assert report.faults == ()
    assert report.digest == done.sealed.digest
    assert [run.lacks for run in report.runs] == [()] * 10
    assert all(run.correct for run in report.runs)


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    data = bytearray(ingest(planned(tmp_path), signing(tmp_path), tmp_path / "bundles").sealed.data)
    data[len(data) // 2] ^= 1
    assert not verify(bytes(data), [SIGNER.public]).ok


def test_batches_are_chained_in_the_ledger(tmp_path: Path) -> None:
    first = ingest(planned(tmp_path, 1), signing(tmp_path), tmp_path / "bundles")
    second = ingest(planned(tmp_path, 2), signing(tmp_path), tmp_path / "bundles")
    spec = second.recorded[0].run.document["spec"]
    assert spec["batch"]["previousDigest"] == first.sealed.record_digest
    assert ledger.open_batches(tmp_path / "ledger.jsonl") == ()


def test_ingesting_again_gives_the_same_bundle(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    first = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    again = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert again.sealed.digest == first.sealed.digest


def test_a_batch_that_was_not_planned_here_is_refused(tmp_path: Path) -> None:
    batch = make_batch(tmp_path / "batch")
    with pytest.raises(BatchError, match="no such number for batch 1") as refused:
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert refused.value.code == "batch.not_planned"
