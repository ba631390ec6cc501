"""A whole batch: generation after generation until done, out of time, or told to stop."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex import __version__
from kernelindex.runner import batch_files, bound_files
from kernelindex.runner.sandbox import find_isolation
from kernelindex.runner.worker.bench import Bench, CutShortError, Programs
from kernelindex.runner.worker.calibrating import calibration_record
from kernelindex.runner.worker.conduct import Conduct
from kernelindex.runner.worker.damage import set_damaged_aside
from kernelindex.runner.worker.places import Places
from kernelindex.runner.worker.resume import (
    Missing,
    all_missing,
    commitment,
    load_done,
    next_missing,
    open_folder,
    reveal_seed,
)
from kernelindex.runner.worker.sentinels import sample_sentinels
from kernelindex.runner.worker.series import build_series, wanted_passes
from kernelindex.runner.worker.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kernelindex.runner.plan import Candidate, Plan, Point

COMPLETE, CUT_SHORT = "complete", "cut_short"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run, beside the plan: isolation kinds allowed, where scratch lies, and where
    compiled code is kept between batches.
    """

    programs: Programs
    kinds: tuple[str, ...] | None = None
    scratch: Path | None = None
    caches: Path | None = None


def open_bench(plan: Plan, plan_folder: Path, folder: Path, options: Options) -> Bench:
    """Open or take up the batch folder and commit to the seed; raises WorkerError.

    One that an earlier start left damaged is set aside, which is said, or refused.
    """
    started = time.monotonic()
    said = set_damaged_aside(plan, folder)
    seed = open_folder(plan, folder)
    journal = batch_files.Journal(folder)
    resumed = journal.lines > 0
    isolation = find_isolation(plan.device, options.kinds)
    journal.write(
        "resumed" if resumed else "started",
        number=plan.number,
        runner=plan.runner,
        commitment=commitment(seed),
        plan=batch_files.digest((folder / batch_files.PLAN).read_bytes()),
        isolation=isolation.facts(),
        version=__version__,
    )
    # The outcome of an earlier start speaks of a journal that has since gone on.
    (folder / batch_files.OUTCOME).unlink(missing_ok=True)
    for text in said:
        journal.write("set_aside", text=text)
        print(text, file=sys.stderr, flush=True)
    return Bench(
        plan=plan,
        plan_folder=plan_folder.resolve(),
        folder=folder.resolve(),
        seed=seed,
        programs=options.programs,
        places=Places(options.scratch, options.caches),
        isolation=isolation,
        journal=journal,
        watch=Watch(),
        deadline=started + plan.time_budget_seconds,
        started=started,
    )


@dataclass(slots=True)
class Batch:
    """Measures what is missing and keeps the folder whole after every generation."""

    bench: Bench
    done: dict[str, list[Mapping[str, Any]]]
    series: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def take_up(cls, bench: Bench) -> Batch:
        """A batch with what its folder already holds."""
        return cls(bench, load_done(bench.plan, bench.folder))

    def run(self) -> str:
        """Measure until nothing is missing or the time is over; ``complete`` or ``cut_short``."""
        bench = self.bench
        try:
            while (missing := next_missing(bench.plan, self.done)) is not None:
                self._check_fits(missing)
                self._measure(missing)
        except CutShortError:
            bench.journal.write("cut_short", reason="signal" if bench.stop else "time")
        finally:
            bench.watch.close()
            bench.places.close()
        return self._close()

    def _check_fits(self, missing: Missing) -> None:
        self.bench.check_time()
        needed = self._expected_seconds(missing)
        left = self.bench.deadline - time.monotonic()
        if needed > left:
            self.bench.say(f"{missing.text()} needs about {needed:.0f} s; {left:.0f} s are left")
            raise CutShortError

    def _expected_seconds(self, missing: Missing) -> float:
        """From generations of this point, else from the rules, on the low side."""
        known = [float(one["seconds"]) for one in self.done[missing.point.id]]
        if known:
            return min(known)
        passes = sum(len(passes) for _, passes in self._wanted(missing.point))
        return self.bench.rules.least_seconds(passes)

    def _wanted(self, point: Point) -> list[tuple[Candidate, tuple[str, ...]]]:
        """Candidates with the passes that no earlier generation refused."""
        wanted = []
        for candidate in point.candidates:
            refused: set[str] = set()
            for one in self.done[point.id]:
                refused |= set(one["members"].get(candidate.id, {}).get("failures", ()))
            passes = wanted_passes(point, candidate)
            left = tuple(one for one in passes if one not in refused)
            wanted += [(candidate, left)] if left else []
        return wanted

    def _measure(self, missing: Missing) -> None:
        bench, point = self.bench, missing.point
        bench.journal.write("generation_started", point=point.id, generation=missing.generation)
        sentinels = None
        if missing.index == 0 and not (bench.plan.is_host_trial and missing.generation):
            sentinels = sample_sentinels(bench, missing.generation)
        wanted = self._wanted(point)
        record = Conduct(bench, point, missing.generation, wanted).run()
        record["sentinels"] = sentinels
        path = batch_files.generation_file(bench.folder, missing.index, missing.generation)
        batch_files.write_json(path, record)
        self.done[point.id].append(record)
        bench.journal.write(
            batch_files.FINISHED,
            point=point.id,
            generation=missing.generation,
            file=path.name,
            digest=batch_files.digest(path.read_bytes()),
            seconds=round(record["seconds"], 3),
        )
        self._write_parts()

    def _write_parts(self) -> Sequence[Mapping[str, Any]]:
        """Everything that follows from the generations; written again after each."""
        bench = self.bench
        series = build_series(bench.plan, self.done)
        for number, one in enumerate(series):
            path = bench.folder / batch_files.SERIES / f"{number}.json.gz"
            batch_files.write_json(path, one)
        batch_files.write_json(bench.folder / batch_files.FACTS, self._facts())
        calibration = calibration_record(bench.plan, self.done)
        batch_files.write_json(bench.folder / batch_files.CALIBRATION, calibration)
        telemetry = {
            f"{number}": one["telemetry"] for number, one in enumerate(series) if one["telemetry"]
        }
        batch_files.write_json(bench.folder / batch_files.TELEMETRY, telemetry)
        return series

    def _facts(self) -> dict[str, Any]:
        probe = self.bench.facts.get("probe")
        path = self.bench.folder / batch_files.FACTS
        if probe is None and path.exists():
            kept: dict[str, Any] = batch_files.read_json(path)
            return kept
        return {
            **(probe or {}),
            "isolation": self.bench.isolation.facts(),
            "worker": {
                "version": __version__,
                "python": platform.python_version(),
                "system": platform.platform(),
                "host": platform.node(),
                "cpus": os.cpu_count(),
            },
            "judge": self.bench.facts.get("judge"),
        }

    def _close(self) -> str:
        """Write the outcome; a complete batch reveals its seed."""
        bench = self.bench
        self.series = self._write_parts()
        left = next_missing(bench.plan, self.done)
        missing = all_missing(bench.plan, self.done)
        status = COMPLETE if left is None else CUT_SHORT
        if left is None:
            reveal_seed(bench.folder, bench.seed)
        ended = {"status": status, "missing": missing}
        bound = {bound_files.FILES: bound_files.file_digests(bench.folder)}
        bench.journal.write(bound_files.ENDED, **ended, **bound)
        outcome = bound_files.outcome_of(ended, bench.journal.lines, bench.journal.head)
        batch_files.write_json(bench.folder / batch_files.OUTCOME, outcome)
        return status
