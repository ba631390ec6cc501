from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelindex.web.charts import cache
from kernelindex.web.charts.cache import FileCache

NAME = "0123456789abcdef0123.svg"


def name_of(number: int) -> str:
    return f"{number:032x}.svg"


def test_what_was_put_is_got_and_nothing_else(tmp_path: Path) -> None:
    cache = FileCache(tmp_path)
    assert cache.get(NAME) is None
    cache.put(NAME, b"<svg/>")
    assert cache.get(NAME) == b"<svg/>"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]


@pytest.mark.parametrize("name", ["../../etc/passwd", "abc.svg", "0" * 32, "0" * 32 + ".SVG", ""])
def test_a_name_that_is_no_hash_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no cache name"):
        FileCache(tmp_path).get(name)


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, max_bytes=1000)
    past = time.time() - 10_000
    for number in range(10):
        cache.put(name_of(number), b"x" * 100)
        os.utime(tmp_path / "00" / name_of(number), (past + number, past + number))
    assert cache.get(name_of(0)) is not None  # moves its time up
    cache.put(name_of(99), b"x" * 150)
    left = {path.name for path in tmp_path.rglob("*.svg")}
    assert {name_of(0), name_of(99)} <= left
    assert name_of(1) not in left
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.svg")) <= 1000


def test_the_number_of_files_is_bounded_too(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, max_files=20)
    for number in range(60):
        cache.put(name_of(number), b"x")
    assert len(list(tmp_path.rglob("*.svg"))) <= 21


def test_half_written_files_are_never_served_and_swept_when_old(tmp_path: Path) -> None:
    part = tmp_path / "01" / f"{NAME}.aa.part"
    part.parent.mkdir()
    part.write_bytes(b"<sv")
    cache = FileCache(tmp_path)
    assert cache.get(NAME) is None
    old = time.time() - 7200
    os.utime(part, (old, old))
    cache.sweep()
    assert not part.exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    cache = FileCache(blocker / "inside")
    cache.put(NAME, b"data")
    assert cache.get(NAME) is None


def test_processes_write_one_folder_at_once(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, runpy\n"
        "FileCache = runpy.run_path(sys.argv[2])['FileCache']\n"
        "cache = FileCache(pathlib.Path(sys.argv[1]), max_files=50)\n"
        "for number in range(200):\n"
        "    name = f'{number % 80:032x}.svg'\n"
        "    found = cache.get(name)\n"
        "    assert found in (None, b'y' * 4096), len(found)\n"
        "    cache.put(name, b'y' * 4096)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), cache.__file__]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert all(path.stat().st_size == 4096 for path in tmp_path.rglob("*.svg"))
    assert list(tmp_path.rglob("*.part")) == []
