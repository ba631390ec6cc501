"""``ki bench run --executor ray``: one batch a point on a cluster, published as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.bench.files import with_files
from kernelindex.cli.bench.publishing import Published, publish
from kernelindex.cli.bench.reserving import (
    kept_open,
    require_ready,
    reserved,
)
from kernelindex.cli.bench.runner import (
    batch_folder,
    bundle_folder,
    next_number,
    require_closed,
    use_runner,
)
from kernelindex.evidence.aborting import abort_batch
from kernelindex.runner.executors import Failed, Task, run_fleet
from kernelindex.runner.executors.ray_cluster import RayExecutor
from kernelindex.runner.protocols import build_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kernelindex.catalog import Catalog
    from kernelindex.evidence.keystore import LocalRunner
    from kernelindex.runner.executors import Executor, Outcome
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.planning import Choice


def measure_on_cluster(
    choices: list[Choice],
    *,
    address: str,
    device: str,
    runner_name: str | None,
    **planning: Any,
) -> tuple[list[Task], LocalRunner, Executor]:
    """Connect, then plan a batch for every point; raises FleetError before a number is taken.

    So does all else that can refuse: the numbers are taken once every task is made.
    """
    executor = RayExecutor(address)
    runner, made = use_runner(runner_name)
    if made:
        click.echo(made, err=True)
    require_closed(runner)
    first = next_number(runner)
    tasks = [
        _task(one, runner, number, device, planning)
        for number, one in enumerate(choices, start=first)
    ]
    with reserved(runner, [task.plan for task in tasks]):
        return tasks, runner, executor


def _task(choice: Choice, runner: LocalRunner, number: int, device: str, planning: Any) -> Task:
    require_ready(runner, number)
    plan = build_plan([choice.point], runner=runner.name, number=number, device=device, **planning)
    folder = batch_folder(runner, number)
    plan = with_files(plan, folder.parent)
    return Task(id=folder.name, plan=plan, files=_files(plan, folder.parent))


def _files(plan: Plan, folder: Path) -> dict[str, bytes]:
    candidates = (one for point in plan.points for one in point.candidates)
    return {one.file: (folder / one.file).read_bytes() for one in candidates if one.file}


def run_and_publish(
    tasks: list[Task],
    runner: LocalRunner,
    executor: Executor,
    catalog: Catalog,
    *,
    actor: str | None,
    show: Callable[[Published], None],
) -> bool:
    """Run every task and publish each as it comes; whether every point had a result.

    A task that no node could finish is declared aborted, so that the ledger has no gap.
    """
    sound: list[bool] = []

    def hand_on(outcome: Outcome) -> None:
        for text in outcome.said:
            click.echo(text, err=True)
        if isinstance(outcome, Failed):
            click.echo(f"batch {outcome.task} was not measured: {outcome.text}", err=True)
            number, reason = int(outcome.task), "no node measured it"
            abort_batch(runner, number, bundle_folder(runner), reason=reason)
            sound.append(False)
            return
        published = publish(catalog, outcome.folder, runner, actor=actor)
        show(published)
        sound.append(any(one.cohort.entries for one in published.ingested.judged))

    folder = batch_folder(runner, 0).parent
    with kept_open(runner, [folder / task.id for task in tasks]):
        run_fleet(tasks, executor, folder, hand_on)
    return bool(sound) and all(sound)
