"""A batch folder read back: the plan, the facts, and what became of each series."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner import batch_files
from kernelindex.runner.plan import parse_plan
from kernelindex.runner.regimes import Regime
from kernelindex.runner.regular_file import read_regular
from kernelindex.stats import finite_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kernelindex.runner.plan import Candidate, Plan, Point


class BatchError(KernelIndexError):
    """Raised when a batch folder cannot be read, or contradicts its own journal."""

    code = "batch.unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One candidate at one point in one pass and regime.

    ``samples_ns`` is generation > round > sample; ``found`` is everything else the worker
    wrote of it, under the names of the batch folder.
    """

    number: int
    point: Point
    candidate: Candidate
    regime: Regime
    status: str
    reason: str
    samples_ns: tuple[tuple[tuple[float, ...], ...], ...]
    found: Mapping[str, Any] = field(repr=False)

    @property
    def sample_count(self) -> int:
        """How many samples were taken."""
        return sum(len(one) for generation in self.samples_ns for one in generation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A whole batch; the seed is None where it ended before it was revealed.

    The journal has the commitment in either case.
    """

    folder: Path
    plan: Plan
    facts: Mapping[str, Any]
    calibration: Mapping[str, Any]
    series: tuple[Series, ...]
    outcome: str
    missing: tuple[str, ...]
    started_at: str
    ended_at: str
    seed: str | None
    seed_commitment: str | None
    journal_head: str

    @property
    def id(self) -> str:
        """The name of the batch: its runner and number."""
        return f"{self.plan.runner}/{self.plan.number}"

    @property
    def on_device(self) -> bool:
        """Whether it ran on a GPU."""
        return self.plan.device != "cpu"


def read_batch(folder: Path) -> Batch:
    """Read a batch folder and follow its journal's chain.

    The folder may come from another machine, so links and what a worker does not write are
    refused. Raises PlanError for the plan, BatchError: ``batch.unreadable`` where a part is
    missing or is no JSON, ``batch.journal`` where the chain is broken, ``batch.series`` for a
    series of no candidate of the plan, or whose samples are no times.
    """
    _refuse_links(folder)
    plan = _read_plan(folder)
    outcome = _optional(folder / batch_files.OUTCOME) or {}
    journal = outcome.get("journal")
    stated = journal.get("head") if isinstance(journal, dict) else None
    head = _check_journal(folder, _text(stated))
    entries = _read_entries(folder)
    seed = _optional(folder / batch_files.SEED) or {}
    return Batch(
        folder=folder,
        plan=plan,
        facts=_optional(folder / batch_files.FACTS) or {},
        calibration=_optional(folder / batch_files.CALIBRATION) or {},
        series=tuple(_read_series(path, plan) for path in _series_files(folder)),
        outcome=str(outcome.get("status", "aborted")),
        missing=tuple(map(str, outcome.get("missing", ()))),
        started_at=str(entries[0]["at"]),
        ended_at=str(entries[-1]["at"]),
        seed=_text(seed.get("seed")),
        seed_commitment=_text(seed.get("commitment")) or _commitment(entries),
        journal_head=head,
    )


def _refuse_links(folder: Path) -> None:
    for path in (*folder.glob("*"), *folder.glob(f"{batch_files.SERIES}/*")):
        if path.is_symlink():
            raise BatchError(f"{path}: not a regular file; wanted those that the worker wrote")


def _read_plan(folder: Path) -> Plan:
    path = folder / batch_files.PLAN
    try:
        return parse_plan(read_regular(path), str(path))
    except OSError as error:
        raise BatchError(
            f"{path}: {error.strerror}; wanted the folder that the worker wrote with --out"
        ) from error


def _read_entries(folder: Path) -> list[Mapping[str, Any]]:
    """The entries of a journal whose chain holds; each has its time."""
    entries = list(batch_files.read_journal(folder))
    for one in entries:
        if not isinstance(one.get("at"), str):
            where = f"{folder / batch_files.JOURNAL}: line {one['line']}"
            raise BatchError(f"{where} has no time, wanted at", code="batch.journal")
    return entries


def _series_files(folder: Path) -> list[Path]:
    try:
        return batch_files.series_files(folder)
    except ValueError as error:
        raise BatchError(str(error), code="batch.series") from error


def _check_journal(folder: Path, head: str | None) -> str:
    try:
        check = batch_files.check_journal(folder, head)
    except OSError as error:
        raise BatchError(
            f"{folder}: no {batch_files.JOURNAL} ({error.strerror}); wanted the folder that the"
            " worker wrote with --out",
        ) from error
    if check.problem or not check.lines:
        raise BatchError(
            f"{folder / batch_files.JOURNAL}: {check.problem or 'it is empty'}; the folder was"
            " changed after it was measured, so measure again",
            code="batch.journal",
        )
    return check.head


def _read_series(path: Path, plan: Plan) -> Series:
    found = _required(path)
    lacking = [name for name in ("pass", "cache", "load", "execution") if name not in found]
    if lacking:
        raise BatchError(f"{path.name}: has no {', '.join(lacking)}", code="batch.series")
    point = next((one for one in plan.points if one.id == found.get("point")), None)
    candidates = point.candidates if point else ()
    candidate = next((one for one in candidates if one.id == found.get("candidate")), None)
    if point is None or candidate is None:
        raise BatchError(
            f"{path.name}: {found.get('candidate')} at {found.get('point')} is not in the plan",
            code="batch.series",
        )
    return Series(
        number=batch_files.series_number(path),
        point=point,
        candidate=candidate,
        regime=Regime(
            timed_pass=str(found["pass"]),
            cache=str(found["cache"]),
            load=str(found["load"]),
            execution=str(found["execution"]),
        ),
        status=str(found.get("status", "aborted")),
        reason=str(found.get("reason") or ""),
        samples_ns=_samples(found.get("samplesNs"), path.name),
        found=found,
    )


def _samples(generations: Any, where: str) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """Generation > round > sample, ns; a round or generation of null has none."""
    try:
        return tuple(
            tuple(tuple(map(_duration, one or ())) for one in generation or ())
            for generation in generations or ()
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise BatchError(
            f"{where}: samplesNs: {error}; wanted generation > round > time in ns",
            code="batch.series",
        ) from error


def _duration(value: Any) -> float:
    found = finite_number(value)
    if found is None or found <= 0.0:
        raise ValueError(f"a sample is {value!r:.40}")
    return found


def _commitment(entries: list[Mapping[str, Any]]) -> str | None:
    """What the journal's first line that has one committed to."""
    return next((str(one["commitment"]) for one in entries if "commitment" in one), None)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _optional(path: Path) -> Mapping[str, Any] | None:
    return _required(path) if os.path.lexists(path) else None


def _required(path: Path) -> Mapping[str, Any]:
    try:
        found = batch_files.read_json(path)
    except (OSError, ValueError, EOFError, zlib.error, RecursionError) as error:
        raise BatchError(f"{path}: {error}; wanted JSON that the worker wrote") from error
    if not isinstance(found, dict):
        raise BatchError(f"{path}: saw {json.dumps(found)[:60]}, wanted an object")
    return found
