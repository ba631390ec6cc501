"""The folder of one batch: names, atomic writes, the chained journal, reading back.

plan.json            the plan as given
journal.jsonl        what happened, append-only; every line names the digest of the one before,
                     the last one those of all files but its own and the outcome's
seed.secret          the seed until it is revealed, so that a resumed batch keeps it
seed.json            {seed, commitment} once the batch has ended
facts.json           the environment and the isolation used
calibration.json     self-checks, sentinels, floor, tick, anchor
generations/<point>-<generation>.json.gz   everything one generation measured (for resuming)
abandoned/           rounds of a generation that was cut short; it is measured anew
series/<n>.json.gz   one a point, candidate, pass, cache, load and execution
telemetry.json.gz    samples of the device's sensors
outcome.json         {status, missing, journal: {lines, head}}
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.regular_file import open_regular, read_regular
from kernelindex.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PLAN = "plan.json"
JOURNAL = "journal.jsonl"
SEED_SECRET = "seed.secret"
SEED = "seed.json"
FACTS = "facts.json"
CALIBRATION = "calibration.json"
TELEMETRY = "telemetry.json.gz"
OUTCOME = "outcome.json"
SERIES = "series"
GENERATIONS = "generations"
ABANDONED = "abandoned"
FINISHED = "generation_finished"
"""The entry of a journal that names a generation's file and its digest."""
NO_LINE = "sha256:" + "0" * 64
_SERIES_NAME = re.compile(r"(?:0|[1-9][0-9]{0,5})\.json\.gz")


def digest(data: bytes) -> str:
    """``sha256:<hex>`` of bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def dump_json(value: Any) -> bytes:
    """Compact JSON with sorted keys; refuses numbers that are not finite."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically; gzip (without a time, so equal data is equal bytes) for ``.gz``."""
    data = dump_json(value) + b"\n"
    write_whole(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read_json(path: Path, limit_bytes: int = 1 << 30) -> Any:
    """The JSON of a file of this folder; raises ValueError, EOFError or OSError."""
    if path.suffix != ".gz":
        return json.loads(read_regular(path))
    with open_regular(path) as packed, gzip.GzipFile(fileobj=packed) as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise ValueError(f"{path}: unpacks to more than {limit_bytes} bytes")
    return json.loads(data)


def file_digest(path: Path) -> str | None:
    """The digest of a file of this folder; None where it is not there. Raises OSError."""
    try:
        return digest(read_regular(path))
    except FileNotFoundError:
        return None


def series_files(folder: Path) -> list[Path]:
    """The series of a batch in their numbers' order; raises ValueError for a file that is none."""
    place = folder / SERIES
    if place.is_symlink():
        raise ValueError(f"{place}: a link, wanted a folder")
    found = [path for path in place.glob("*") if path.suffix != ".part"]
    for path in found:
        if not _SERIES_NAME.fullmatch(path.name):
            raise ValueError(f"{path}: wanted the number of a series, as in 0.json.gz")
    return sorted(found, key=series_number)


def series_number(path: Path) -> int:
    """The number in the name of a series' file."""
    return int(path.name.partition(".")[0])


def finished_generations(folder: Path) -> list[Path]:
    """The files of the generations that are measured whole."""
    return sorted((folder / GENERATIONS).glob("*.json.gz"))


def journaled_generations(folder: Path) -> dict[str, str | None]:
    """File -> digest of each generation that the journal says is finished; the last word counts.

    A line that is none is passed over: whether the chain holds is asked elsewhere. Raises OSError.
    """
    found: dict[str, str | None] = {}
    for line in _whole_lines(folder / JOURNAL)[0].splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and entry.get("event") == FINISHED:
            found[str(entry.get("file"))] = entry.get("digest")
    return found


def generation_file(folder: Path, point: int, generation: int) -> Path:
    """Where a generation of a point is kept."""
    return folder / GENERATIONS / f"{point}-{generation}.json.gz"


def abandoned_file(folder: Path, point: int, generation: int, line: int) -> Path:
    """Where the rounds of a generation that was cut short are kept; ``line`` of the journal."""
    return folder / ABANDONED / f"{point}-{generation}-{line}.json.gz"


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """Whether a journal's chain holds; ``problem`` says where it first does not."""

    lines: int
    head: str
    problem: str | None


def check_journal(folder: Path, head: str | None = None) -> JournalCheck:
    """Follow the chain; a line changed, deleted, added or moved breaks it.

    ``head`` is the last digest as the outcome or a signature states it: only with it is a
    line missing at the end noticed.
    """
    found = _follow(read_regular(folder / JOURNAL))
    if found.problem is None and head not in (None, found.head):
        return JournalCheck(found.lines, found.head, f"it ends in {found.head}, not in {head}")
    return found


def check_whole_lines(folder: Path) -> JournalCheck:
    """The chain of an unfinished batch, whose last line a killed writer may have torn.

    Nothing is written; a journal that is not there has no lines. Raises OSError.
    """
    return _follow(_whole_lines(folder / JOURNAL)[0])


def _whole_lines(path: Path) -> tuple[bytes, int]:
    """A journal without a torn last line, and how many bytes that has."""
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return b"", 0
    whole = data.rfind(b"\n") + 1
    return data[:whole], len(data) - whole


def _follow(data: bytes) -> JournalCheck:
    lines, previous = 0, NO_LINE
    for at, line in enumerate(data.splitlines(), start=1):
        problem = _line_problem(line, at, previous)
        if problem:
            return JournalCheck(lines, previous, problem)
        lines, previous = at, digest(line)
    return JournalCheck(lines, previous, None)


def _line_problem(line: bytes, at: int, previous: str) -> str | None:
    try:
        body = json.loads(line)
        seen = (body["line"], body["previous"])
    except (ValueError, KeyError, TypeError):
        return f"line {at} is not an entry"
    if seen != (at, previous):
        return f"line {at} is numbered {seen[0]} after {seen[1]}, not after {previous}"
    return None


def read_journal(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The entries of a journal, unchecked; see ``check_journal``."""
    for line in read_regular(folder / JOURNAL).splitlines():
        yield json.loads(line)


class Journal:
    """The journal opened for appending; a torn last line of a killed writer is cut and said."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        whole, torn = _whole_lines(self._path)
        check = _follow(whole)
        if check.problem:
            raise ValueError(f"{self._path}: {check.problem}; start a new batch folder")
        self.lines, self.head = check.lines, check.head
        self._lock = threading.Lock()
        if torn:
            os.truncate(self._path, len(whole))
            self.write("torn_line_cut", bytes=torn)

    def write(self, event: str, **fields: Any) -> None:
        """Append one entry and make it durable."""
        with self._lock:
            self._append(event, fields)

    def _append(self, event: str, fields: Mapping[str, Any]) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        body = {"line": self.lines + 1, "previous": self.head, "at": at, "event": event, **fields}
        line = dump_json(body)
        with self._path.open("ab") as file:
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines, self.head = self.lines + 1, digest(line)
