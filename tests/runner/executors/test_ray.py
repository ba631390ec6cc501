"""A Ray cluster of several nodes on this machine, one of them killed in the middle."""

from __future__ import annotations

import threading
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.runner.executors import Failed, Finished, run_fleet
from kernelindex.runner.executors.ray_cluster import BRINGER, FleetError, RayExecutor
from tests.runner.executors.stub import WITHOUT_RAY, Line, read_lines, stub_source, stub_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kernelindex.runner.executors import Outcome

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason=WITHOUT_RAY),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("ray"),  # one cluster at a time: its processes leave no core idle
]
IN_THE_STORE = 1 << 21  # Ray keeps results over 100 KB in the object store of their node


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    # Where others fill the machine's memory, Ray kills workers and runs their tasks once more.
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        yield made
        ray.shutdown()
        made.shutdown()


def executor_of(cluster: Any, tmp_path: Path, *, nodes: int) -> RayExecutor:
    for _ in range(nodes):
        cluster.add_node(num_cpus=1)
    return RayExecutor(cluster.address, source=stub_source(tmp_path / "tree"))


def test_only_the_task_that_ran_on_a_killed_node_is_run_again(cluster: Any, tmp_path: Path) -> None:
    executor = executor_of(cluster, tmp_path, nodes=3)
    log = tmp_path / "log"
    gates = {number: tmp_path / f"gate-{number}" for number in range(1, 7)}
    jobs = [stub_task(number, log, gate=gate) for number, gate in gates.items()]
    handed: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(
            run_fleet, jobs, executor, tmp_path / "job", lambda one: handed.append(one.task)
        )
        try:
            lost, *others = wait_for_lines(log, "start", 3)
            for one in others:
                gates[one.number].touch()
            wait_for_lines(log, "start", 5)
            kill_node_of(lost, cluster)
        finally:
            for gate in gates.values():
                gate.touch()
        report = job.result()
    assert report.failed == ()
    assert [one.task for one in report.finished] == [job.id for job in jobs]
    assert handed == [job.id for job in jobs]
    assert times(log, "end") == dict.fromkeys(gates, 1)
    assert times(log, "start") == dict.fromkeys(gates, 1) | {lost.number: 2}


def test_a_result_outlives_its_node_while_another_is_being_published(
    cluster: Any, tmp_path: Path
) -> None:
    executor = executor_of(cluster, tmp_path, nodes=2)
    log, folder = tmp_path / "log", tmp_path / "job"
    outcomes = executor.run([stub_task(n, log, size=IN_THE_STORE) for n in (1, 2)], folder)
    first = next(outcomes)
    (other,) = (one for one in wait_for_lines(log, "end", 2) if first.task != task_of(one))
    assert seen(lambda: processors_free() == 2), "Ray has both results"
    brought = seen((folder / task_of(other)).exists, seconds=120)
    kill_node_of(other, cluster)
    (second,) = outcomes
    assert times(log, "end") == times(log, "start") == {1: 1, 2: 1}
    assert brought
    assert isinstance(second, Finished)
    assert second.folder == folder / task_of(other)
    assert (second.folder / "samples").stat().st_size == IN_THE_STORE


def test_a_caller_who_stops_early_waits_for_no_task(cluster: Any, tmp_path: Path) -> None:
    executor = executor_of(cluster, tmp_path, nodes=2)
    log, never = tmp_path / "log", tmp_path / "never"
    jobs = [stub_task(1, log), stub_task(2, log, gate=never)]
    outcomes = executor.run(jobs, tmp_path / "closed")
    assert next(outcomes).task == "batch-1"
    assert bringers() == 1
    outcomes.close()
    assert bringers() == 0


def test_errors_reach_the_caller_and_leave_no_thread(cluster: Any, tmp_path: Path) -> None:
    executor = executor_of(cluster, tmp_path, nodes=2)
    log, never = tmp_path / "log", tmp_path / "never"
    (tmp_path / "taken").write_text("no folder")
    with pytest.raises(FleetError, match="Not a directory, so the result of batch-1"):
        list(executor.run([stub_task(1, log)], tmp_path / "taken"))
    assert bringers() == 0

    def refuse(outcome: Outcome) -> None:
        raise LookupError(outcome.task)

    with pytest.raises(LookupError, match="batch-2"):
        run_fleet(
            [stub_task(2, log), stub_task(3, log, gate=never)], executor, tmp_path / "job", refuse
        )
    assert bringers() == 0


def test_an_os_error_of_the_task_is_a_failed_task(cluster: Any, tmp_path: Path) -> None:
    executor = executor_of(cluster, tmp_path, nodes=1)
    task = replace(stub_task(1, tmp_path / "log"), files={"a": b"", "a/b": b""})
    (outcome,) = executor.run([task], tmp_path / "job")
    assert isinstance(outcome, Failed)
    assert "FileExistsError" in outcome.text


def processors_free() -> float:
    import ray

    return float(ray.available_resources().get("CPU", 0))


def seen(what: Callable[[], bool], seconds: float = 240) -> bool:
    """Whether ``what`` came true in time."""
    end = time.monotonic() + seconds
    while not (true := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return true


def wait_for_lines(log: Path, what: str, count: int) -> list[Line]:
    assert seen(lambda: len(read_lines(log, what)) >= count), f"no {count} workers {what}"
    return read_lines(log, what)


def times(log: Path, what: str) -> dict[int, int]:
    return dict(Counter(line.number for line in read_lines(log, what)))


def task_of(line: Line) -> str:
    return f"batch-{line.number}"


def kill_node_of(line: Line, cluster: Any) -> None:
    """Kill a node without grace; returns when the worker that wrote ``line`` is gone too.

    The worker outlives its raylet by some 0.3 s (measured), long enough to end its task once
    more than Ray knows of.
    """
    (node,) = (one for one in cluster.worker_nodes if raylet_pid(one) == line.node)
    cluster.remove_node(node, allow_graceful=False)
    assert seen(lambda: not is_running(line.pid)), "a worker outlived its node"


def raylet_pid(node: Any) -> int:
    return node.all_processes["raylet"][0].process.pid


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def bringers() -> int:
    return sum(thread.name.startswith(BRINGER) for thread in threading.enumerate())
