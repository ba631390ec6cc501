"""Numbers of the ledger when ``ki bench run`` fails: none taken, closed, or open and said how."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.errors import CatalogError
from kernelindex.evidence import archive, ledger
from kernelindex.evidence.keystore import load_runner, new_runner
from kernelindex.evidence.verify import verify
from kernelindex.runner import batch_files
from kernelindex.runner.running import WorkerError
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.plan import Plan
    from tests.cli.factories import Terminal

RUN = ("bench", "run", "rmsnorm", "tokens=512", "hidden=1024", "--impl", "numpy-rms-norm")
CPU = ("--device", "cpu")
FOLLOW = "kernelindex.cli.bench.run.follow"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KI_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path / 'ki.db'}")
    return tmp_path


def entries() -> list[tuple[str, int, str | None]]:
    return [(one.event, one.number, one.outcome) for one in ledger.read(load_runner().ledger)]


def measured(plan: Plan, folder: Path, **_: Any) -> None:
    make_batch(folder, plan)


def failing(error: BaseException) -> Callable[..., None]:
    def follow(*_: object, **__: object) -> None:
        raise error

    return follow


def test_a_device_that_is_not_here_takes_no_number(terminal: Terminal) -> None:
    done = terminal.ki("bench", "run", "rmsnorm", "tokens=512", "hidden=1024", "--device", "cuda:9")
    assert done.status == 1
    assert "cuda:9 is not on this machine" in done.err
    assert entries() == []


def test_a_full_disk_takes_no_number(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    done = terminal.ki(*RUN, *CPU)
    assert done.status == 1
    assert "4096 bytes are free, wanted 67108864 before a batch is begun" in done.err
    assert entries() == []


def test_a_key_that_others_may_read_takes_no_number(terminal: Terminal, home: Path) -> None:
    new_runner("local", owner="ada", host="h1")
    (home / "runners" / "local" / "key.pem").chmod(0o644)
    done = terminal.ki(*RUN, *CPU)
    assert (done.status, "[evidence.key_mode]" in done.err) == (1, True)
    assert entries() == []


def test_a_catalog_that_cannot_be_opened_takes_no_number(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KI_DB", f"sqlite:///{home / 'nowhere' / 'x' / 'ki.db'}")
    (home / "nowhere").write_text("a file")
    assert terminal.ki(*RUN, *CPU).status == 1
    assert not (home / "runners").exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/home/ada/x"),
            "No space left on device",
        ),
        (WorkerError("the worker ended with 1"), "worker.failed"),
        (KeyboardInterrupt(), "stopped by hand"),
        (ZeroDivisionError("/home/ada"), "ZeroDivisionError"),
    ],
)
def test_what_fails_afterwards_closes_the_number_with_its_reason(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    monkeypatch.setattr(FOLLOW, failing(error))
    done = terminal.ki(*RUN, *CPU)
    assert done.status == 1
    assert f"batch 1 is declared aborted ({reason})" in done.err
    assert entries() == [("planned", 1, None), ("closed", 1, "aborted")]
    runner = load_runner()
    data = (runner.folder / "bundles" / "local-00001.evidence.zip").read_bytes()
    assert verify(data, [runner.public]).ok
    stated = json.loads(archive.unpack(data)["outcome.json"])
    assert stated == {"status": "aborted", "missing": [], "reason": reason}
    monkeypatch.setattr(FOLLOW, measured)
    assert terminal.ki(*RUN, *CPU, "--json").data["batch"] == "local/2"


def test_what_cannot_be_closed_is_said(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(FOLLOW, failing(full))
    monkeypatch.setattr("kernelindex.evidence.bundle.write_whole", failing(full))
    done = terminal.ki(*RUN, *CPU)
    assert done.status == 1
    assert "batch 1 stays open ([Errno 28] No space left on device" in done.err
    assert "afterwards: ki evidence abort 1 --runner local" in done.err
    assert entries() == [("planned", 1, None)]


def test_what_can_be_taken_up_stays_open_and_how_is_said(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_plan: Plan, folder: Path, **_: object) -> None:
        batch_files.write_json(batch_files.generation_file(folder, 0, 0), {"seconds": 1.0})
        raise WorkerError("the worker ended with -9")

    monkeypatch.setattr(FOLLOW, killed)
    done = terminal.ki(*RUN, *CPU)
    folder = load_runner().folder / "batches" / "00001"
    assert done.status == 1
    assert "batch 1 stays open, 1 of its generations are measured" in done.err
    assert f"-m kernelindex.runner.worker {folder}.plan.json --out {folder}" in done.err
    assert f"ki bench ingest {folder} --runner local" in done.err
    assert entries() == [("planned", 1, None)]


def test_a_batch_that_cannot_be_published_is_taken_in_later(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FOLLOW, measured)
    with monkeypatch.context() as patched:
        patched.setattr("kernelindex.runner.ingest.ingest", failing(CatalogError("no room")))
        done = terminal.ki(*RUN, *CPU)
    folder = load_runner().folder / "batches" / "00001"
    said = f"take it in: ki bench ingest {folder} --runner local\n"
    assert (done.status, said in done.err) == (1, True), done.err
    assert terminal.ki(*said.split()[4:]).status == 0
    assert entries() == [("planned", 1, None), ("closed", 1, "complete")]


def test_a_folder_in_the_way_is_refused_and_left(terminal: Terminal, home: Path) -> None:
    runner = new_runner("local", owner="ada", host="h1")
    kept = runner.folder / "batches" / "00001" / "plan.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    done = terminal.ki(*RUN, *CPU)
    assert (done.status, "though batch 1 was never planned" in done.err) == (1, True)
    assert (entries(), kept.read_text()) == ([], "{}")


def test_on_a_cluster_no_number_is_taken_before_every_task_is_made(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernelindex.cli.bench import fleet

    made = fleet._files
    seen: list[int] = []

    def second_fails(plan: Plan, folder: Path) -> dict[str, bytes]:
        seen.append(plan.number)
        if plan.number == 2:
            raise OSError(errno.EACCES, "Permission denied")
        return made(plan, folder)

    monkeypatch.setattr(fleet, "RayExecutor", lambda _: None)
    monkeypatch.setattr(fleet, "_files", second_fails)
    sweep = ("bench", "run", "rmsnorm", "hidden=1024", "--sweep", "tokens=256,512")
    done = terminal.ki(*sweep, *CPU, "--executor", "ray")
    assert (done.status, seen, entries()) == (1, [1, 2], [])
