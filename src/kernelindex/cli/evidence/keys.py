"""``ki evidence keys``: keys of runners, here and approved by the index."""

from __future__ import annotations

import platform
from pathlib import Path
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
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.catalog.approvals import Approval
    from kernelindex.evidence.keystore import LocalRunner

MISSING = ("catalog.missing", "catalog.stale", "catalog.schema")


@click.group(name="keys", short_help="make, list, approve and revoke keys of runners")
def command() -> None:
    """Keep the keys that sign evidence; an index trusts only those it approved."""


@command.command(short_help="make a runner: its key and its ledger of batches")
@click.argument("name", metavar="NAME")
@click.option("--owner", required=True, metavar="WHO", help="Who runs it; evidence states it.")
@click.option("--host", metavar="MACHINE", help="The machine's name (default: its own).")
@click.option(
    "--folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
    help="Where runners are kept (default: KI_RUNNERS, ./.ki in a clone, the user's data).",
)  # fmt: skip
@json_option
def new(name: str, owner: str, host: str | None, folder: Path | None, as_json: bool) -> None:
    """Make a runner: its key, mode 0600 and never printed, and its ledger of batches."""
    from kernelindex.evidence.keystore import new_runner

    named = host or platform.node() or "unnamed"
    runner = new_runner(name, owner=owner, host=named, folder=folder)
    if as_json:
        print_json(_local_json(runner))
        return
    click.echo(runner.public.text)
    click.echo(
        clean(f"runner {runner.name} of {runner.owner} on {runner.host}, kept in {runner.folder}"),
        err=True,
    )


@command.command(name="list", short_help="runners here, and keys approved or revoked")
@json_option
@db_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List the runners of this machine, and the keys this index approved or revoked."""
    from kernelindex.cli.terminal import show
    from kernelindex.evidence.keystore import list_runners

    local, approvals = list_runners(), _approvals(ctx)
    if as_json:
        print_json(
            {
                "runners": [_local_json(one) for one in local],
                "approvals": [one.to_dict() for one in approvals],
            }
        )
    elif not local and not approvals:
        click.echo("no keys; make one: ki evidence keys new NAME --owner WHO")
    else:
        show(lambda screen: _print_keys(screen, local, approvals))


@command.command(short_help="let evidence signed by a key count as verified")
@click.argument("key", metavar="PUBLIC")
@click.option("--name", required=True, metavar="RUNNER", help="The runner's name.")
@click.option("--owner", required=True, metavar="WHO", help="Who runs it.")
@click.option("--host", required=True, metavar="MACHINE", help="On which machine.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in a sentence.")
@actor_option
@json_option
@db_option
@click.pass_context
def approve(
    ctx: click.Context,
    key: str,
    name: str,
    owner: str,
    host: str,
    reason: str,
    actor: str,
    as_json: bool,
) -> None:
    """Let evidence signed by this key, of this owner and host, count here as verified."""
    from kernelindex.catalog.approvals import approve as approve_key
    from kernelindex.cli.evidence.options import public_keys

    (public,) = public_keys([key])
    made = approve_key(
        open_catalog(ctx, create=True),
        public_key=public.text,
        name=name,
        owner=owner,
        host=host,
        actor=actor,
        reason=reason,
    )
    _print_decision(made, "approved", as_json=as_json)


@command.command(short_help="take the approval of a key back")
@click.argument("key", metavar="KEY")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in a sentence.")
@actor_option
@json_option
@db_option
@click.pass_context
def revoke(ctx: click.Context, key: str, reason: str, actor: str, as_json: bool) -> None:
    """Take the approval back: what the key signed is verified no longer.

    KEY is a public key or its digest.
    """
    from kernelindex.catalog.approvals import revoke as revoke_key

    made = revoke_key(open_catalog(ctx), key, actor=actor, reason=reason)
    _print_decision(made, "revoked", as_json=as_json)


def _approvals(ctx: click.Context) -> tuple[Approval, ...]:
    """What this index decided; nothing where there is no index yet."""
    from kernelindex.catalog.approvals import list_approvals

    try:
        return list_approvals(open_catalog(ctx))
    except CatalogError as error:
        if error.code in MISSING:
            return ()
        raise


def _local_json(runner: LocalRunner) -> dict[str, Any]:
    return {
        "name": runner.name,
        "owner": runner.owner,
        "host": runner.host,
        "publicKey": runner.public.text,
        "keyDigest": runner.public.digest,
        "folder": str(runner.folder),
    }


def _print_decision(made: Approval, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(made.to_dict())
    else:
        click.echo(clean(f"{done}: {made.name} of {made.owner} on {made.host}, {made.public_key}"))


def _print_keys(
    screen: Console, local: tuple[LocalRunner, ...], approvals: tuple[Approval, ...]
) -> None:
    from kernelindex.cli.render.tables import Column, build_table

    columns = (
        Column("runner"),
        Column("owner", flexible=True),
        Column("host", flexible=True),
        Column("state"),
        Column("by", flexible=True),
        Column("key"),
    )
    rows = [
        (one.name, clean(one.owner), clean(one.host), "on this machine", "", one.public.digest[:19])
        for one in local
    ]
    rows += [
        (
            clean(one.name),
            clean(one.owner),
            clean(one.host),
            "approved" if one.approved else "revoked",
            clean(f"{one.actor}, {one.at[:10]}"),
            one.key_digest[:19],
        )
        for one in approvals
    ]
    screen.print(build_table(columns, rows))
