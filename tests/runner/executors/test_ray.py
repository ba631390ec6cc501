"""A Ray cluster of several nodes on this machine, one of them killed in the middle."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.runner.executors.stub import stub_source, stub_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ray = pytest.importorskip("ray", reason="Ray is not installed: fleets are not tested")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(240),
]


@pytest.fixture
def cluster() -> Iterator[object]:
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        yield made
        ray.shutdown()
        made.shutdown()


def starts_and_ends(log: Path) -> tuple[Counter[str], Counter[str]]:
    rows = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    starts = Counter(number for number, what, _ in rows if what == "start")
    return starts, Counter(number for number, what, _ in rows if what == "end")


def test_a_killed_node_loses_nothing_and_nothing_is_measured_twice(
    cluster: object, tmp_path: Path
) -> None:
    from kernelindex.runner.executors import run_fleet
    from kernelindex.runner.executors.ray_cluster import RayExecutor

    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]  # type: ignore[attr-defined]
    log = tmp_path / "log"
    jobs = [stub_task(number, log, seconds=2.0) for number in range(1, 7)]
    executor = RayExecutor(cluster.address, source=stub_source(tmp_path / "tree"))  # type: ignore[attr-defined]
    handed: list[str] = []
    killed: list[object] = []

    def publish(outcome: object) -> None:
        handed.append(outcome.task)  # type: ignore[attr-defined]
        if not killed:
            killed.append(nodes[1])
            wait_for_a_running_task(log)
            cluster.remove_node(nodes[1], allow_graceful=False)  # type: ignore[attr-defined]

    report = run_fleet(jobs, executor, tmp_path / "job", publish)
    assert [one.text for one in report.failed] == []
    assert [one.task for one in report.finished] == [job.id for job in jobs]
    assert handed == [job.id for job in jobs]
    starts, ends = starts_and_ends(log)
    assert dict(ends) == {str(number): 1 for number in range(1, 7)}
    assert sum(starts.values()) - sum(ends.values()) <= 1, "only the killed node's task restarts"


def wait_for_a_running_task(log: Path) -> None:
    for _ in range(100):
        starts, ends = starts_and_ends(log)
        if sum(starts.values()) >= sum(ends.values()) + 3:
            return
        time.sleep(0.05)
