"""The tests' PostgreSQL starts wherever Debian's programs are, whatever the path."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import postgres


def test_a_path_without_sbin_still_finds_runuser(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/usr/sbin/runuser").exists():
        pytest.skip("no Debian runuser here")
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    assert postgres._runuser() in {"/usr/sbin/runuser", shutil.which("runuser")}


def test_a_missing_server_user_says_which_two_things_are_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(postgres, "find_binaries", lambda: tmp_path)
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 0)
    monkeypatch.setattr(postgres, "_runuser", lambda: None)
    said = postgres.start_server()
    assert said == "no server: running as root without the user postgres or the program runuser"


def test_a_port_that_was_taken_in_between_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ports = iter([1, 2, 3])
    monkeypatch.setattr(postgres, "find_binaries", lambda: tmp_path)
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(postgres, "_free_port", lambda: next(ports))

    def start(server: postgres.Server) -> None:
        if server.port == 1:
            raise subprocess.CalledProcessError(1, "pg_ctl")

    monkeypatch.setattr(postgres, "_start", start)
    server = postgres.start_server()
    assert isinstance(server, postgres.Server)
    assert server.port == 2
    server.folder.rmdir()
