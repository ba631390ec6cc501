"""What comes back from a cluster, without one: whose fault it is where it cannot be kept."""

from __future__ import annotations

import errno
import io
import tarfile
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.runner.executors import Failed, Finished, run_fleet
from kernelindex.runner.executors.ray_cluster import FleetError, collect
from kernelindex.runner.executors.work import pack_tree
from tests.runner.executors.stub import WITHOUT_RAY, stub_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernelindex.runner.executors import Outcome, Task


class Brought:
    """An executor whose every task has brought the same."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        for task in tasks:
            yield collect(task, brought(self.packed), folder)


def brought(packed: bytes) -> Future[Any]:
    result: Future[Any] = Future()
    result.set_result((packed, "node-1"))
    return result


def broken(error: Exception) -> Future[Any]:
    result: Future[Any] = Future()
    result.set_exception(error)
    return result


@pytest.fixture
def packed(tmp_path: Path) -> bytes:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "outcome.json").write_text('{"status": "complete"}')
    (tmp_path / "out" / "samples").write_text("new")
    return pack_tree(tmp_path / "out")


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", refuse)


def test_what_an_earlier_start_left_does_not_end_the_job(tmp_path: Path, packed: bytes) -> None:
    job = tmp_path / "job"
    left = {1: '{"status":"cut_sh', 2: '{"status": "cut_short"}', 3: None}
    for number, outcome in left.items():
        (job / f"batch-{number}").mkdir(parents=True)
        (job / f"batch-{number}" / "samples").write_text("old")
        if outcome is not None:
            (job / f"batch-{number}" / "outcome.json").write_text(outcome)
    tasks = [stub_task(number, tmp_path / "log") for number in (*left, 4)]
    report = run_fleet(tasks, Brought(packed), job)
    assert [one.task for one in report.finished] == [task.id for task in tasks]
    assert {(one.folder / "samples").read_text() for one in report.finished} == {"new"}
    for number in left:
        assert (job / f"batch-{number}.torn-1" / "samples").read_text() == "old"
        (outcome,) = (one for one in report.finished if one.task == f"batch-{number}")
        assert f"kept as batch-{number}.torn-1" in " ".join(outcome.said)


def test_a_full_disk_stops_the_job_and_keeps_what_is_there(
    tmp_path: Path, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [stub_task(number, tmp_path / "log") for number in (1, 2)]
    job, handed = tmp_path / "job", list[str]()

    def hand_on(outcome: Outcome) -> None:
        handed.append(outcome.task)
        fill_disk(monkeypatch)

    with pytest.raises(FleetError, match="No space left on device, so the result of batch-2") as e:
        run_fleet(tasks, Brought(packed), job, hand_on)
    assert e.value.code == "fleet.unwritable"
    assert handed == ["batch-1"]
    monkeypatch.undo()
    report = run_fleet(tasks, Brought(packed), job)
    assert [(one.task, one.where) for one in report.finished] == [
        ("batch-1", "before"),
        ("batch-2", "node-1"),
    ]


def test_a_result_that_cannot_be_moved_lies_beside_its_place(
    tmp_path: Path, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, target: Path) -> Path:
        raise PermissionError(errno.EACCES, "Permission denied", str(path), None, str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(FleetError, match="Permission denied"):
        collect(stub_task(1, tmp_path / "log"), brought(packed), tmp_path)
    assert (tmp_path / "batch-1.part" / "samples").read_text() == "new"


def test_a_refused_archive_is_a_failed_task(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("a", "a/b"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    for bad in (buffer.getvalue(), b"no archive"):
        outcome = collect(stub_task(1, tmp_path / "log"), brought(bad), tmp_path)
        assert isinstance(outcome, Failed)
        assert outcome.text.startswith("WorkError: ")
        assert list(tmp_path.iterdir()) == []


def test_only_what_the_task_raised_is_its_failure(tmp_path: Path) -> None:
    exceptions = pytest.importorskip("ray.exceptions", reason=WITHOUT_RAY)
    task = stub_task(1, tmp_path / "log")
    assert collect(task, broken(RuntimeError("no device")), tmp_path) == Failed(
        task="batch-1", text="RuntimeError: no device"
    )
    own = exceptions.RayTaskError(
        "perform", "traceback", OSError(28, "full there")
    ).as_instanceof_cause()
    assert isinstance(own, OSError)
    assert isinstance(collect(task, broken(own), tmp_path), Failed)
    for error in (ConnectionError("the data channel is closed"), OSError(28, "full here")):
        with pytest.raises(type(error), match=r"channel|here"):
            collect(task, broken(error), tmp_path)


def test_a_whole_result_lands_in_its_place(tmp_path: Path, packed: bytes) -> None:
    outcome = collect(stub_task(1, tmp_path / "log"), brought(packed), tmp_path)
    assert outcome == Finished(task="batch-1", folder=tmp_path / "batch-1", where="node-1")
    assert not (tmp_path / "batch-1.part").exists()
