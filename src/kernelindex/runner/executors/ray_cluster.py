"""A Ray cluster: one whole GPU a task (one core on CPU), retried where its node is lost.

The source tree travels with the tasks, so the nodes need Python, torch and Ray only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner.executors import work
from kernelindex.runner.executors.source_tree import pack_source
from kernelindex.runner.executors.tasks import Failed, Finished, Outcome, Task
from kernelindex.runner.plan import plan_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

RETRIES = 3


class FleetError(KernelIndexError):
    """Raised when a cluster cannot be used."""

    code = "fleet.unavailable"


class RayExecutor:
    """Runs tasks on the cluster at ``address`` (``auto``, ``host:port`` or ``ray://…``).

    ``source`` is a packed source tree with the worker in it; this one's where not given.
    """

    def __init__(
        self, address: str, *, retries: int = RETRIES, source: bytes | None = None
    ) -> None:
        self._ray = _connect(address)
        self._retries = retries
        self._source = source or pack_source()

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        """Submit every task and yield each as it ends; unpacked beside each other."""
        ray = self._ray
        remote = ray.remote(max_retries=self._retries)(work.perform)
        source = ray.put(self._source)
        waiting = {
            remote.options(num_gpus=task.gpus, num_cpus=1, name=task.id).remote(
                source, plan_to_json(task.plan), dict(task.files)
            ): task
            for task in tasks
        }
        while waiting:
            (done,), _ = ray.wait(list(waiting), num_returns=1)
            yield self._collect(done, waiting.pop(done), folder)

    def _collect(self, done: Any, task: Task, folder: Path) -> Outcome:
        try:
            packed, where = self._ray.get(done)
            part = folder / f"{task.id}.part"
            work.unpack_tree(packed, part)
        except Exception as error:
            return Failed(task=task.id, text=f"{type(error).__name__}: {error}"[:2000])
        part.replace(folder / task.id)
        return Finished(task=task.id, folder=folder / task.id, where=where)


def _connect(address: str) -> Any:
    """The ray module, connected; ``work`` goes to the nodes by value."""
    try:
        import ray
    except ImportError as error:
        wanted = "install it with: pip install 'kernelindex[fleet]'"
        raise FleetError(f"Ray is not installed; {wanted}") from error
    ray.cloudpickle.register_pickle_by_value(work)
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error")
        except (ConnectionError, ValueError) as error:
            raise FleetError(f"no Ray cluster at {address}: {error}") from error
    return ray
