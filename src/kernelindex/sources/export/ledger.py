"""What the export's own ids name, kept in a temporary file so that memory stays flat."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["History", "Known", "Ledger", "RunColumns"]

_CACHE_KIB = 32 << 10
_HELD = 32_768
"""Ids known in memory, some 16 MB, before they go to the file. A query for each of 55,000
references and 20,000 ids of the public export took 5 % of its import."""

_SCHEMA = """
CREATE TABLE known (id TEXT PRIMARY KEY, name TEXT NOT NULL, facts TEXT) WITHOUT ROWID;
CREATE TABLE run (
  comparison_key TEXT NOT NULL, observed TEXT NOT NULL, digest TEXT NOT NULL,
  id TEXT NOT NULL, value REAL NOT NULL, lower_is_better INTEGER NOT NULL);
CREATE TABLE aside (rank INTEGER NOT NULL, number INTEGER NOT NULL, line BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What an id names: a digest or slug, and what later rows need to know of it (JSON)."""

    name: str
    facts: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunColumns:
    """A passed run's place in the history of its comparison key."""

    comparison_key: str
    observed: str
    digest: str
    id: str
    value: float
    lower_is_better: bool


@dataclass(frozen=True, slots=True)
class History:
    """A run and the best one before it under the same comparison key, if any."""

    run: RunColumns
    leader_id: str | None
    leader_value: float | None

    @property
    def takes_the_lead(self) -> bool:
        """Whether the run was strictly better than everything before it."""
        if self.leader_value is None:
            return True
        if self.run.lower_is_better:
            return self.run.value < self.leader_value
        return self.run.value > self.leader_value


class Ledger:
    """A private temporary database: SQLite deletes it when it is closed or the process ends."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._held: dict[str, Known] = {}
        self._spilled = False
        self._indexed = False

    def close(self) -> None:
        """Drop everything."""
        self._db.close()

    def remember(self, ident: str, name: str, facts: str | None = None) -> None:
        """Note what ``ident`` names; the first row with an id stays."""
        if self.find(ident) is not None:
            return
        self._held[ident] = Known(name, facts)
        if len(self._held) > _HELD:
            self._spill()

    def find(self, ident: str) -> Known | None:
        """What ``ident`` names, if a row said so already."""
        held = self._held.get(ident)
        if held is not None or not self._spilled:
            return held
        row = self._db.execute("SELECT name, facts FROM known WHERE id = ?", (ident,)).fetchone()
        return None if row is None else Known(*row)

    def _spill(self) -> None:
        rows = ((ident, known.name, known.facts) for ident, known in self._held.items())
        self._db.executemany("INSERT INTO known VALUES (?, ?, ?)", rows)
        self._held.clear()
        self._spilled = True

    def put_aside(self, rank: int, number: int, line: bytes) -> None:
        """Keep a line to be read after the last one."""
        self._db.execute("INSERT INTO aside VALUES (?, ?, ?)", (rank, number, line))

    def set_aside(self) -> Iterator[tuple[int, bytes]]:
        """The lines put aside, in the order of their tables, then of the file."""
        self._db.execute("CREATE INDEX IF NOT EXISTS aside_order ON aside (rank, number)")
        yield from self._db.execute("SELECT number, line FROM aside ORDER BY rank, number")

    def record(self, run: RunColumns) -> None:
        """Note a passed run."""
        self._db.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)",
            (
                run.comparison_key,
                run.observed,
                run.digest,
                run.id,
                run.value,
                run.lower_is_better,
            ),
        )

    def history(self, run_id: str) -> History | None:
        """Where a recorded run stands among the earlier ones of its key, by instant then digest."""
        self._index_runs()
        found = self._db.execute("SELECT * FROM run WHERE id = ?", (run_id,)).fetchone()
        if found is None:
            return None
        run = _columns(found)
        best = self._db.execute(
            "SELECT id, value FROM run WHERE comparison_key = ? AND (observed, digest) < (?, ?)"
            " ORDER BY CASE ? WHEN 1 THEN value ELSE -value END, observed, digest LIMIT 1",
            (run.comparison_key, run.observed, run.digest, run.lower_is_better),
        ).fetchone()
        return History(run, None, None) if best is None else History(run, best[0], best[1])

    def _index_runs(self) -> None:
        if not self._indexed:
            self._db.execute("CREATE INDEX run_id ON run (id)")
            self._db.execute("CREATE INDEX run_order ON run (comparison_key, observed, digest)")
            self._indexed = True


def _columns(row: tuple[str, str, str, str, float, int]) -> RunColumns:
    return RunColumns(
        comparison_key=row[0],
        observed=row[1],
        digest=row[2],
        id=row[3],
        value=row[4],
        lower_is_better=bool(row[5]),
    )
