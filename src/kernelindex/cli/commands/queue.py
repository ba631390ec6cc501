"""``ki queue``: read what people sent, and decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import (
    actor_option,
    db_option,
    json_option,
    limit_option,
    open_catalog,
    print_json,
)
from kernelindex.cli.terminal import clean, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.catalog import Catalog
    from kernelindex.community import Contribution

STATES = ("pending", "accepted", "refused", "all")
KINDS = ("reproduction", "note", "report")


@click.group(name="queue", short_help="review attestations and reports")
def command() -> None:
    """Review what people sent about runs; nothing of it shows before it is accepted.

    None of these decisions changes an evidence level; retract and supersede change what
    ranks, through the catalog's corrections. Each is kept in the audit log.
    """


@command.command(name="list")
@click.option("--state", type=click.Choice(STATES), default="pending", show_default=True)
@click.option("--kind", type=click.Choice(KINDS), help="Only these.")
@click.option("--run", metavar="RUN", help="Only what is about this run.")
@click.option("--cursor", metavar="TEXT", help="Where the previous page ended.")
@limit_option(25)
@json_option
@db_option
@click.pass_context
def list_(
    ctx: click.Context,
    state: str,
    kind: str | None,
    run: str | None,
    cursor: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List contributions, newest first. Exit status 1 where there are none."""
    from kernelindex.cli.render.community import print_contributions
    from kernelindex.community import list_contributions

    catalog = open_catalog(ctx)
    found = list_contributions(
        catalog,
        state=None if state == "all" else state,
        kinds=(kind,) if kind else (),
        run=_digest(catalog, run) if run else None,
        cursor=cursor,
        limit=limit,
    )
    if as_json:
        print_json(
            {"contributions": [one.to_dict() for one in found.items], "cursor": found.cursor}
        )
    elif found.items:
        show(lambda screen: print_contributions(screen, found.items))
    else:
        click.echo("nothing waits" if state == "pending" else "nothing found")
    if found.cursor and not as_json:
        click.echo(f"\nmore: --cursor {found.cursor}")
    return OK if found.items else FAILED


@command.command(name="show")
@click.argument("item", metavar="ITEM")
@json_option
@db_option
@click.pass_context
def show_(ctx: click.Context, item: str, as_json: bool) -> None:
    """Print one contribution in full, with what was decided about it."""
    from kernelindex.cli.render.community import print_contribution
    from kernelindex.community import find_contribution, read_audit

    catalog = open_catalog(ctx)
    found = find_contribution(catalog, item)
    log = read_audit(catalog, subject=found.id, limit=100).items
    if as_json:
        print_json({**found.to_dict(), "decisions": [entry.to_dict() for entry in log]})
    else:
        show(lambda screen: print_contribution(screen, found, log))


def decision(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and the options that every decision takes."""
    for decorate in (
        click.pass_context,
        db_option,
        json_option,
        actor_option,
        click.option("--reason", required=True, metavar="TEXT", help="Why, in a sentence."),
        click.argument("item", metavar="ITEM"),
    ):
        function = decorate(function)
    return function


@command.command()
@decision
def accept(ctx: click.Context, item: str, reason: str, actor: str, as_json: bool) -> None:
    """Accept a contribution: it shows on the run's page from now on."""
    _decide(ctx, "accept", item, actor, reason, as_json=as_json)


@command.command()
@decision
def refuse(ctx: click.Context, item: str, reason: str, actor: str, as_json: bool) -> None:
    """Refuse a contribution, or take an accepted one down."""
    _decide(ctx, "refuse", item, actor, reason, as_json=as_json)


@command.command(short_help="Retract the run that it is about, and accept it.")
@decision
def retract(ctx: click.Context, item: str, reason: str, actor: str, as_json: bool) -> None:
    """Retract the run that the contribution is about, and accept the contribution."""
    _correct(ctx, "retract", item, actor, reason, as_json=as_json)


@command.command(short_help="Supersede the run that it is about, and accept it.")
@click.option("--by", "by", metavar="RUN", required=True, help="The run that replaces it.")
@decision
def supersede(
    ctx: click.Context, item: str, by: str, reason: str, actor: str, as_json: bool
) -> None:
    """Supersede the run that the contribution is about, and accept the contribution."""
    _correct(ctx, "supersede", item, actor, reason, by=by, as_json=as_json)


@command.command()
@click.option("--item", metavar="ITEM", help="Only what was decided about this contribution.")
@click.option("--cursor", metavar="TEXT", help="Where the previous page ended.")
@limit_option(50)
@json_option
@db_option
@click.pass_context
def audit(
    ctx: click.Context, item: str | None, cursor: str | None, limit: int, as_json: bool
) -> int:
    """List who decided what, when and why, newest first; keys and logins too."""
    from kernelindex.cli.render.community import print_audit
    from kernelindex.community import find_contribution, read_audit

    catalog = open_catalog(ctx)
    subject = find_contribution(catalog, item).id if item else None
    found = read_audit(catalog, subject=subject, cursor=cursor, limit=limit)
    if as_json:
        print_json({"entries": [one.to_dict() for one in found.items], "cursor": found.cursor})
    elif found.items:
        show(lambda screen: print_audit(screen, found.items))
    else:
        click.echo("nothing was decided yet")
    if found.cursor and not as_json:
        click.echo(f"\nmore: --cursor {found.cursor}")
    return OK if found.items else FAILED


def _decide(
    ctx: click.Context, verdict: str, item: str, actor: str, reason: str, *, as_json: bool
) -> None:
    from kernelindex.community import Verdict, decide

    catalog = open_catalog(ctx)
    settled = decide(catalog, item, Verdict(verdict), actor=actor, reason=reason)
    _print_settled(settled, settled.state, as_json=as_json)


def _correct(
    ctx: click.Context,
    action: str,
    item: str,
    actor: str,
    reason: str,
    *,
    as_json: bool,
    by: str | None = None,
) -> None:
    from kernelindex.community import correct_run
    from kernelindex.resolve.review import corrector

    catalog = open_catalog(ctx)
    by_digest = _digest(catalog, by) if by else None
    settled = correct_run(
        catalog, item, action, corrector(catalog), actor=actor, reason=reason, by_digest=by_digest
    )
    done = "retracted" if action == "retract" else "superseded"
    _print_settled(settled, f"run {done}, item {settled.state}", as_json=as_json)


def _print_settled(settled: Contribution, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"done": done, **settled.to_dict()})
    else:
        click.echo(clean(f"{done}: {settled.kind} {settled.id[7:15]} by {settled.by}"))


def _digest(catalog: Catalog, ident: str) -> str:
    from kernelindex.resolve.lookup import locate

    return locate(catalog, "run", ident).digest
