"""What an earlier start of a batch left damaged: set aside, or refused where it had measured."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.runner import batch_files
from kernelindex.runner.plan import PlanError, parse_plan
from kernelindex.runner.regular_file import read_regular
from kernelindex.runner.torn import set_aside
from kernelindex.runner.worker.resume import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kernelindex.runner.plan import Plan

_SEED = re.compile(rb"[0-9a-f]{64}\s*")


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a batch folder that cannot be taken up, what was seen in it, and how many
    generations the folder holds measured whole.
    """

    folder: Path
    file: str
    seen: str
    finished: int

    def set_aside(self) -> str:
        """Rename the folder, which has no finished generation; what was done, in words."""
        aside = set_aside(self.folder)
        kept = aside.name if aside else "nothing"
        return (
            f"{self.file} of an earlier start is damaged ({self.seen}); no generation was finished,"
            f" so its folder is kept as {kept} and the batch is measured anew"
        )


def find_damage(plan: Plan, folder: Path) -> Damage | None:
    """What keeps the folder of ``plan`` from being taken up; nothing is written.

    Nothing of a folder of another plan, which is no damage. Raises OSError for files that
    cannot be read.
    """
    finished = _count_finished(folder)
    found: Iterable[tuple[str, str]] = _problems(plan, folder, finished) if folder.is_dir() else ()
    return next((Damage(folder, file, seen, finished) for file, seen in found), None)


def _count_finished(folder: Path) -> int:
    """Generations that are there, or that the journal says were."""
    there = {path.name for path in batch_files.finished_generations(folder)}
    return len(there | set(batch_files.journaled_generations(folder)))


def set_damaged_aside(plan: Plan, folder: Path) -> list[str]:
    """``clear_damage`` of one folder."""
    found = find_damage(plan, folder)
    return clear_damage([found] if found else [])


def clear_damage(damaged: Iterable[Damage]) -> list[str]:
    """Set aside the folders, told in words; raises WorkerError before where one had measured."""
    found = list(damaged)
    for one in found:
        if one.finished:
            raise WorkerError(_refusal(one))
    return [one.set_aside() for one in found]


def _refusal(one: Damage) -> str:
    count = "1 generation" if one.finished == 1 else f"{one.finished} generations"
    return (
        f"{one.folder / one.file}: {one.seen}. {count} of this batch would be lost, so it is"
        f" neither taken up nor measured anew, and nothing was written. Put {one.file} back as it"
        f" was, or move {one.folder} elsewhere to measure the batch anew"
    )


def _problems(plan: Plan, folder: Path, finished: int) -> Iterator[tuple[str, str]]:
    """Each damaged file and what was seen, the plan first."""
    journal = batch_files.check_whole_lines(folder)
    begun = bool(journal.lines or journal.problem or finished)
    try:
        if _read_plan(folder) != plan:
            return
    except FileNotFoundError:
        if begun:
            yield batch_files.PLAN, "it is not there, though the batch was begun"
    except PlanError as error:
        yield batch_files.PLAN, error.message.removeprefix(f"{batch_files.PLAN}: ")
    if journal.problem:
        yield batch_files.JOURNAL, journal.problem
    elif finished and not journal.lines:
        yield batch_files.JOURNAL, "it has no entry, though a generation is finished"
    yield from _seed_problem(folder)
    yield from _generation_problems(folder)


def _read_plan(folder: Path) -> Plan:
    return parse_plan(read_regular(folder / batch_files.PLAN), batch_files.PLAN)


def _generation_problems(folder: Path) -> Iterator[tuple[str, str]]:
    """Generations that are not what the journal says was measured."""
    for name, wanted in batch_files.journaled_generations(folder).items():
        file = f"{batch_files.GENERATIONS}/{name}"
        try:
            seen = batch_files.file_digest(folder / file)
        except OSError as error:
            yield file, str(error.strerror)
            continue
        if seen is None:
            yield file, "it is not there, though the journal says that it was finished"
        elif seen != wanted:
            yield file, f"it is {seen}, the journal says {wanted}"


def _seed_problem(folder: Path) -> Iterator[tuple[str, str]]:
    """A seed that was cut short would be another seed than the journal commits to."""
    try:
        seed = read_regular(folder / batch_files.SEED_SECRET)
    except FileNotFoundError:
        return
    if not _SEED.fullmatch(seed):
        yield batch_files.SEED_SECRET, f"{len(seed)} bytes, wanted 64 hex digits"
