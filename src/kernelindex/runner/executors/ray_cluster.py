"""A Ray cluster: one whole GPU a task (one core on CPU), retried where its node is lost.

The source tree travels with the tasks, so the nodes need Python, torch and Ray only.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner.executors import work
from kernelindex.runner.executors.source_tree import pack_source
from kernelindex.runner.executors.tasks import Failed, Finished, Outcome, Task
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.torn import PART, set_aside

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

RETRIES = 3
BRINGER = "fleet-results"


class FleetError(KernelIndexError):
    """Raised when a cluster cannot be used, or its results cannot be kept here."""

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

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Outcome, None, None]:
        """Submit every task and yield each as it ends; unpacked beside each other.

        Results come here however long the caller takes with one: what stays in the object
        store of its node is lost with the node, and measured again. Closing this early waits
        for no task and keeps what has come.
        """
        ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with ThreadPoolExecutor(1, thread_name_prefix=BRINGER) as pool:

            def bring(task: Task, result: Future[Any]) -> None:
                try:
                    outcome = pool.submit(collect, task, result, folder)
                except RuntimeError as error:  # no thread to be had; or closed, and nobody waits
                    outcome = Future()
                    outcome.set_exception(error)
                outcome.add_done_callback(ended.put)

            for task, result in self._submit(tasks):
                result.add_done_callback(partial(bring, task))
            for _ in tasks:
                yield ended.get().result()

    def _submit(self, tasks: Sequence[Task]) -> list[tuple[Task, Future[Any]]]:
        """Each task beside the future that brings its packed result, with nobody asking."""
        remote = self._ray.remote(max_retries=self._retries)(work.perform)
        source = self._ray.put(self._source)
        return [
            (
                task,
                remote.options(num_gpus=task.gpus, num_cpus=1, name=task.id)
                .remote(source, plan_to_json(task.plan), dict(task.files))
                .future(),
            )
            for task in tasks
        ]


def collect(task: Task, result: Future[Any], folder: Path) -> Outcome:
    """Unpack what a task brought; Failed where it raised, or brought what is refused.

    Errors that say nothing about the task are raised: ConnectionError and what else befalls
    this machine, FleetError (``fleet.unwritable``) where the result cannot be kept here.
    """
    try:
        packed, where = result.result()
        files = work.read_tree(packed)
    except Exception as error:
        if isinstance(error, OSError | MemoryError) and not _is_of_task(error):
            raise
        return Failed(task=task.id, text=f"{type(error).__name__}: {error}"[:2000])
    place, part = folder / task.id, folder / f"{task.id}{PART}"
    try:
        set_aside(part)
        work.write_tree(files, part)
        aside = set_aside(place)
        part.replace(place)
    except OSError as error:
        raise FleetError(
            f"{error.filename or part}: {error.strerror or error}, so the result of {task.id}"
            f" cannot be kept on this machine; it is no failure of the task. Make {folder}"
            " writable, with room on its disk, and start the job again: every result that is"
            " there is kept",
            code="fleet.unwritable",
        ) from error
    said = (f"what an earlier start left of {task.id} is kept as {aside.name}",) if aside else ()
    return Finished(task=task.id, folder=place, where=where, said=said)


def _is_of_task(error: Exception) -> bool:
    """Whether Ray brought an error from the task: it derives those from the task's own class."""
    from ray.exceptions import RayTaskError

    return isinstance(error, RayTaskError)


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
