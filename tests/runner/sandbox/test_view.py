"""What is covered for an enclosed process, and what is shown again beneath it."""

import sys
from pathlib import Path

import pytest

from kernelindex.runner.sandbox.isolation import order_mounts
from kernelindex.runner.sandbox.view import View, make_view, private_folders, python_folders


def folders(root: Path, *names: str) -> list[Path]:
    made = [root / name for name in names]
    for one in made:
        one.mkdir(parents=True, exist_ok=True)
    return made


def test_only_what_lies_beneath_a_cover_is_shown_again(tmp_path: Path) -> None:
    home, python, elsewhere = folders(tmp_path, "home", "home/python", "opt/python")
    view = make_view([home, tmp_path / "missing"], [python, elsewhere, tmp_path / "gone"])
    assert view == View((home,), (python,))


def test_a_cover_is_never_shown_again_whole(tmp_path: Path) -> None:
    home, keys = folders(tmp_path, "home", "home/keys")
    view = make_view([home, keys], [home, tmp_path, keys])
    assert view.readable == (keys,), "inside of home; that it is covered too is for the order"
    mounts = order_mounts(hidden=view.hidden, readable=[home / "src"], writable=[])
    assert mounts[0] == ("hide", str(home))


def test_the_root_is_never_covered() -> None:
    assert make_view([Path("/")], [Path(sys.prefix)]) == View()


def test_a_folder_is_shown_by_the_name_it_is_asked_for(tmp_path: Path) -> None:
    home, real = folders(tmp_path, "home", "home/versions/3.11.7")
    alias = home / "versions" / "3.11"
    alias.symlink_to(real)
    assert make_view([home], [alias]).readable == (alias, real)


def test_the_inner_folder_decides(tmp_path: Path) -> None:
    home, plan, batch, own = folders(tmp_path, "h", "h/plan", "h/plan/batch", "h/plan/batch/own")
    mounts = order_mounts(hidden=[batch, home], readable=[plan], writable=[own])
    wanted = [("hide", home), ("read", plan), ("hide", batch), ("write", own)]
    assert mounts == [(what, str(path)) for what, path in wanted]


def test_keys_lie_in_what_is_private(tmp_path: Path) -> None:
    found = list(private_folders({"KI_RUNNERS": "/keys", "XDG_DATA_HOME": "/data"}))
    assert Path("/keys") in found
    assert Path("/data/kernelindex") in found
    assert Path.home() in found
    assert Path.cwd() / ".ki" in found


def test_what_python_needs_is_known() -> None:
    found = list(python_folders({"PATH": "/a:/b", "CUDA_HOME": "/cuda"}))
    assert {Path(sys.prefix), Path(sys.base_prefix), Path("/b"), Path("/cuda")} <= set(found)
    assert Path.cwd() not in found


def test_a_user_without_a_home_has_none_to_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(none))
    assert Path.cwd() / ".ki" in list(private_folders({}))
