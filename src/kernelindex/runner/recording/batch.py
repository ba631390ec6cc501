"""A batch folder read back: the plan, the facts, and what became of each series."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner import batch_files
from kernelindex.runner.plan import load_plan
from kernelindex.runner.recording.protocol import Regime

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

    Raises BatchError: ``batch.unreadable`` where a part is missing or is no JSON,
    ``batch.journal`` where the chain is broken, ``batch.series`` for a series of no
    candidate of the plan.
    """
    plan = load_plan(folder / batch_files.PLAN)
    outcome = _optional(folder / batch_files.OUTCOME) or {}
    journal = outcome.get("journal") or {}
    head = _check_journal(folder, journal.get("head"))
    entries = list(batch_files.read_journal(folder))
    seed = _optional(folder / batch_files.SEED) or {}
    return Batch(
        folder=folder,
        plan=plan,
        facts=_optional(folder / batch_files.FACTS) or {},
        calibration=_optional(folder / batch_files.CALIBRATION) or {},
        series=tuple(_read_series(path, plan) for path in batch_files.series_files(folder)),
        outcome=str(outcome.get("status", "aborted")),
        missing=tuple(map(str, outcome.get("missing", ()))),
        started_at=str(entries[0]["at"]),
        ended_at=str(entries[-1]["at"]),
        seed=_text(seed.get("seed")),
        seed_commitment=_text(seed.get("commitment")) or _commitment(entries),
        journal_head=head,
    )


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
    point = next((one for one in plan.points if one.id == found.get("point")), None)
    candidates = point.candidates if point else ()
    candidate = next((one for one in candidates if one.id == found.get("candidate")), None)
    if point is None or candidate is None:
        raise BatchError(
            f"{path.name}: {found.get('candidate')} at {found.get('point')} is not in the plan",
            code="batch.series",
        )
    return Series(
        number=int(path.name.split(".")[0]),
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
        samples_ns=_samples(found.get("samplesNs") or ()),
        found=found,
    )


def _samples(generations: Any) -> tuple[tuple[tuple[float, ...], ...], ...]:
    return tuple(
        tuple(tuple(float(value) for value in one) for one in generation)
        for generation in generations
    )


def _commitment(entries: list[Mapping[str, Any]]) -> str | None:
    """What the journal's first line that has one committed to."""
    return next((str(one["commitment"]) for one in entries if "commitment" in one), None)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _optional(path: Path) -> Mapping[str, Any] | None:
    return _required(path) if path.exists() else None


def _required(path: Path) -> Mapping[str, Any]:
    try:
        found = batch_files.read_json(path)
    except (OSError, ValueError, EOFError) as error:
        raise BatchError(f"{path}: {error}; wanted JSON that the worker wrote") from error
    if not isinstance(found, dict):
        raise BatchError(f"{path}: saw {json.dumps(found)[:60]}, wanted an object")
    return found
