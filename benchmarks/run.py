"""Measure the index against its targets and write docs/performance.md.

``python -m benchmarks.run [--sizes 8000,100000,1000000] [--databases sqlite,postgresql]``.
Each measurement runs in a process of its own, so that its peak memory is its own. Only the rows
of what was measured change, so ``--only serving`` leaves the rest of the page as it is; what
the page says of commits and machines around its tables is written by hand.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.support.postgres import Server, start_server
from tests.support.shared import shared_root

from benchmarks.report import Figure, describe_machine, update_page

EXPORT = "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def main() -> int:
    """Run the measurements, show a table, write their rows of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="8000,100000,1000000")
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--only", default="manifests,export,growth,serving")
    wanted = parser.parse_args()
    figures: list[Figure] = []
    for command in commands(wanted.sizes, wanted.databases, wanted.only):
        print("·", " ".join(command), file=sys.stderr)
        figures += run(command)
    show(figures)
    machine = ", ".join(f"{name} {value}" for name, value in describe_machine().items())
    words = f"make bench SIZES={wanted.sizes} DATABASES={wanted.databases}"
    PAGE.write_text(update_page(PAGE.read_text(), figures, f"`{words}` on: {machine}."))
    return 0


def commands(sizes: str, databases: str, only: str) -> Iterator[list[str]]:
    """Each measurement as a command; databases are made fresh for each."""
    if "manifests" in only:
        yield ["benchmarks.manifests", "--json"]
    export = shared_root() / EXPORT
    for database in databases.split(","):
        if "export" in only and export.exists():
            with fresh_url(database) as url:
                yield from ([["benchmarks.public_export", str(export), url]] if url else ())
        if "serving" in only and export.exists():
            with fresh_url(database) as url:
                served = ["benchmarks.serving", str(url), "--export", str(export)]
                yield from ([served] if url else ())
        for size in sizes.split(",") if "growth" in only else ():
            with fresh_url(database) as url:
                yield from ([["benchmarks.growth", size, url]] if url else ())


@contextmanager
def fresh_url(database: str) -> Iterator[str | None]:
    """The URL of an empty database; None, said aloud, where there is no server."""
    if database == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/ki.db"
        return
    server = start_server()
    if not isinstance(server, Server):
        print(f"PostgreSQL not measured: {server}", file=sys.stderr)
        yield None
        return
    try:
        server.execute("CREATE DATABASE bench")
        yield server.url("bench")
    finally:
        server.stop()


def run(command: list[str]) -> list[Figure]:
    """The figures that one measuring process prints."""
    process = [sys.executable, "-m", *command]
    result = subprocess.run(process, stdout=subprocess.PIPE, text=True, check=True)
    return [Figure(**json.loads(line)) for line in result.stdout.splitlines()]


def show(figures: list[Figure]) -> None:
    """The table on the terminal."""
    table = Table(title="Measured against docs/performance.md's targets")
    for column in ("work", "measured", "target", "peer, same run"):
        table.add_column(column)
    for one in figures:
        table.add_row(one.work, one.value, one.target, one.peer)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
