"""The worker as a process of its own, followed as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.runner import batch_files
from kernelindex.runner.recording import read_batch
from kernelindex.runner.running import Tail, run_here
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
