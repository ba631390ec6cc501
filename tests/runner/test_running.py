"""The worker as a process of its own, followed as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.errors import RequestError
from kernelindex.runner import batch_files, running
from kernelindex.runner.probe.timers.driver import DriverError
from kernelindex.runner.recording import read_batch
from kernelindex.runner.running import Tail, WorkerError, check_machine, run_here
from tests.runner.recording.factories import make_plan

if TYPE_CHECKING:
    from pathlib import Path


def test_only_whole_new_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = Tail(path)
    assert tail.read() == []
    path.write_text("one\ntw")
    assert tail.read() == ["one"]
    with path.open("a") as file:
        file.write("o\nthree\n")
    assert tail.read() == ["two", "three"]
    assert tail.read() == []


@pytest.mark.parametrize("torn", ['{"event": "gen', '{"event": "ab{"event": "x"}', "[]", "{}"])
def test_a_torn_line_of_the_worker_is_told_with_its_likely_reason(
    torn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "batch"
    (tmp_path / "torn_worker.py").write_text(
        "import sys, pathlib; out = pathlib.Path(sys.argv[3]);"
        f" (out / {batch_files.JOURNAL!r}).write_text({torn + chr(10)!r})"
    )
    monkeypatch.setattr(running, "WORKER", "torn_worker")
    monkeypatch.setattr(running, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(running.kernelindex, "__file__", str(tmp_path / "kernelindex" / "x.py"))
    with pytest.raises(WorkerError, match=r"middle of a line of .*: make room there") as found:
        run_here(make_plan(), folder)
    assert found.value.code == "worker.torn"


def absent(_: str) -> int:
    raise DriverError("devices that the driver sees: 1, numbered from 0")


def test_a_device_that_is_not_here_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    plan = make_plan(device="cuda:9", candidates=("pytorch/RMSNorm",))
    with pytest.raises(
        RequestError, match=r"not on this machine: devices .* 1, numbered"
    ) as refused:
        check_machine(plan, absent)
    assert refused.value.code == "run.device"
    with pytest.raises(RequestError, match="cuda:9 is not on this machine"):
        run_here(plan, tmp_path / "batch")
    assert list(tmp_path.iterdir()) == []


def test_tensors_beyond_the_memory_are_refused_with_both_sizes() -> None:
    plan = make_plan()  # x and y of 512 x 1024 in fp32, and a weight of 1024
    wanted = 4 * (2 * 512 * 1024 + 1024)
    check_machine(plan, lambda _: wanted)
    with pytest.raises(RequestError, match=f"takes {wanted} bytes; cpu has {wanted - 1}") as found:
        check_machine(plan, lambda _: wanted - 1)
    assert found.value.code == "run.size"


@pytest.mark.slow
def test_the_real_worker_measures_numpy_and_its_folder_reads_back(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the judge's reference computes in torch")
    from dataclasses import replace

    plan = make_plan(
        axes={"tokens": 64, "hidden": 128}, candidates=("numpy-rms-norm",), passes=("forward",)
    )
    rules = replace(plan.rules, round_seconds=0.02, warmup_seconds=0.1)
    told: list[tuple[int, str]] = []
    folder = tmp_path / "batch"
    run_here(replace(plan, rules=rules), folder, tell=lambda done, said: told.append((done, said)))
    batch = read_batch(folder)
    assert batch.outcome == "complete"
    assert told[-1][0] == 3
    (series,) = batch.series
    assert series.candidate.id == "kernelindex/numpy-rms-norm"
    assert [len(rounds) for rounds in series.samples_ns] == [8, 8, 8]
    assert batch_files.digest((batch.seed or "").encode()) == batch.seed_commitment
