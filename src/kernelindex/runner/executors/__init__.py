"""Where batches run: this machine, or the machines of a Ray cluster.

An executor takes tasks and yields what became of each, as they end. It knows nothing of
manifests: a task is a plan, a result is the folder that the worker wrote.
"""

from kernelindex.runner.executors.fleet import FleetReport, run_fleet
from kernelindex.runner.executors.local import LocalExecutor
from kernelindex.runner.executors.tasks import Executor, Failed, Finished, Outcome, Task

__all__ = [
    "Executor",
    "Failed",
    "Finished",
    "FleetReport",
    "LocalExecutor",
    "Outcome",
    "Task",
    "run_fleet",
]
