"""A clock that tests move, contributions, and a catalog with runs to write about."""

from __future__ import annotations

import atexit
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.intake import Row
from kernelindex.community import (
    Contribution,
    IssuedKey,
    Quotas,
    issue_key,
    submit_attestation,
    submit_report,
)
from tests.catalog.factories import World, make_snapshot
from tests.support.folders import lasting_folder

RUN = "sha256:" + "a" * 64
OTHER_RUN = "sha256:" + "b" * 64
SECRET = b"s" * 32
HOSTILE = "<script>alert(1)</script>\u202e\u2066\x1b[2J{{ 7*7 }}' OR 1=1 -- &amp; 名前 \U0001f600"


@dataclass
class Clock:
    """A clock that only moves when told to."""

    now: datetime = field(default_factory=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def make_key(database: Catalog, clock: Clock, *scopes: str, **more: Any) -> IssuedKey:
    """A key of these scopes, ``attest`` where none is given."""
    more = {"owner": "Ada", "actor": "root"} | more
    return issue_key(database, scopes=scopes or ("attest",), clock=clock, **more)


def reproduction(**more: Any) -> dict[str, Any]:
    """A valid reproduction with these fields; None leaves one out."""
    base = {
        "kind": "reproduction",
        "outcome": "confirmed",
        "value": 5.76,
        "unit": "ms",
        "hardware": "one H100 SXM5 80 GB",
        "software": "torch 2.8, triton 3.4",
        "text": "same within 1 %",
        "link": "https://example.org/log.txt",
    }
    return {name: value for name, value in (base | more).items() if value is not None}


def note(text: str = "the loop is a copy", **more: Any) -> dict[str, Any]:
    """A valid note."""
    return {"kind": "note", "text": text, **more}


def report(text: str = "the value is of another GPU", **more: Any) -> dict[str, Any]:
    """A valid report."""
    return {"reason": "wrong_value", "text": text, **more}


def send_note(
    database: Catalog, clock: Clock, key: IssuedKey, text: str = "a note", run: str = RUN
) -> Contribution:
    """A pending note on a run."""
    return submit_attestation(database, run, note(text), key.token, clock=clock)


def send_report(
    database: Catalog,
    clock: Clock,
    text: str = "it is wrong",
    *,
    run: str = RUN,
    reporter: str = "anonymous:1",
    quotas: Quotas | None = None,
) -> Contribution:
    """A pending anonymous report on a run."""
    return submit_report(
        database,
        run,
        report(text),
        reporter=reporter,
        clock=clock,
        quotas=quotas or Quotas(),
    )


def fill(database: Catalog) -> tuple[str, str]:
    """Import two runs of one cohort; returns the digests of the fast and the slow one."""
    import_records(database, make_snapshot(), _two_runs())
    return _two_digests()


def filled_copy(folder: Path) -> tuple[str, str, str]:
    """URL of a SQLite catalog of its own that ``fill`` filled, and the two digests."""
    shutil.copyfile(_filled(), folder / "filled.db")
    return f"sqlite:///{folder / 'filled.db'}", *_two_digests()


class Switch:
    """Stands for whichever catalog is put behind it: making an application takes 60 ms."""

    target: Catalog

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


@cache
def filled_switch() -> Switch:
    """A switch that begins at a filled catalog, for applications made once."""
    switch = Switch()
    switch.target = Catalog.open(f"sqlite:///{_filled()}")
    atexit.register(switch.target.close)
    return switch


def _two_runs() -> list[Row]:
    world = World()
    return [world.row("fast", 1000), world.row("slow", 3000)]


@cache
def _two_digests() -> tuple[str, str]:
    fast, slow = (row.observation.run_digest for row in _two_runs() if row.observation)
    return fast, slow


@cache
def _filled() -> Path:
    """One filled catalog to copy, made once in a process."""
    folder = lasting_folder("filled")
    with Catalog.create(f"sqlite:///{folder / 'ki.db'}") as database:
        fill(database)
    return folder / "ki.db"
