"""Own files of candidates beside their plan, so that a plan says no path of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.runner import batch_files
from kernelindex.whole_file import write_whole

if TYPE_CHECKING:
    from kernelindex.runner.plan import Candidate, Plan, Point


def with_files(plan: Plan, folder: Path) -> Plan:
    """The plan with every own file copied below ``folder``, where the plan will lie."""
    return replace(plan, points=tuple(_point(one, folder) for one in plan.points))


def _point(point: Point, folder: Path) -> Point:
    kept = tuple(_candidate(one, folder) for one in point.candidates)
    return replace(point, candidates=kept)


def _candidate(candidate: Candidate, folder: Path) -> Candidate:
    if candidate.file is None or not Path(candidate.file).is_absolute():
        return candidate
    body = Path(candidate.file).read_bytes()
    digest = batch_files.digest(body).removeprefix("sha256:")[:12]
    name = f"files/{digest}-{Path(candidate.file).name}"
    write_whole(folder / name, body)
    return replace(candidate, file=name)
