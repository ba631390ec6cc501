"""The ledger of a runner: every batch it ever planned, and what became of each.

A file beside the runner's key, one canonical JSON object a line, only ever appended to;
each line names the digest of the line before, so a line cut out or changed is seen. It
gives batches their numbers without gaps and the digest of the batch before.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from kernelindex.errors import CanonicalError, EvidenceError
from kernelindex.manifests import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Outcome = Literal["complete", "cut_short", "aborted"]
OUTCOMES: tuple[Outcome, ...] = ("complete", "cut_short", "aborted")
PLANNED, CLOSED = "planned", "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line. ``subject`` is the plan's digest, or on closing that of the signed record."""

    event: str
    number: int
    subject: str
    at: str
    previous: str | None
    digest: str
    outcome: str | None = None


def read(path: Path) -> tuple[Entry, ...]:
    """All lines in order, checked; empty where the file is not there yet.

    Raises ``EvidenceError`` (``evidence.ledger``) at the first line that breaks the chain.
    """
    if not path.exists():
        return ()
    return _parse(path, path.read_bytes())


def next_number(path: Path) -> int:
    """The number of the next batch to plan; the first is 1."""
    return max((entry.number for entry in read(path)), default=0) + 1


def plan(path: Path, number: int, plan_digest: str, *, at: str | None = None) -> Entry:
    """Note that batch ``number`` is planned, before anything of it runs.

    Raises ``EvidenceError`` (``evidence.ledger``) unless it is the next number.
    """
    with _locked(path) as entries:
        wanted = max((entry.number for entry in entries), default=0) + 1
        if number != wanted:
            raise _refusal(path, f"the next batch is number {wanted}, not {number}")
        return _append(path, entries, PLANNED, number, plan_digest, at, None)


def close(
    path: Path, number: int, record_digest: str, outcome: Outcome, *, at: str | None = None
) -> Entry:
    """Note how batch ``number`` ended, by the digest of its signed statement.

    An aborted batch has a signed statement too. Closing again with the same digest changes
    nothing. Raises ``EvidenceError`` (``evidence.ledger``) where it was never planned, was
    closed otherwise, or the batch before it is still open.
    """
    with closing(path, number, record_digest, outcome, at=at) as close_now:
        return close_now()


@contextmanager
def closing(
    path: Path, number: int, record_digest: str, outcome: Outcome, *, at: str | None = None
) -> Iterator[Callable[[], Entry]]:
    """Hold the ledger while what closes a number is written; the value called closes it.

    Raises as ``close`` does, before the body has done anything.
    """
    with _locked(path) as entries:
        closed = {entry.number: entry for entry in entries if entry.event == CLOSED}
        before = closed.get(number)
        same = before is not None and (before.subject, before.outcome) == (record_digest, outcome)
        if not same:
            _require_closable(path, entries, closed, number, outcome)

        def close_now() -> Entry:
            if before is not None:
                return before
            return _append(path, entries, CLOSED, number, record_digest, at, outcome)

        yield close_now


def previous_digest(path: Path, number: int) -> str | None:
    """The digest of the signed record of the batch before ``number``; None for the first.

    Raises ``EvidenceError`` (``evidence.ledger``) where that batch is not closed yet.
    """
    if number == 1:
        return None
    for entry in read(path):
        if entry.event == CLOSED and entry.number == number - 1:
            return entry.subject
    raise _open_batch(path, number - 1)


def open_batches(path: Path) -> tuple[Entry, ...]:
    """The planned batches that are not closed, in order."""
    entries = read(path)
    closed = {entry.number for entry in entries if entry.event == CLOSED}
    return tuple(one for one in entries if one.event == PLANNED and one.number not in closed)


def _require_closable(
    path: Path,
    entries: tuple[Entry, ...],
    closed: dict[int, Entry],
    number: int,
    outcome: str,
) -> None:
    if outcome not in OUTCOMES:
        raise _refusal(path, f"an outcome is one of {', '.join(OUTCOMES)}, not {outcome!r}")
    if number in closed:
        raise _refusal(path, f"batch {number} was closed with {closed[number].subject}")
    if not any(entry.event == PLANNED and entry.number == number for entry in entries):
        raise _refusal(path, f"batch {number} was never planned")
    if number > 1 and number - 1 not in closed:
        raise _open_batch(path, number - 1)


def _open_batch(path: Path, number: int) -> EvidenceError:
    return _refusal(
        path,
        f"batch {number} is still open; ingest what it measured, or declare it aborted: "
        f"ki evidence abort {number}",
    )


def _append(
    path: Path,
    entries: tuple[Entry, ...],
    event: str,
    number: int,
    subject: str,
    at: str | None,
    outcome: str | None,
) -> Entry:
    values: dict[str, Any] = {
        "at": at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "event": event,
        "number": number,
        "previous": entries[-1].digest if entries else None,
        "subject": subject,
    }
    if outcome is not None:
        values["outcome"] = outcome
    line = canonical.dumps(values)
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(_whole(file.read()))
        file.seek(0, os.SEEK_END)
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return _entry(values, line)


def _whole(data: bytes) -> int:
    """How many bytes are whole lines: one that was cut off in writing was never given out."""
    return data.rfind(b"\n") + 1


def _parse(path: Path, data: bytes) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for line in data[: _whole(data)].splitlines():
        try:
            values = canonical.loads(line)
            entry = _entry(values, line)
        except (CanonicalError, KeyError, TypeError) as error:
            raise _refusal(path, f"line {len(entries) + 1} is not a ledger's: {error}") from error
        wanted = entries[-1].digest if entries else None
        if entry.previous != wanted or canonical.dumps(values) != line:
            raise _refusal(path, f"line {len(entries) + 1} does not follow the one before it")
        entries.append(entry)
    return tuple(entries)


def _entry(values: Any, line: bytes) -> Entry:
    entry = Entry(**values, digest=f"sha256:{hashlib.sha256(line).hexdigest()}")
    if type(entry.number) is not int or entry.event not in (PLANNED, CLOSED):
        raise TypeError(f"event {entry.event!r} of number {entry.number!r}")
    return entry


def _refusal(path: Path, why: str) -> EvidenceError:
    return EvidenceError(f"ledger {path.name}: {why}", code="evidence.ledger")


@contextmanager
def _locked(path: Path) -> Iterator[tuple[Entry, ...]]:
    """Hold the ledger against other writers; what it holds now."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield read(path)
