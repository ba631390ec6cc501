"""The machine at hand: one task after another, each in a worker of its own."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import kernelindex
from kernelindex.runner.executors.tasks import Failed, Finished, Outcome, Task
from kernelindex.runner.executors.work import WorkError, run_worker, write_plan
from kernelindex.runner.plan import plan_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class LocalExecutor:
    """Runs tasks here, in order; one cut short earlier is taken up where it stopped."""

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        """Run each task; its batch folder is written in place."""
        source = Path(kernelindex.__file__).parent.parent
        for task in tasks:
            out = folder / task.id
            try:
                plan = write_plan(folder / f"{task.id}.plan", plan_to_json(task.plan), task.files)
                run_worker(source, plan, out)
            except WorkError as error:
                yield Failed(task=task.id, text=str(error))
            else:
                yield Finished(task=task.id, folder=out, where=socket.gethostname())
