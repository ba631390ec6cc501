"""A source tree whose worker writes an outcome after a while, and a line as it starts and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kernelindex.runner.executors.tasks import Task
from kernelindex.runner.executors.work import pack_tree
from kernelindex.runner.plan import Candidate, Plan, Point

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_RAY = "Ray is not installed: fleets are not tested"
WORKER = """
import json, os, pathlib, sys, time
plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
material = plan["material"]

def say(what):
    node = os.environ.get("RAY_RAYLET_PID", "0")
    with open(material["log"], "a") as log:
        log.write(f"{plan['number']} {what} {os.getpid()} {node}\\n")

say("start")
while material["gate"] and not os.path.exists(material["gate"]):
    time.sleep(0.02)
out = pathlib.Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
if material["size"]:
    (out / "samples").write_bytes(os.urandom(material["size"]))
(out / "outcome.json").write_text(json.dumps({"status": "complete"}))
say("end")
"""


class Line(NamedTuple):
    """A worker's line in the log; ``node`` is the pid of its Ray node's raylet, 0 without Ray."""

    number: int
    what: str
    pid: int
    node: int


def stub_source(folder: Path) -> bytes:
    """The tree, packed as ``work.perform`` takes it."""
    return pack_tree(write_worker(folder, WORKER))


def write_worker(folder: Path, program: str) -> Path:
    """A source tree whose worker is ``program``."""
    worker = folder / "kernelindex" / "runner" / "worker"
    worker.mkdir(parents=True)
    for package in (worker, worker.parent, worker.parent.parent):
        (package / "__init__.py").write_text("")
    (worker / "__main__.py").write_text(program)
    return folder


def stub_task(number: int, log: Path, *, gate: Path | None = None, size: int = 0) -> Task:
    """A task that ends once the file ``gate`` exists; ``size`` bytes that do not compress."""
    candidate = Candidate(id="a", entry="m:f", passes=("inference",))
    point = Point(
        id="p",
        operation="rms-norm",
        axes={},
        dtypes={},
        passes=("inference",),
        candidates=(candidate,),
    )
    material = {"log": str(log), "gate": str(gate or ""), "size": size}
    plan = Plan(number=number, runner="r", device="cpu", points=(point,), material=material)
    return Task(id=f"batch-{number}", plan=plan)


def read_lines(log: Path, what: str) -> list[Line]:
    """What the workers wrote so far of one kind: ``start`` or ``end``."""
    rows = [row.split() for row in log.read_text().splitlines()] if log.exists() else []
    lines = [Line(int(number), kind, int(pid), int(node)) for number, kind, pid, node in rows]
    return [line for line in lines if line.what == what]
