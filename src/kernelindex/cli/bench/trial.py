"""One trial of an own kernel: the batches it runs, in a folder that is kept or thrown away."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.cli.bench.reserving import kept_open
from kernelindex.cli.bench.run import follow, run_planned
from kernelindex.runner.ingest import read_and_judge
from kernelindex.runner.recording import RunnerFacts
from kernelindex.runner.trying import other_shapes, plan_trial, read_trials, usual_shapes
from kernelindex.settings import compiled_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog import Catalog
    from kernelindex.evidence.keystore import LocalRunner
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.planning import Ask, Choice
    from kernelindex.runner.trying import Trial

NOBODY = RunnerFacts(id="try")
NO_OTHERS = "other published shapes were left out, as on a CPU they take long: --shapes 2"


@dataclass(slots=True)
class Session:
    """Where the batches of a trial go, and the runner that will sign them, if any."""

    folder: Path
    runner: LocalRunner | None
    temporary: tempfile.TemporaryDirectory[str] | None = None
    batches: list[Path] = field(default_factory=list)

    @classmethod
    def open(cls, keep: Path | None, *, publish: bool) -> Session:
        """A session in ``keep``, else in a folder that goes with the process."""
        from kernelindex.cli.bench.runner import require_closed, use_runner

        runner = use_runner()[0] if publish else None
        if runner is not None:
            require_closed(runner)
            return cls(runner.folder / "batches", runner)
        temporary = None if keep else tempfile.TemporaryDirectory(prefix="ki-try-")
        return cls(keep or Path(temporary.name if temporary else "."), None, temporary)

    def close(self) -> None:
        """Remove what is not kept."""
        if self.temporary is not None:
            self.temporary.cleanup()

    @property
    def number(self) -> int:
        """The number of the next batch: of the ledger where it will be signed."""
        from kernelindex.cli.bench.runner import next_number

        return next_number(self.runner) if self.runner else len(self.batches)

    def run(self, plan: Plan, *, quiet: bool) -> Path:
        """Run one plan; its batch folder."""
        from kernelindex.cli.bench.files import with_files

        if self.runner is not None:
            plan = replace(plan, runner=self.runner.name, number=self.number)
            with kept_open(self.runner, self.batches):
                folder = run_planned(plan, self.runner, quiet=quiet)
        else:
            folder = self.folder / f"{plan.number:05d}"
            caches = compiled_folder()
            follow(with_files(plan, folder.parent), folder, quiet=quiet, caches=caches)
        self.batches.append(folder)
        return folder

    def publish(self, catalog: Catalog) -> list[str]:
        """Sign and import every batch of the session; sentences for people."""
        from kernelindex.cli.bench.publishing import publish

        assert self.runner is not None
        said: list[str] = []
        for folder in self.batches:
            with kept_open(self.runner, self.batches):
                published = publish(catalog, folder, self.runner, actor=None)
            said += [*published.said, f"published: {published.bundle}"]
        return list(dict.fromkeys(said))


def try_here(
    ask: Ask,
    session: Session,
    *,
    against: Sequence[str],
    shapes: int | None,
    quiet: bool,
    rules: dict[str, Any],
) -> tuple[tuple[Trial, ...], Choice, list[Path]]:
    """Run the trial, then other shapes beside its best rival where it was right.

    ``shapes`` is how many others; None: as many as suit the device.
    """
    plan, choice = plan_trial(ask, against=against, number=session.number, **rules)
    if shapes is None:
        shapes = usual_shapes(ask.device)
        choice = choice if shapes else replace(choice, notes=(*choice.notes, NO_OTHERS))
    trials = _trials(session.run(plan, quiet=quiet), plan)
    rivals = [rival.id for one in trials for rival in one.rivals[:1]]
    if shapes and trials and all(one.correct for one in trials) and rivals:
        wider = other_shapes(plan, rivals[0], shapes)
        if wider is not None:
            trials += _trials(session.run(wider, quiet=quiet), wider)
    return trials, choice, session.batches


def _trials(folder: Path, plan: Plan) -> tuple[Trial, ...]:
    batch, _, judged = read_and_judge(folder, NOBODY)
    return read_trials(batch, judged, plan.points[0].candidates[0].id)
