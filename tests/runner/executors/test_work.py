"""What travels to another machine and back."""

from __future__ import annotations

import io
import sys
import tarfile
from random import Random
from typing import TYPE_CHECKING

import pytest

from kernelindex.runner.executors import work
from kernelindex.runner.executors.source_tree import pack_source
from kernelindex.runner.plan import plan_to_json
from tests.runner.executors.stub import stub_source, stub_task, write_worker

if TYPE_CHECKING:
    from pathlib import Path


def names_in(packed: bytes) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return set(archive.getnames())


def test_result_comes_back_without_the_secret_seed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "seed.secret").write_text("1")
    (tmp_path / "out" / "outcome.json").write_text("{}")
    packed = work.pack_tree(tmp_path / "out", work.LEFT_BEHIND)
    assert names_in(packed) == {"outcome.json"}


def test_perform_runs_the_shipped_worker(tmp_path: Path) -> None:
    source = stub_source(tmp_path / "tree")
    task = stub_task(4, tmp_path / "log")
    packed, host = work.perform(source, plan_to_json(task.plan), {"mine.py": b"pass"})
    assert names_in(packed) == {"outcome.json"}
    assert host
    assert [line.split()[:2] for line in (tmp_path / "log").read_text().splitlines()] == [
        ["4", "start"],
        ["4", "end"],
    ]


def test_a_worker_that_leaves_no_outcome_is_an_error_with_its_output(tmp_path: Path) -> None:
    source = write_worker(tmp_path, "import sys; print('no device here'); sys.exit(3)")
    plan = plan_to_json(stub_task(1, tmp_path / "log").plan)
    with pytest.raises(work.WorkError, match=r"(?s)ended with 3 .*no device here"):
        work.perform(work.pack_tree(source), plan, {})


def test_a_worker_that_refuses_does_not_pass_for_the_start_before_it(tmp_path: Path) -> None:
    source = write_worker(tmp_path / "src", "import sys; print('refused: why'); sys.exit(2)")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "outcome.json").write_text('{"status": "cut_short"}')
    with pytest.raises(work.WorkError, match=r"(?s)ended with 2 .*refused: why"):
        work.run_worker(source, tmp_path / "plan.json", tmp_path / "out")


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "a/../../evil.py"])
def test_a_candidate_file_stays_inside_the_plan(name: str, tmp_path: Path) -> None:
    with pytest.raises(work.WorkError, match=r"inside the plan's folder"):
        work.write_plan(tmp_path / "plan", "{}", {name: b""})
    assert not (tmp_path / "evil.py").exists()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("/outside", tarfile.REGTYPE),
        ("link", tarfile.SYMTYPE),
        ("hard", tarfile.LNKTYPE),
        ("device", tarfile.CHRTYPE),
    ],
)
def test_unpacking_refuses_what_is_no_file_inside(name: str, kind: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/hostname"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(member, io.BytesIO(b""))
    with pytest.raises(work.WorkError, match="only plain files inside the folder"):
        work.read_tree(buffer.getvalue())


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["a", "a/b"], "a file where a folder is"),
        (["a/b", "a"], "a file where a folder is"),
        (["a", "./a"], "path twice"),
        (["a" * 256], "at most 255 bytes"),
        (["."], "only plain files"),
    ],
)
def test_unpacking_refuses_names_that_no_folder_holds(names: list[str], match: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    with pytest.raises(work.WorkError, match=match):
        work.read_tree(buffer.getvalue())


@pytest.mark.parametrize("cut", [0, 5, 30, 200])
def test_a_broken_archive_is_refused_as_one(cut: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(Random(3).randbytes(1000))
    packed = work.pack_tree(tmp_path)
    changed = bytes(one ^ 255 for one in packed[cut : cut + 8])
    for broken in (packed[:cut], packed[:cut] + changed + packed[cut + 8 :]):
        with pytest.raises(work.WorkError, match="no archive of files"):
            work.read_tree(broken)


def test_unpacking_refuses_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"0" * 100)
    packed = work.pack_tree(tmp_path)
    monkeypatch.setattr(work, "MAX_RESULT_BYTES", 99)
    with pytest.raises(work.WorkError, match="more than 99 bytes"):
        work.read_tree(packed)


def test_a_tree_comes_out_as_it_went_in_at_any_time(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.bin").write_bytes(b"1")
    (tmp_path / "d").write_bytes(b"2")
    packed = work.pack_tree(tmp_path)
    assert packed[4:8] == bytes(4), "gzip's own time would tell equal trees apart"
    work.write_tree(work.read_tree(packed), tmp_path / "in")
    assert work.pack_tree(tmp_path / "in") == packed


def test_the_shipped_source_is_the_bare_side_only() -> None:
    names = names_in(pack_source())
    assert "kernelindex/runner/plan.py" in names
    assert "kernelindex/stats.py" in names
    tops = {name.split("/")[1] for name in names}
    assert tops <= {
        "__init__.py",
        "errors.py",
        "ids.py",
        "selfchecks.py",
        "stats.py",
        "units.py",
        "runner",
        "kernels",
    }


def test_work_itself_is_standard_library_only() -> None:
    assert not {"kernelindex"} & {name.split(".")[0] for name in vars(work) if name in sys.modules}
    text = work.__spec__.loader.get_source(work.__name__)  # type: ignore[union-attr]
    assert "kernelindex.runner.worker" in text
    assert "from kernelindex" not in text
    assert "import kernelindex" not in text
