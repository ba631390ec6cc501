"""The machine at hand: one task after another, each in a worker of its own."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import kernelindex
from kernelindex.runner.executors.tasks import Failed, Finished, Outcome, Task
from kernelindex.runner.executors.work import WorkError, run_worker, write_plan
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.worker.damage import clear_damage, find_damage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class LocalExecutor:
    """Runs tasks here, in order; one cut short earlier is taken up where it stopped."""

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        """Run each task; its batch folder is written in place.

        What an earlier start left damaged is set aside first. Raises WorkerError before
        anything is run where that would lose what was measured.
        """
        said = _set_damaged_aside(tasks, folder)
        source = Path(kernelindex.__file__).parent.parent
        for task in tasks:
            out, told = folder / task.id, said.get(task.id, ())
            try:
                plan = write_plan(folder / f"{task.id}.plan", plan_to_json(task.plan), task.files)
                run_worker(source, plan, out)
            except WorkError as error:
                yield Failed(task=task.id, text=str(error), said=told)
            else:
                yield Finished(task=task.id, folder=out, where=socket.gethostname(), said=told)


def _set_damaged_aside(tasks: Sequence[Task], folder: Path) -> dict[str, tuple[str, ...]]:
    """What is to be said of each task whose folder was damaged; raises WorkerError."""
    found = {task.id: find_damage(task.plan, folder / task.id) for task in tasks}
    damaged = {task: damage for task, damage in found.items() if damage is not None}
    said = clear_damage(damaged.values())
    return {task: (text,) for task, text in zip(damaged, said, strict=True)}
