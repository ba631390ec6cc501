from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from kernelindex.community import load_secret, secret_path
from kernelindex.errors import CommunityError


def test_the_secret_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "server-secret"
    secret = load_secret(path)
    assert len(secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_secret(path) == secret
    assert [item.name for item in path.parent.iterdir()] == ["server-secret"]


def test_processes_that_start_at_once_share_it(tmp_path: Path) -> None:
    found: list[bytes] = []
    path = tmp_path / "server-secret"
    threads = [threading.Thread(target=lambda: found.append(load_secret(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "server-secret"
    secret = load_secret(path)
    path.chmod(0o640)
    with pytest.raises(CommunityError, match="chmod 600") as caught:
        load_secret(path)
    assert caught.value.code == "secret.unusable"
    assert secret.hex() not in caught.value.message


def test_where_none_can_be_made_nothing_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommunityError, match="only reads its catalog") as caught:
        load_secret(tmp_path / "file" / "server-secret")
    assert caught.value.code == "contribution.read_only"


@pytest.mark.parametrize("text", ["", "abcd", "not hex at all"])
def test_a_secret_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "server-secret"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(CommunityError, match="32 bytes"):
        load_secret(path)


@pytest.mark.parametrize(
    ("url", "environ", "path"),
    [
        ("sqlite:////srv/ki/ki.db", {}, "/srv/ki/server-secret"),
        ("sqlite:////srv/ki.db", {"KI_SECRET_FILE": "/run/secret"}, "/run/secret"),
        ("postgresql+psycopg://h/d", {"XDG_DATA_HOME": "/data"}, "/data/kernelindex/server-secret"),
    ],
)
def test_where_the_secret_lies(url: str, environ: dict[str, str], path: str) -> None:
    assert secret_path(url, environ) == Path(path)
