"""``ki bench run``: measure a workload here, sign what was found, publish it, say who leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.bench.options import (
    DEFAULT_SECONDS,
    RULE_NAMES,
    make_options,
    rule_changes,
    rule_options,
    shape_options,
)
from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.cli.bench.publishing import Published
    from kernelindex.evidence.keystore import LocalRunner
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.planning import Choice


@click.command(name="run", short_help="measure a workload here and publish it")
@click.argument("words", nargs=-1, required=True, metavar="WORKLOAD...")
@shape_options
@rule_options
@click.option("--runner", "runner_name", metavar="NAME", help="Runner that signs (local).")
@click.option(
    "--approve", "actor", metavar="NAME", envvar="KI_ACTOR",
    help="Approve this machine's key in this index, as the operator of that name.",
)  # fmt: skip
@click.option(
    "--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True,
    help="This machine, or a Ray cluster: one batch a shape, one whole GPU each.",
)  # fmt: skip
@click.option("--address", default="auto", show_default=True, help="The Ray cluster's address.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    runner_name: str | None,
    actor: str | None,
    executor: str,
    address: str,
    protocol: str | None,
    budget: float | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Measure candidates of a workload on this machine under the controlled protocol.

    \b
    ki bench run rmsnorm tokens=512 hidden=1024 --device cpu
    ki bench run moe-mlp experts=64 bf16 --pass full --impl liger --impl sonic-moe

    WORKLOAD is a question as for `ki resolve`, or a workload's digest or slug. Every candidate
    is checked before it is timed, in a process of its own; failed ones are recorded as well.
    The batch is signed with this machine's key, made at first use, and published into the
    catalog. Its runs are verified only where the index approves that key.

    Exit status: 0 measured; 1 refused, or nobody passed; 2 usage.
    """  # noqa: D301 (click reads backspace)
    rules = {name: asked.pop(name) for name in RULE_NAMES}
    choices = choose_here(ctx, words, **asked)
    if executor == "ray":
        planning = {"protocol": protocol, "budget": budget, **rule_changes(**rules)}
        device = make_options(**asked).device
        return _on_cluster(ctx, choices, address, device, runner_name, actor, as_json, planning)
    catalog = open_catalog(ctx, create=True)
    folder, runner = measure(
        choices,
        device=make_options(**asked).device,
        runner_name=runner_name,
        protocol=protocol,
        budget=budget,
        quiet=as_json,
        **rule_changes(**rules),
    )
    from kernelindex.cli.bench.publishing import publish
    from kernelindex.cli.bench.reserving import kept_open

    with kept_open(runner, [folder]):
        published = publish(catalog, folder, runner, actor=actor)
    show_published(published, choices, as_json=as_json)
    passed = any(one.cohort.entries for one in published.ingested.judged)
    return OK if passed else FAILED


def _on_cluster(
    ctx: click.Context,
    choices: list[Choice],
    address: str,
    device: str,
    runner_name: str | None,
    actor: str | None,
    as_json: bool,
    planning: dict[str, Any],
) -> int:
    """Every point as a batch of its own on a Ray cluster."""
    from kernelindex.cli.bench.fleet import measure_on_cluster, run_and_publish

    protocol, budget = planning.pop("protocol"), planning.pop("budget")
    catalog = open_catalog(ctx, create=True)
    tasks, runner, executor = measure_on_cluster(
        choices,
        address=address,
        device=device,
        runner_name=runner_name,
        protocol=protocol or usual_protocol(device),
        time_budget_seconds=budget or DEFAULT_SECONDS,
        **planning,
    )
    sound = run_and_publish(
        tasks,
        runner,
        executor,
        catalog,
        actor=actor,
        show=lambda published: show_published(published, choices, as_json=as_json),
    )
    return OK if sound else FAILED


def usual_protocol(device: str) -> str:
    """Quick on a CPU, that of records on a GPU."""
    return "quick" if device == "cpu" else "records"


def choose_here(ctx: click.Context, words: tuple[str, ...], **asked: Any) -> list[Choice]:
    """The points of a question, with candidates whose packages are installed here."""
    from dataclasses import replace

    from kernelindex.cli.bench.question import installed_packages, read_questions
    from kernelindex.runner.planning import choose_point

    options = make_options(**asked)
    packages = installed_packages()
    asks = read_questions(words, options, lambda: open_catalog(ctx))
    choices = [choose_point(replace(ask, packages=packages)) for ask in asks]
    return list({choice.point.id: choice for choice in choices}.values())


def measure(
    choices: list[Choice],
    *,
    device: str,
    runner_name: str | None,
    protocol: str | None,
    budget: float | None,
    quiet: bool,
    purpose: str = "records",
    **rules: Any,
) -> tuple[Path, LocalRunner]:
    """Plan a batch under the runner's next number and run it; its folder and the runner.

    Raises what ``run_planned`` does, EvidenceError while an earlier batch is open.
    """
    from kernelindex.cli.bench.runner import next_number, require_closed, use_runner
    from kernelindex.runner.protocols import build_plan

    runner, made = use_runner(runner_name)
    if made and not quiet:
        click.echo(made, err=True)
    plan = build_plan(
        [one.point for one in choices],
        runner=runner.name,
        number=next_number(runner),
        device=device,
        purpose=purpose,
        protocol=protocol or usual_protocol(device),
        time_budget_seconds=budget or DEFAULT_SECONDS,
        **rules,
    )
    require_closed(runner)
    return run_planned(plan, runner, quiet=quiet), runner


def run_planned(plan: Plan, runner: LocalRunner, *, quiet: bool) -> Path:
    """Note a plan in the runner's ledger and run it here; its batch folder.

    Interrupted, it keeps what it measured. One that leaves nothing is declared aborted where
    the batch before it is closed, and raises what ended it. Raises before a number is taken
    what ``check_machine`` and ``require_ready`` refuse.
    """
    from kernelindex.cli.bench.files import with_files
    from kernelindex.cli.bench.reserving import require_ready, reserved
    from kernelindex.cli.bench.runner import batch_folder
    from kernelindex.runner.batch_files import OUTCOME
    from kernelindex.runner.running import WorkerError, check_machine

    check_machine(plan)
    require_ready(runner, plan.number)
    folder = batch_folder(runner, plan.number)
    plan = with_files(plan, folder.parent)
    with reserved(runner, [plan]):
        try:
            follow(plan, folder, quiet=quiet)
        except (WorkerError, KeyboardInterrupt):
            if not (folder / OUTCOME).exists():
                raise
    return folder


def follow(plan: Plan, folder: Path, *, quiet: bool, caches: Path | None = None) -> None:
    """Run a plan and draw how far it is, where somebody watches; ``caches`` as ``run_here``."""
    from kernelindex.cli.progress import progress_bar
    from kernelindex.runner.running import run_here

    total = len(plan.points) * plan.rules.generations
    with progress_bar("measuring", quiet=quiet) as advance:
        run_here(
            plan,
            folder,
            tell=lambda done, said: advance(done, total, said[:100]),
            caches=caches,
        )


def show_published(published: Published, choices: list[Choice], *, as_json: bool) -> None:
    """Tables and sentences for people, or one JSON object."""
    ingested = published.ingested
    if as_json:
        from kernelindex.cli.bench.documents import judged_documents

        print_json(
            {
                "batch": ingested.batch.id,
                "outcome": ingested.batch.outcome,
                "bundle": str(published.bundle),
                "record": ingested.sealed.record_digest,
                "approved": published.approved,
                "cohorts": judged_documents(ingested.judged),
                "import": published.report.to_dict(),
                "said": list(published.said),
            }
        )
        return
    from kernelindex.cli.render.bench import busy_words, print_judged
    from kernelindex.cli.terminal import show

    show(lambda screen: print_judged(screen, ingested.judged))
    click.echo("")
    seen = busy_words(ingested.batch, ingested.judged)
    for text in (*seen, *_notes(choices), *published.said, *published.report.problems):
        click.echo(text)
    click.echo(
        f"batch {ingested.batch.id} {ingested.batch.outcome.replace('_', ' ')},"
        f" signed and published: {published.bundle}"
    )


def _notes(choices: list[Choice]) -> list[str]:
    notes = [note for one in choices for note in one.notes]
    left = [f"without {name}: {why}" for one in choices for name, why in one.left_out]
    return list(dict.fromkeys([*notes, *left]))
