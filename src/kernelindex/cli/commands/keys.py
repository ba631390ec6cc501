"""``ki keys``: make, list and revoke the keys that people and operators sign with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.options import (
    actor_option,
    db_option,
    json_option,
    open_catalog,
    print_json,
)
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.community import Key

SCOPES = ("attest", "report", "admin")


@click.group(name="keys", short_help="make, list and revoke API keys")
def command() -> None:
    """Keep the keys that sign attestations and reports, and that open the operators' page."""


@command.command()
@click.option("--owner", required=True, metavar="NAME", help="Whose it is; shown with notes.")
@click.option(
    "--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES),
    help="What it may do; give it again for more.",
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 1095), help="How long it lasts (365; 90 for admin).")
@actor_option
@json_option
@db_option
@click.pass_context
def new(
    ctx: click.Context,
    owner: str,
    scopes: tuple[str, ...],
    days: int | None,
    actor: str,
    as_json: bool,
) -> None:
    """Make a key and print it: it is shown this once and stored only as a hash."""
    from kernelindex.community import issue_key, utc_now

    issued = issue_key(open_catalog(ctx), owner=owner, scopes=scopes, days=days, actor=actor)
    if as_json:
        print_json({**issued.key.to_dict(utc_now()), "token": issued.token})
        return
    click.echo(issued.token)
    click.echo(
        f"key {issued.key.id} of {clean(owner)}: {', '.join(issued.key.scopes)}, until"
        f" {issued.key.expires_at[:10]}. Keep it now: it cannot be shown again.",
        err=True,
    )


@command.command(name="list")
@json_option
@db_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List all keys, newest first; the keys themselves are not stored."""
    from kernelindex.cli.terminal import show
    from kernelindex.community import list_keys, utc_now

    found, now = list_keys(open_catalog(ctx)), utc_now()
    if as_json:
        print_json({"keys": [key.to_dict(now) for key in found]})
    elif not found:
        click.echo("no keys; make one: ki keys new --owner NAME --scope attest")
    else:
        show(lambda screen: _print_keys(screen, found, now))


@command.command()
@click.argument("ident", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in a sentence.")
@actor_option
@json_option
@db_option
@click.pass_context
def revoke(ctx: click.Context, ident: str, reason: str, actor: str, as_json: bool) -> None:
    """Make the key of this id useless, now and for ever; its notes stay."""
    from kernelindex.community import revoke_key, utc_now

    key = revoke_key(open_catalog(ctx), ident, actor=actor, reason=reason)
    if as_json:
        print_json(key.to_dict(utc_now()))
    else:
        click.echo(clean(f"revoked: key {key.id} of {key.owner}"))


def _print_keys(screen: Console, found: tuple[Key, ...], now: Any) -> None:
    from kernelindex.cli.render.tables import Column, build_table

    columns = (
        Column("key"),
        Column("owner", flexible=True),
        Column("may", flexible=True),
        Column("state"),
        Column("made"),
        Column("until"),
        Column("last used"),
    )
    rows = [
        (
            key.id,
            clean(key.owner),
            ", ".join(key.scopes),
            key.state(now),
            key.created_at[:10],
            key.expires_at[:10],
            (key.last_used_at or "never")[:10],
        )
        for key in found
    ]
    screen.print(build_table(columns, rows))
