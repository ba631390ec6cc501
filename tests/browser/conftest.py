"""A headless Chromium over a served site; skips, saying so, where there is none."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright

from kernelindex.site import create_app
from tests.support.shipped import shipped_url
from tests.support.site import import_starter

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).is_file():
        pytest.skip(f"no Chromium at {CHROMIUM}; install Debian's chromium or set CHROMIUM")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('browser')}/ki.db"
    import_starter(url)
    return url


@pytest.fixture(scope="session")
def address(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site of the starter evidence on a free port of this machine."""
    with served(database, tmp_path_factory.mktemp("charts")) as found:
        yield found


@pytest.fixture(scope="session")
def shipped_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site with every signed batch that ships, on a free port of this machine."""
    with served(shipped_url(), tmp_path_factory.mktemp("charts")) as found:
        yield found


@contextmanager
def served(database: str, cache: Path) -> Iterator[str]:
    """A site on a free port; its address.

    The port is listened on from here on, so nobody else is given it, and a browser that asks
    before the server runs waits for it.
    """
    server = uvicorn.Server(uvicorn.Config(create_app(database, cache=cache), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(timeout=60)
