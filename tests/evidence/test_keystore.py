"""Runners of a machine: modes of files, names, and finding the one that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import keystore


def test_a_key_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    made = keystore.new_runner("box", owner="ada", host="h1", folder=tmp_path)
    path = tmp_path / "box" / "key.pem"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "box").stat().st_mode & 0o777 == 0o700
    assert made.signer().public == made.public
    assert (made.owner, made.host, made.ledger.name) == ("ada", "h1", "ledger.jsonl")
    path.chmod(0o640)
    with pytest.raises(EvidenceError, match="mode 0640") as caught:
        made.signer()
    assert caught.value.code == "evidence.key_mode"


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    first = keystore.new_runner("box", owner="ada", host="h1", folder=tmp_path)
    with pytest.raises(EvidenceError, match="not overwritten"):
        keystore.new_runner("box", owner="eve", host="h2", folder=tmp_path)
    assert keystore.load_runner("box", tmp_path) == first


@pytest.mark.parametrize(
    ("name", "owner", "host"),
    [("../up", "a", "h"), ("", "a", "h"), ("Box", "a", "h"), ("box", " ", "h"), ("box", "a", "")],
)
def test_a_runner_has_a_name_an_owner_and_a_host(
    tmp_path: Path, name: str, owner: str, host: str
) -> None:
    with pytest.raises(EvidenceError):
        keystore.new_runner(name, owner=owner, host=host, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_only_runner_need_not_be_named(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="there is none"):
        keystore.load_runner(None, tmp_path)
    box = keystore.new_runner("box", owner="ada", host="h1", folder=tmp_path)
    assert keystore.load_runner(None, tmp_path) == box
    keystore.new_runner("other", owner="ada", host="h1", folder=tmp_path)
    with pytest.raises(EvidenceError, match="there are box, other"):
        keystore.load_runner(None, tmp_path)
    assert keystore.load_runner(str(tmp_path / "box" / "key.pem")).public == box.public
    assert [one.name for one in keystore.list_runners(tmp_path)] == ["box", "other"]


def test_runners_are_kept_with_the_user_or_in_the_clone(tmp_path: Path) -> None:
    home = {"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}
    assert keystore.runners_folder(home, tmp_path) == Path("/data/kernelindex/runners")
    assert keystore.runners_folder({"KI_RUNNERS": "/keys"}, tmp_path) == Path("/keys")
    (tmp_path / "src" / "kernelindex").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    assert keystore.runners_folder(home, tmp_path) == tmp_path / ".ki" / "runners"


def test_a_runner_that_could_not_be_written_whole_leaves_no_key(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        keystore.new_runner("box", owner="no text: \ud800", host="lab", folder=tmp_path)
    assert keystore.list_runners(tmp_path) == ()
    assert list((tmp_path / "box").iterdir()) == []
    assert keystore.new_runner("box", owner="Ada", host="lab", folder=tmp_path).owner == "Ada"
    assert sorted(one.name for one in (tmp_path / "box").iterdir()) == [
        "host",
        "key.pem",
        "owner",
        "public.key",
    ]
