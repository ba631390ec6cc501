"""A job over an executor: order, resuming, failures."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from kernelindex.runner.executors import Failed, Finished, LocalExecutor, run_fleet
from kernelindex.runner.executors.fleet import LOG
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.worker.resume import WorkerError
from tests.runner.executors.stub import stub_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kernelindex.runner.executors import Outcome, Task


@dataclass
class Backwards:
    """Ends tasks last to first; those in ``bad`` fail; stops dead after ``stop_after``."""

    bad: frozenset[str] = frozenset()
    stop_after: int = 99
    ran: list[str] = field(default_factory=list)

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        for task in list(reversed(tasks))[: self.stop_after]:
            self.ran.append(task.id)
            if task.id in self.bad:
                yield Failed(task=task.id, text="node lost 4 times")
                continue
            (folder / task.id).mkdir()
            (folder / task.id / "outcome.json").write_text('{"status": "complete"}')
            yield Finished(task=task.id, folder=folder / task.id, where="here")
        if self.stop_after < len(tasks):
            raise KeyboardInterrupt


def tasks(tmp_path: Path) -> list[Task]:
    return [stub_task(number, tmp_path / "log") for number in (3, 4, 5)]


def test_results_are_handed_on_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    handed: list[str] = []
    report = run_fleet(
        tasks(tmp_path), Backwards(), tmp_path / "job", lambda one: handed.append(one.task)
    )
    assert handed == ["batch-3", "batch-4", "batch-5"]
    assert [one.task for one in report.finished] == handed
    lines = [json.loads(line) for line in (tmp_path / "job" / LOG).read_text().splitlines()]
    assert [line["task"] for line in lines] == ["batch-5", "batch-4", "batch-3"]


def test_a_failure_is_an_outcome_and_the_rest_goes_on(tmp_path: Path) -> None:
    report = run_fleet(tasks(tmp_path), Backwards(frozenset(["batch-4"])), tmp_path / "job")
    assert [(one.task, one.text) for one in report.failed] == [("batch-4", "node lost 4 times")]
    assert [one.task for one in report.finished] == ["batch-3", "batch-5"]


def test_taking_it_up_again_measures_nothing_twice(tmp_path: Path) -> None:
    first = Backwards(stop_after=2)
    with contextlib.suppress(KeyboardInterrupt):
        run_fleet(tasks(tmp_path), first, tmp_path / "job")
    second = Backwards()
    handed: list[str] = []
    report = run_fleet(
        tasks(tmp_path), second, tmp_path / "job", lambda one: handed.append(one.task)
    )
    assert first.ran == ["batch-5", "batch-4"]
    assert second.ran == ["batch-3"]
    assert handed == ["batch-3", "batch-4", "batch-5"]
    assert [one.where for one in report.finished] == ["here", "before", "before"]


def test_a_torn_result_is_run_again(tmp_path: Path) -> None:
    job = tmp_path / "job"
    (job / "batch-3.part").mkdir(parents=True)
    (job / "batch-3.part" / "outcome.json").write_text('{"status": "complete"}')
    executor = Backwards()
    run_fleet(tasks(tmp_path)[:1], executor, job)
    assert executor.ran == ["batch-3"]
    assert not (job / "batch-3.part").exists()
    assert (job / "batch-3.torn-1" / "outcome.json").read_text() == '{"status": "complete"}'


@pytest.mark.parametrize("left", ['{"status":"cut_sh', "", "[1]", "{}", '{"status": 3}'])
def test_an_outcome_that_cannot_be_read_is_set_aside_and_the_job_goes_on(
    tmp_path: Path, left: str
) -> None:
    job, executor = tmp_path / "job", Backwards()
    for taken in ("batch-4", "batch-4.torn-1"):
        (job / taken).mkdir(parents=True)
        (job / taken / "outcome.json").write_text(left)
    (job / "batch-4" / "samples").write_text("measured before")
    (job / "batch-3").write_text("no folder")
    report = run_fleet(tasks(tmp_path), executor, job)
    assert [one.task for one in report.finished] == ["batch-3", "batch-4", "batch-5"]
    said = {one.task: " ".join(one.said) for one in report.finished}
    assert "it is kept as batch-3.torn-1" in said["batch-3"]
    assert "it is kept as batch-4.torn-2" in said["batch-4"]
    assert said["batch-5"] == ""
    assert executor.ran == ["batch-5", "batch-4", "batch-3"]
    assert (job / "batch-4.torn-2" / "samples").read_text() == "measured before"
    assert (job / "batch-4.torn-1" / "outcome.json").read_text() == left
    assert (job / "batch-3.torn-1").read_text() == "no folder"
    assert not (job / "batch-4" / "samples").exists()


@pytest.mark.parametrize("status", [None, "cut_short"])
def test_a_batch_not_ended_stays_for_who_takes_it_up(tmp_path: Path, status: str | None) -> None:
    found: list[str] = []

    class TakesUp:
        def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
            for task in tasks:
                found.append((folder / task.id / "samples").read_text())
                yield Finished(task=task.id, folder=folder / task.id, where="here")

    batch = tmp_path / "job" / "batch-3"
    batch.mkdir(parents=True)
    (batch / "samples").write_text("measured before")
    if status:
        (batch / "outcome.json").write_text(json.dumps({"status": status}))
    run_fleet(tasks(tmp_path)[:1], TakesUp(), tmp_path / "job")
    assert found == ["measured before"]


@pytest.fixture
def worker_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that writes its plan and a whole outcome, where nothing of before may be left."""

    def run_worker(_source: Path, plan: Path, out: Path) -> None:
        out.mkdir(parents=True)
        (out / "plan.json").write_bytes(plan.read_bytes())
        (out / "outcome.json").write_text('{"status": "complete"}')

    monkeypatch.setattr("kernelindex.runner.executors.local.run_worker", run_worker)


@pytest.mark.usefixtures("worker_here")
def test_here_a_torn_result_is_set_aside_before_the_worker_starts(tmp_path: Path) -> None:
    job = tmp_path / "job"
    (job / "batch-3").mkdir(parents=True)
    (job / "batch-3" / "outcome.json").write_text('{"status":"cut_sh')
    (task,) = tasks(tmp_path)[:1]
    (ended,) = run_fleet([task], LocalExecutor(), job).finished
    assert json.loads((ended.folder / "outcome.json").read_text())["status"] == "complete"
    assert (job / "batch-3.torn-1" / "outcome.json").read_text() == '{"status":"cut_sh'


def begin(folder: Path, task: Task, *, finished: int = 0) -> None:
    """What a killed worker of a task leaves, with a plan that is cut short."""
    (folder / "generations").mkdir(parents=True)
    (folder / "plan.json").write_text(plan_to_json(task.plan)[:40])
    (folder / "outcome.json").write_text('{"status": "cut_short"}')
    for generation in range(finished):
        (folder / "generations" / f"0-{generation}.json.gz").write_bytes(b"measured")


def test_here_a_damaged_plan_that_would_lose_results_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    job, (first, second, third) = tmp_path / "job", tasks(tmp_path)
    begin(job / second.id, second)
    begin(job / third.id, third, finished=2)
    left = sorted(job.rglob("*"))
    with pytest.raises(WorkerError, match="2 generations of this batch would be lost") as refused:
        run_fleet([first, second, third], LocalExecutor(), job)
    assert refused.value.message.startswith(f"{job / third.id / 'plan.json'}: not JSON")
    assert sorted(job.rglob("*")) == sorted([*left, job / LOG])
    assert (job / LOG).read_text() == ""


@pytest.mark.usefixtures("worker_here")
def test_here_a_damaged_plan_is_set_aside_said_and_measured_anew(tmp_path: Path) -> None:
    job, (task, *_) = tmp_path / "job", tasks(tmp_path)
    begin(job / task.id, task)
    handed: list[Outcome] = []
    report = run_fleet([task], LocalExecutor(), job, handed.append)
    (ended,) = report.finished
    assert report.failed == ()
    assert (ended.folder / "plan.json").read_text() == plan_to_json(task.plan)
    assert (job / "batch-3.torn-1" / "plan.json").read_text() == plan_to_json(task.plan)[:40]
    (said,) = handed[0].said
    assert said.startswith("plan.json of an earlier start is damaged (not JSON")
    assert said.endswith("kept as batch-3.torn-1 and the batch is measured anew")
    assert json.loads((job / LOG).read_text())["said"] == [said]
