"""A source tree whose worker writes an outcome after a while, and a line each time it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.runner.executors.tasks import Task
from kernelindex.runner.executors.work import pack_tree
from kernelindex.runner.plan import Candidate, Plan, Point

if TYPE_CHECKING:
    from pathlib import Path

WORKER = """
import json, os, pathlib, sys, time
plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
with open(plan["material"]["log"], "a") as log:
    log.write(f"{plan['number']} start {os.getpid()}\\n")
time.sleep(plan["material"]["seconds"])
out = pathlib.Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
(out / "outcome.json").write_text(json.dumps({"status": "complete"}))
with open(plan["material"]["log"], "a") as log:
    log.write(f"{plan['number']} end {os.getpid()}\\n")
"""


def stub_source(folder: Path) -> bytes:
    """The tree, packed as ``work.perform`` takes it."""
    worker = folder / "kernelindex" / "runner" / "worker"
    worker.mkdir(parents=True)
    for package in (worker, worker.parent, worker.parent.parent):
        (package / "__init__.py").write_text("")
    (worker / "__main__.py").write_text(WORKER)
    return pack_tree(folder)


def stub_task(number: int, log: Path, seconds: float = 0.0) -> Task:
    """A task that takes ``seconds`` in the stub's worker."""
    candidate = Candidate(id="a", entry="m:f", passes=("inference",))
    point = Point(
        id="p",
        operation="rms-norm",
        axes={},
        dtypes={},
        passes=("inference",),
        candidates=(candidate,),
    )
    material = {"log": str(log), "seconds": seconds}
    plan = Plan(number=number, runner="r", device="cpu", points=(point,), material=material)
    return Task(id=f"batch-{number}", plan=plan)
