"""``ki bench run --executor ray`` without a cluster: what one is given, what is published."""

from __future__ import annotations

import errno
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.evidence import ledger
from kernelindex.evidence.keystore import load_runner
from kernelindex.runner.executors import Failed, Finished
from kernelindex.runner.executors.ray_cluster import collect
from kernelindex.runner.executors.work import pack_tree
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernelindex.runner.executors import Outcome, Task
    from tests.cli.factories import Terminal

SWEEP = ("bench", "run", "rmsnorm", "hidden=1024", "--sweep", "tokens=256,512,1024")
ON_RAY = ("--device", "cpu", "--executor", "ray", "--impl", "numpy-rms-norm", "--pass", "forward")


@dataclass
class Cluster:
    """Ends tasks last to first; loses those whose number is in ``lost``."""

    lost: frozenset[int] = frozenset()
    seen: list[Task] = field(default_factory=list)

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        for task in reversed(tasks):
            self.seen.append(task)
            if task.plan.number in self.lost:
                yield Failed(task=task.id, text="node lost 4 times")
            else:
                made = make_batch(folder / task.id, task.plan)
                said = (f"{task.id} of an earlier start was set aside",)
                yield Finished(task=task.id, folder=made, where="node-1", said=said)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setenv("KI_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path / 'ki.db'}")
    monkeypatch.setattr("kernelindex.cli.bench.fleet.RayExecutor", lambda address: made)
    return made


def test_every_point_is_a_batch_and_all_are_published(terminal: Terminal, cluster: Cluster) -> None:
    done = terminal.ki(*SWEEP, *ON_RAY, "--approve", "ada")
    assert done.status == 0, done.err
    assert "00002 of an earlier start was set aside" in done.err
    assert [task.id for task in cluster.seen] == ["00003", "00002", "00001"]
    assert [task.plan.points[0].axes["tokens"] for task in cluster.seen] == [1024, 512, 256]
    assert all(len(task.plan.points) == 1 for task in cluster.seen)
    runs = terminal.ki("runs", "--json").data["runs"]
    assert sorted(run["shape"]["axes"]["tokens"] for run in runs) == [256, 512, 1024]
    assert ledger.open_batches(load_runner("local").ledger) == ()


def test_a_lost_batch_is_declared_aborted_and_the_rest_is_published(
    terminal: Terminal, cluster: Cluster
) -> None:
    cluster.lost = frozenset([2])
    done = terminal.ki(*SWEEP, *ON_RAY)
    assert done.status == 1
    assert "batch 00002 was not measured: node lost 4 times" in done.err
    runs = terminal.ki("runs", "--json").data["runs"]
    assert sorted(run["shape"]["axes"]["tokens"] for run in runs) == [256, 1024]
    runner = load_runner("local")
    assert ledger.open_batches(runner.ledger) == ()
    assert (runner.folder / "bundles" / "local-00002.evidence.zip").exists()


def test_a_disk_of_ones_own_that_is_full_aborts_no_batch(
    terminal: Terminal, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collected(tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        for task in tasks:
            result: Future[Any] = Future()
            result.set_result((pack_tree(make_batch(folder.parent / task.id, task.plan)), "node-1"))
            with monkeypatch.context() as patched:
                if task.plan.number == 2:
                    patched.setattr(Path, "write_bytes", refuse)
                outcome = collect(task, result, folder)
            yield outcome

    def refuse(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(cluster, "run", collected)
    done = terminal.ki(*SWEEP, *ON_RAY)
    assert done.status == 1
    assert "No space left on device, so the result of 00002 cannot be kept" in done.err
    assert "[fleet.unwritable]" in done.err
    runner = load_runner("local")
    assert [entry.number for entry in ledger.open_batches(runner.ledger)] == [2, 3]
    assert not (runner.folder / "bundles" / "local-00002.evidence.zip").exists()
    assert (runner.folder / "batches" / "00001" / "outcome.json").exists()
