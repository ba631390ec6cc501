"""A plan of many batches over an executor: resumable, nothing lost, nothing measured twice.

``fleet.jsonl`` in the job's folder has a line for every task that ended. A task with a whole
batch folder is not run again, a torn one is set aside as ``<task>.torn-N``; results are handed
on as they come, in the order of their batch numbers, because a runner's batches are chained.
"""

from __future__ import annotations

import json
from collections.abc import Callable  # noqa: TC003 - part of the public signature
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.runner.batch_files import OUTCOME, read_json
from kernelindex.runner.executors.tasks import Executor, Failed, Finished, Outcome, Task
from kernelindex.runner.executors.torn import PART, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LOG = "fleet.jsonl"
FROM_BEFORE = "before"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReport:
    """What became of a job: every task is in exactly one of the two."""

    finished: tuple[Finished, ...]
    failed: tuple[Failed, ...]


def run_fleet(
    tasks: Sequence[Task],
    executor: Executor,
    folder: Path,
    publish: Callable[[Outcome], None] = lambda _: None,
) -> FleetReport:
    """Run what has not ended yet and hand every outcome to ``publish`` in number order."""
    folder.mkdir(parents=True, exist_ok=True)
    ended: dict[str, Outcome] = {one.task: one for one in _from_before(tasks, folder)}
    left = [task for task in tasks if task.id not in ended]
    order = sorted(tasks, key=lambda task: task.plan.number)
    handed = _hand_on(order, ended, publish, 0)
    for outcome in executor.run(left, folder):
        _note(folder, outcome)
        ended[outcome.task] = outcome
        handed = _hand_on(order, ended, publish, handed)
    outcomes = [ended[task.id] for task in order]
    return FleetReport(
        finished=tuple(one for one in outcomes if isinstance(one, Finished)),
        failed=tuple(one for one in outcomes if isinstance(one, Failed)),
    )


def _from_before(tasks: Sequence[Task], folder: Path) -> Iterator[Finished]:
    """Tasks whose whole folder an earlier start of this job left; torn ones are set aside.

    A batch without an outcome, or cut short, stays where it is: an executor may take it up.
    """
    for task in tasks:
        place = folder / task.id
        set_aside(folder / f"{task.id}{PART}")
        try:
            status = _status(place / OUTCOME)
        except (OSError, ValueError):
            set_aside(place)
        else:
            if status == "complete":
                yield Finished(task=task.id, folder=place, where=FROM_BEFORE)


def _status(outcome: Path) -> str | None:
    """How a batch ended, None where it has not; raises OSError or ValueError for a torn one."""
    try:
        found = read_json(outcome)
    except FileNotFoundError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("status"), str):
        raise ValueError(f"{outcome}: states no status")
    return str(found["status"])


def _hand_on(
    order: Sequence[Task],
    ended: dict[str, Outcome],
    publish: Callable[[Outcome], None],
    handed: int,
) -> int:
    """Publish from ``handed`` on up to the first task that has not ended."""
    while handed < len(order) and order[handed].id in ended:
        publish(ended[order[handed].id])
        handed += 1
    return handed


def _note(folder: Path, outcome: Outcome) -> None:
    finished = isinstance(outcome, Finished)
    line = {"task": outcome.task, "finished": finished}
    line |= {"where": outcome.where} if isinstance(outcome, Finished) else {"text": outcome.text}
    with (folder / LOG).open("a") as file:
        file.write(json.dumps(line, sort_keys=True) + "\n")
