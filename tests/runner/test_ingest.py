"""A batch folder becomes a signed bundle that verifies, chained to the batches before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.errors import EvidenceError, KernelIndexError
from kernelindex.evidence import archive, ledger
from kernelindex.evidence.bound import bound_faults
from kernelindex.evidence.keys import Signer
from kernelindex.evidence.verify import verify
from kernelindex.runner import batch_files
from kernelindex.runner.ingest import FILES, Signing, ingest
from kernelindex.runner.recording import BatchError, read_batch
from tests.runner.recording.factories import end_batch, make_batch, make_plan, make_samples

if TYPE_CHECKING:
    from collections.abc import Callable
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


@pytest.mark.parametrize("name", [*FILES, "series/0.json.gz"])
def test_a_link_in_a_file_s_place_is_neither_read_nor_signed(tmp_path: Path, name: str) -> None:
    batch, secret = planned(tmp_path), tmp_path / "key.pem"
    path = batch / name
    path.write_bytes(path.read_bytes() if path.exists() else b"secret")
    path.rename(secret)
    path.symlink_to(secret)
    with pytest.raises(KernelIndexError, match="not a regular file"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert not (tmp_path / "bundles").exists()


def test_a_folder_of_series_elsewhere_is_refused(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    (batch / "series").rename(tmp_path / "elsewhere")
    (batch / "series").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BatchError, match="series: not a regular file"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")


@pytest.mark.parametrize("name", ["x.json.gz", "00.json.gz", "1.json", "9999999.json.gz"])
def test_a_file_that_is_no_series_is_named(tmp_path: Path, name: str) -> None:
    batch = planned(tmp_path)
    (batch / "series" / name).write_bytes(b"")
    with pytest.raises(BatchError, match=name) as refused:
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert refused.value.code == "batch.series"


@pytest.mark.parametrize("bad", ["x", [3], [[3]], [[["1"]]], [[[True]]], [[[0.0]]], [[[10**400]]]])
def test_samples_that_are_no_times_are_named(tmp_path: Path, bad: object) -> None:
    batch = make_batch(tmp_path / "batch", samplesNs=bad)
    with pytest.raises(BatchError, match=r"0.json.gz: samplesNs") as refused:
        read_batch(batch)
    assert refused.value.code == "batch.series"


def test_rounds_without_a_sample_are_no_fault_of_the_bundle(tmp_path: Path) -> None:
    rows: list[Any] = make_samples(1e5, 0)
    rows[1][2], rows[2] = None, None
    rows.append([[]])
    batch = make_batch(tmp_path / "batch", samplesNs=rows)
    plan = (batch / batch_files.PLAN).read_bytes()
    ledger.plan(tmp_path / "ledger.jsonl", 1, batch_files.digest(plan))
    done = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    report = verify(done.sealed.data, [SIGNER.public])
    assert report.faults == ()
    assert report.runs[0].lacks == ("3 process generations of 8 rounds (it has 1 of 2)",)


def test_an_outcome_that_no_worker_writes_is_refused(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    end_batch(batch, status="splendid")
    with pytest.raises(BatchError, match="ended 'splendid'"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")


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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("outcome.json", r"lacks outcome\.json, which the worker wrote; copy the folder again"),
        ("facts.json", r"lacks facts\.json"),
        ("calibration.json", r"lacks calibration\.json"),
        ("seed.json", r"lacks seed\.json"),
        ("series/2.json.gz", r"lacks the series of pytorch/RMSNorm \(full/cold"),
    ],
)
def test_a_folder_copied_in_part_is_not_signed_and_the_number_stays_open(
    tmp_path: Path, name: str, said: str
) -> None:
    batch = planned(tmp_path)
    part = batch / name
    kept = part.read_bytes()
    part.unlink()
    with pytest.raises(BatchError, match=said) as refused:
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert refused.value.code == "batch.partial"
    assert not (tmp_path / "bundles").exists()
    assert [one.number for one in ledger.open_batches(tmp_path / "ledger.jsonl")] == [1]
    part.write_bytes(kept)
    assert ingest(batch, signing(tmp_path), tmp_path / "bundles").batch.outcome == "complete"


def test_a_batch_whose_worker_was_killed_stays_open_until_it_is_taken_up(tmp_path: Path) -> None:
    batch, whole = planned(tmp_path), {}
    for name in (batch_files.OUTCOME, batch_files.SEED, batch_files.JOURNAL):
        whole[name] = (batch / name).read_bytes()
        (batch / name).unlink()
    lines = whole[batch_files.JOURNAL].splitlines(keepends=True)
    (batch / batch_files.JOURNAL).write_bytes(b"".join(lines[:-1]))
    with pytest.raises(BatchError, match=r"takes it up.*ki evidence abort 1") as refused:
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert refused.value.code == "batch.not_ended"
    assert not (tmp_path / "bundles").exists()
    assert [one.number for one in ledger.open_batches(tmp_path / "ledger.jsonl")] == [1]
    for name, data in whole.items():
        (batch / name).write_bytes(data)
    done = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert done.batch.outcome == "complete"


def test_where_the_ledger_refuses_the_bundle_that_was_signed_stays(tmp_path: Path) -> None:
    batch, bundles = planned(tmp_path), tmp_path / "bundles"
    ledger.close(tmp_path / "ledger.jsonl", 1, "sha256:" + "1" * 64, "aborted")
    bundles.mkdir()
    path = bundles / "tests-00001.evidence.zip"
    path.write_bytes(b"the record of its abortion")
    with pytest.raises(EvidenceError, match="batch 1 was closed with sha256:1"):
        ingest(batch, signing(tmp_path), bundles)
    assert path.read_bytes() == b"the record of its abortion"
    with pytest.raises(EvidenceError, match="batch 1 was closed with sha256:1"):
        ingest(batch, signing(tmp_path), tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


def test_another_bundle_of_the_number_is_never_overwritten(tmp_path: Path) -> None:
    batch, bundles = planned(tmp_path), tmp_path / "bundles"
    bundles.mkdir()
    path = bundles / "tests-00001.evidence.zip"
    path.write_bytes(b"another")
    with pytest.raises(EvidenceError, match=r"never overwritten, so move it") as refused:
        ingest(batch, signing(tmp_path), bundles)
    assert refused.value.code == "evidence.bundle_exists"
    assert path.read_bytes() == b"another"
    assert [one.number for one in ledger.open_batches(tmp_path / "ledger.jsonl")] == [1]


def test_a_number_that_cannot_be_closed_leaves_no_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = planned(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger, "_append", full)
    with pytest.raises(OSError, match="No space"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert list((tmp_path / "bundles").iterdir()) == []


def test_what_nobody_could_verify_is_not_signed(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    seed = batch_files.read_json(batch / batch_files.SEED)
    batch_files.write_json(batch / batch_files.SEED, {**seed, "seed": "another"})
    end_batch(batch)
    with pytest.raises(BatchError, match=r"seed\.json: .*; nothing was signed"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert not (tmp_path / "bundles").exists()
    assert [one.number for one in ledger.open_batches(tmp_path / "ledger.jsonl")] == [1]


def halve_samples(batch: Path) -> str:
    path = batch / "series" / "0.json.gz"
    found = batch_files.read_json(path)
    halved = [[[one / 2 for one in times] for times in rounds] for rounds in found["samplesNs"]]
    batch_files.write_json(path, {**found, "samplesNs": halved})
    return "series/0.json.gz"


def swap_series(batch: Path) -> str:
    first, second = batch / "series" / "0.json.gz", batch / "series" / "1.json.gz"
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
    return "series/0.json.gz"


def edit(name: str, **fields: object) -> Callable[[Path], str]:
    def change(batch: Path) -> str:
        found = batch_files.read_json(batch / name)
        batch_files.write_json(batch / name, {**found, **fields})
        return name

    return change


def delete(name: str) -> Callable[[Path], str]:
    def change(batch: Path) -> str:
        (batch / name).unlink()
        return name

    return change


def add_series(batch: Path) -> str:
    (batch / "series" / "99.json.gz").write_bytes((batch / "series" / "0.json.gz").read_bytes())
    return "series/99.json.gz"


CHANGES = [
    halve_samples,
    swap_series,
    add_series,
    edit("outcome.json", missing=["rms-norm generation 2"]),
    edit("outcome.json", note="fine"),
    edit("facts.json", cpu={"model": "a quicker one"}),
    edit("calibration.json", tickNs=2.0),
    edit("generations/0-0.json.gz", seconds=0.1),
    delete("telemetry.json.gz"),
    delete("generations/0-0.json.gz"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_not_as_the_journal_names_it_is_not_signed(
    tmp_path: Path, change: Callable[[Path], str]
) -> None:
    batch = planned(tmp_path)
    batch_files.write_json(batch / batch_files.TELEMETRY, {"0": []})
    batch_files.write_json(batch / "generations" / "0-0.json.gz", {"seconds": 1.0})
    end_batch(batch)
    name = change(batch)
    with pytest.raises(BatchError, match=f"{name}: .*changed after the worker wrote") as refused:
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert refused.value.code == "batch.changed"
    assert not (tmp_path / "bundles").exists()
    assert [one.number for one in ledger.open_batches(tmp_path / "ledger.jsonl")] == [1]


def test_a_cut_short_batch_is_bound_as_well_and_taken_as_it_is(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    (batch / batch_files.SEED).unlink()
    end_batch(batch, status="cut_short", missing=["one"])
    edit("facts.json", threads=9)(batch)
    with pytest.raises(BatchError, match=r"facts\.json: it is sha256:\w+, wanted sha256:"):
        ingest(batch, signing(tmp_path), tmp_path / "bundles")
    end_batch(batch, status="cut_short", missing=["one"])
    done = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    assert (done.batch.outcome, done.said) == ("cut_short", ())


def test_a_folder_of_an_older_worker_is_signed_and_that_is_said(tmp_path: Path) -> None:
    batch = planned(tmp_path)
    end_batch(batch, bound=False)
    done = ingest(batch, signing(tmp_path), tmp_path / "bundles")
    (said,) = done.said
    assert said.startswith("batch tests/1 was measured by an older worker: its journal names no")
    assert verify(done.sealed.data, [SIGNER.public]).ok


@pytest.mark.parametrize(
    ("name", "data", "seen"),
    [
        ("series/0.json.gz", b"", "it is sha256:e3b0c44298fc1c14"),
        ("telemetry.json.gz", b"", "the journal's last line says nothing of it"),
        ("outcome.json", None, "missing is ['x'], the journal says []"),
    ],
)
def test_a_bundle_whose_files_are_not_the_journal_s_is_no_evidence(
    tmp_path: Path, name: str, data: bytes | None, seen: str
) -> None:
    done = ingest(planned(tmp_path), signing(tmp_path), tmp_path / "bundles")
    files = archive.unpack(done.sealed.data)
    assert list(bound_faults(files)) == []
    if data is None:
        data = batch_files.dump_json({**json.loads(files[name]), "missing": ["x"]})
    faults = list(bound_faults({**files, name: data}))
    assert [(one.code, one.where) for one in faults] == [("journal", name)]
    assert seen in faults[0].text
