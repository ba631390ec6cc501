"""``ki bench ingest``: sign and publish a batch that the worker measured elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog


@click.command(name="ingest", short_help="sign and publish a batch that the worker measured")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True))
@click.option("--runner", "runner_name", metavar="NAME", help="Runner that signs (the plan's).")
@click.option(
    "--approve", "actor", metavar="NAME", envvar="KI_ACTOR",
    help="Approve this runner's key in this index, as the operator of that name.",
)  # fmt: skip
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    folder: Path,
    runner_name: str | None,
    actor: str | None,
    as_json: bool,
) -> int:
    """Take in the folder that `python -m kernelindex.runner.worker PLAN --out DIR` wrote.

    The batch must have been planned here (`ki bench plan`), under the number of the runner's
    ledger; batches are taken in their order. One that was cut short is taken as it is, and
    says so. Every series becomes a run, failed ones included.

    Exit status: 0 taken in; 1 refused, or nobody passed.
    """
    from kernelindex.cli.bench.publishing import publish
    from kernelindex.cli.bench.run import show_published
    from kernelindex.cli.bench.runner import use_runner
    from kernelindex.runner.batch_files import PLAN
    from kernelindex.runner.plan import load_plan

    runner, _ = use_runner(runner_name or load_plan(folder / PLAN).runner)
    published = publish(open_catalog(ctx, create=True), folder, runner, actor=actor)
    show_published(published, [], as_json=as_json)
    return OK if any(one.cohort.entries for one in published.ingested.judged) else FAILED
