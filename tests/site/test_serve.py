"""``ki serve`` says where it is, and what is wrong where it cannot be."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelindex.cli.main import main
from tests.support.site import starter_url

DEADLINE_S = 30


@contextmanager
def serving(*options: str, url: str | None = None) -> Iterator[str]:
    """The command in a process of its own; the address it printed."""
    command = [sys.executable, "-c", "from kernelindex.cli.main import run; run()"]
    process = subprocess.Popen(
        [*command, "--db", url or starter_url(), "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        yield line.split()[2]
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def read(address: str) -> bytes:
    """What an address answers; it takes connections from the moment it is printed."""
    with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
        body: bytes = answer.read()
        return body


@pytest.mark.slow
def test_it_prints_an_address_that_answers() -> None:
    with serving() as address:
        assert json.loads(read(f"{address}/health"))["status"] == "ok"
        assert b"<h1>" in read(f"{address}/runs/01a0202b")


@pytest.mark.slow
def test_a_head_without_end_is_refused_and_a_long_body_is_not() -> None:
    with serving() as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as one:
            one.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: ")
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    one.sendall(b"a" * 65_536)
            with contextlib.suppress(ConnectionError):
                assert one.recv(12) in {b"HTTP/1.1 400", b""}
        asked = urllib.request.Request(
            f"{address}/api/v1/resolve/kernel",
            b" " * 200_000,
            {"content-type": "application/json"},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=DEADLINE_S)
        refused.value.close()
        assert refused.value.code == 413  # by the application, which knows its own limits


@pytest.mark.slow
def test_several_workers_answer_on_one_port() -> None:
    with serving("--workers", "2") as address:
        for _ in range(20):
            assert b"64.0" in read(f"{address}/runs/01a0202b")


def test_a_port_in_use_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["--db", starter_url(), "serve", "--port", str(port)]) == 1
    said = capsys.readouterr().err
    assert f"Port {port} of 127.0.0.1 is in use" in said
    assert "serve.port_in_use" in said


def test_an_address_of_another_machine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", starter_url(), "serve", "--host", "192.0.2.1"]) == 1
    assert "serve.address" in capsys.readouterr().err


def test_a_missing_catalog_is_said_before_serving(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--db", f"sqlite:///{tmp_path}/none.db", "serve"]) == 1
    assert "catalog.missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--rate", "many", "serve.rate"),
        ("--rate", "0/minute", "serve.rate"),
        ("--base-url", "index.example", "serve.base_url"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(
    option: str, value: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--db", starter_url(), "serve", option, value]) == 1
    assert code in capsys.readouterr().err


@pytest.mark.slow
def test_link_previews_carry_the_public_address() -> None:
    with serving("--base-url", "https://index.example/", "--rate", "off") as address:
        page = read(f"{address}/runs/01a0202b").decode()
        assert 'rel="canonical" href="https://index.example/runs/' in page
        assert 'property="og:image" content="https://index.example/' in page
        assert b"https://index.example/" in read(f"{address}/sitemap.xml")
