"""A plan of many batches over an executor: resumable, nothing lost, nothing measured twice.

``fleet.jsonl`` in the job's folder has a line for every task that ended. A task with a whole
batch folder is not run again, a torn one is set aside as ``<task>.torn-N``, which its outcome
says; results are handed on as they come, in the order of their batch numbers, because a
runner's batches are chained.
"""

from __future__ import annotations

import json
from collections.abc import Callable  # noqa: TC003 - part of the public signature
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelindex.runner.batch_files import OUTCOME, read_json
from kernelindex.runner.executors.tasks import Executor, Failed, Finished, Outcome, Task
from kernelindex.runner.torn import PART, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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
    """Run what has not ended yet and hand every outcome to ``publish`` in number order.

    An outcome says what of an earlier start was set aside for it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = {task.id: tuple(_set_torn_aside(task, folder)) for task in tasks}
    _log(folder, *({"task": task, "said": one} for task, told in said.items() for one in told))
    ended: dict[str, Outcome] = {one.task: one for one in _from_before(tasks, folder, said)}
    left = [task for task in tasks if task.id not in ended]
    order = sorted(tasks, key=lambda task: task.plan.number)
    handed = _hand_on(order, ended, publish, 0)
    for ran in executor.run(left, folder):
        _note(folder, ran)
        ended[ran.task] = replace(ran, said=(*said[ran.task], *ran.said))
        handed = _hand_on(order, ended, publish, handed)
    outcomes = [ended[task.id] for task in order]
    return FleetReport(
        finished=tuple(one for one in outcomes if isinstance(one, Finished)),
        failed=tuple(one for one in outcomes if isinstance(one, Failed)),
    )


def _set_torn_aside(task: Task, folder: Path) -> Iterator[str]:
    """Rename a result that came in part, and a folder whose outcome is torn; each in words."""
    if part := set_aside(folder / f"{task.id}{PART}"):
        yield f"a result of {task.id} that came in part is kept as {part.name}"
    try:
        _status(folder / task.id / OUTCOME)
    except (OSError, ValueError) as error:
        if aside := set_aside(folder / task.id):
            yield f"{task.id} of an earlier start is torn ({error}); it is kept as {aside.name}"


def _from_before(
    tasks: Sequence[Task], folder: Path, said: Mapping[str, tuple[str, ...]]
) -> Iterator[Finished]:
    """Tasks whose whole folder an earlier start of this job left.

    A batch without an outcome, or cut short, stays where it is: an executor may take it up.
    """
    for task in tasks:
        place = folder / task.id
        if _status(place / OUTCOME) == "complete":
            told = said[task.id]
            yield Finished(task=task.id, folder=place, where=FROM_BEFORE, said=told)


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
    line: dict[str, Any] = {"task": outcome.task, "finished": finished}
    line |= {"where": outcome.where} if isinstance(outcome, Finished) else {"text": outcome.text}
    _log(folder, line | ({"said": list(outcome.said)} if outcome.said else {}))


def _log(folder: Path, *lines: dict[str, Any]) -> None:
    with (folder / LOG).open("a") as file:
        file.writelines(json.dumps(line, sort_keys=True) + "\n" for line in lines)
