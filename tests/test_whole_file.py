"""Files that are there whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from kernelindex.whole_file import write_after, write_whole


def test_a_file_is_put_in_place_only_after_what_must_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"old")
    with suppress(RuntimeError), write_after(path, b"new"):
        assert path.read_bytes() == b"old"
        raise RuntimeError
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("plan.json", b"old")]
    with write_after(path, b"new") as data:
        assert data == b"new"
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("plan.json", b"new")]


def test_two_at_once_do_not_meet_and_others_may_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "bundle.zip"
    with write_after(path, b"first"):
        write_whole(path, b"second")
    assert [(one.name, one.read_bytes()) for one in path.parent.iterdir()] == [
        ("bundle.zip", b"first")
    ]
    assert path.stat().st_mode & 0o777 == 0o644
