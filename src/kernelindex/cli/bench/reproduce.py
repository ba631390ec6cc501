"""``ki bench reproduce``: a published run measured again here, and what that says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from kernelindex.cli.bench.options import find_device
from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import (
    FiniteRange,
    db_option,
    device_option,
    json_option,
    open_catalog,
    print_json,
)
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog import Catalog
    from kernelindex.catalog.rows import RunRow
    from kernelindex.resolve.answer import Rerun as Shown
    from kernelindex.runner.reproduce import Rerun

SHOWING = frozenset(("confirmed", "explained", "related"))


@click.command(name="reproduce", short_help="repeat a published run here, and say what it shows")
@click.argument("ident", metavar="RUN")
@device_option
@click.option(
    "--pass", "timed_pass", type=click.Choice(("forward", "backward", "full", "inference")),
    help="The pass, where the source does not state it.",
)  # fmt: skip
@click.option("--time", "budget", type=FiniteRange(1, 86_400), help="Seconds for each batch.")
@click.option("--runner", "runner_name", metavar="NAME", help="Runner that signs (local).")
@click.option(
    "--approve", "actor", metavar="NAME", envvar="KI_ACTOR",
    help="Approve this machine's key in this index, as the operator of that name.",
)  # fmt: skip
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    ident: str,
    device: str,
    timed_pass: str | None,
    budget: float | None,
    runner_name: str | None,
    actor: str | None,
    as_json: bool,
) -> int:
    """Measure the same line, workload and pass as a published run, on this machine.

    Once as its source measures, where that protocol can be followed (Liger's do_bench, its
    weights and its one sample), and once under ours. Both batches are signed and published.
    On the same product the number is confirmed, explained, contradicted, or neither; on
    another product the rerun is related evidence, and the answer says why the two differ.

    Exit status: 0 confirmed, explained or related; 1 contradicted, inconclusive, not
    comparable or refused; 2 usage.
    """
    catalog = open_catalog(ctx)
    run = _run(catalog, ident)
    reruns, made = _reruns(catalog, run, find_device(device), timed_pass), list[str]()
    for rerun in reruns:
        if not as_json:
            click.echo(f"measuring {rerun.text}", err=True)
        made += _measure(catalog, rerun, runner_name, budget, actor, quiet=as_json)
    shown = _shown(catalog, run)
    reason = None if shown else _why_none(catalog, run, made)
    if as_json:
        reruns_said = [one.to_dict() for one in shown]
        print_json({"run": run.digest, "reruns": reruns_said, "reason": reason})
    else:
        for one in shown:
            click.echo(clean(f"{one.kind.replace('_', ' ')}: {one.text}"))
        if reason is not None:
            click.echo(clean(f"not comparable: {reason}"))
    return OK if any(one.kind in SHOWING for one in shown) else FAILED


def _run(catalog: Catalog, ident: str) -> RunRow:
    from kernelindex.errors import NotFoundError
    from kernelindex.resolve.lookup import locate

    digest = locate(catalog, "run", ident).digest
    run = catalog.run(digest)
    if run is None:
        raise NotFoundError(
            f"run {digest} has no derived row; `ki catalog rebuild` makes it",
            code="run.not_derived",
        )
    return run


def _reruns(
    catalog: Catalog, run: RunRow, device: str, timed_pass: str | None
) -> tuple[Rerun, ...]:
    from kernelindex.cli.bench.question import Options, installed_packages, workload_ask
    from kernelindex.runner.reproduce import plan_reruns

    documents = catalog.documents([run.workload_digest, run.protocol_digest])
    ask = workload_ask(documents[run.workload_digest]["spec"], Options(device=device))
    ask = replace(ask, packages=installed_packages())
    chosen = timed_pass or run.timed_pass
    return plan_reruns(ask, run.line["id"], chosen, documents[run.protocol_digest])


def _measure(
    catalog: Catalog,
    rerun: Rerun,
    runner_name: str | None,
    budget: float | None,
    actor: str | None,
    *,
    quiet: bool,
) -> list[str]:
    """Digests of the runs that a rerun came to, signed and published."""
    from kernelindex.cli.bench.publishing import publish
    from kernelindex.cli.bench.reserving import kept_open
    from kernelindex.cli.bench.run import measure
    from kernelindex.runner.planning import choose_point

    folder, runner = measure(
        [choose_point(rerun.ask)],
        device=rerun.ask.device,
        runner_name=runner_name,
        protocol=rerun.protocol,
        budget=budget,
        quiet=quiet,
        purpose="reproduce",
    )
    with kept_open(runner, [folder]):
        published = publish(catalog, folder, runner, actor=actor)
    return [
        one.run.digest
        for one in published.ingested.recorded
        if one.series.regime.timed_pass in rerun.ask.passes
    ]


def _shown(catalog: Catalog, run: RunRow) -> Sequence[Shown]:
    from kernelindex.resolve.reruns import reruns_of

    return reruns_of(catalog, run, catalog.parts(run))


def _why_none(catalog: Catalog, run: RunRow, made: Sequence[str]) -> str:
    from kernelindex.resolve.unjudged import why_unjudged

    again = [one for one in map(catalog.run, made) if one is not None]
    return why_unjudged(run, [one for one in again if one.digest != run.digest])
