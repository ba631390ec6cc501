"""Fixtures shared by all tests: an empty catalog on each database."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres import Server, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPLATE = "ki_template"
_numbers = itertools.count(1)
NO_SERVER = "PostgreSQL:"
SHARED_REASON = "shared data not here"

with contextlib.suppress(ImportError):  # the kernels' tests also run where hypothesis is absent
    from hypothesis import HealthCheck, settings

    # Neither a busy machine nor an unlucky draw of one run in a hundred is a failure: examples
    # follow from the test alone, and slow ones are none. New ones are looked for by
    # ``pytest --hypothesis-profile=explore``.
    _slow = (HealthCheck.too_slow,)
    settings.register_profile(
        "same", deadline=None, derandomize=True, database=None, suppress_health_check=_slow
    )
    settings.register_profile(
        "explore", deadline=None, derandomize=False, suppress_health_check=_slow
    )
    settings.load_profile("same")


TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What has colours drawn where no terminal is; some continuous integration states it."""
SITE = ("KI_BASE_URL", "KI_RATE", "KI_SECRET_FILE")
"""What an operator states of a site of their own."""


def pytest_configure() -> None:
    """Have every machine print and serve alike."""
    for name in (*TERMINAL, *SITE):
        os.environ.pop(name, None)
    with contextlib.suppress(ImportError):  # nor is there a catalog where only kernels are tried
        from tests.support.compiled import share_compiled

        share_compiled()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server | str]:
    """A running server, or in words why there is none."""
    server = start_server()
    yield server
    if isinstance(server, Server):
        server.stop()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty migrated catalog to copy."""
    from kernelindex.catalog import Catalog

    path = tmp_path_factory.mktemp("template") / "ki.db"
    Catalog.create(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres_server: Server | str) -> Server | str:
    """The server, with an empty migrated database to copy."""
    from kernelindex.catalog import Catalog

    if isinstance(postgres_server, Server):
        postgres_server.execute(f"CREATE DATABASE {TEMPLATE}")
        Catalog.create(postgres_server.url(TEMPLATE)).close()
    return postgres_server


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """An empty catalog of its own on SQLite."""
    path = tmp_path / f"ki-{next(_numbers)}.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty catalog of its own on PostgreSQL; skips, counted aloud, without a server."""
    server = request.getfixturevalue("postgres_template")
    if not isinstance(server, Server):
        pytest.skip(f"{NO_SERVER} {server}")
    name = f"ki_{next(_numbers)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    yield server.url(name)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(
    params=[
        pytest.param("sqlite_url", id="sqlite"),
        pytest.param("postgresql_url", id="postgresql", marks=pytest.mark.postgresql),
    ]
)
def catalog_url(request: pytest.FixtureRequest) -> str:
    """An empty catalog of its own, once on each database."""
    url: str = request.getfixturevalue(request.param)
    return url


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Property tests run untraced: it doubles their time, and examples reach the same lines."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("no_cover")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud how many tests did not run, and why."""
    counts = Counter(
        _reason(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in sorted(counts.items()):
        terminalreporter.write_line(f"NOT RUN: {count} tests: {reason}", yellow=True)


def _reason(told: str) -> str:
    """The reason without the file it names, so that equal reasons count together."""
    words = told.removeprefix("Skipped: ")
    return SHARED_REASON if words.startswith(SHARED_REASON) else words
