"""``ki records``: changes of the leader, newest first."""

from __future__ import annotations

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import (
    db_option,
    json_option,
    limit_option,
    open_catalog,
    print_json,
)


@click.command(name="records", short_help="changes of the leader, newest first")
@click.option("--operation", metavar="NAME", help="Operation slug, alias or digest.")
@click.option("--gpu", metavar="NAME", help="GPU product.")
@click.option("--cursor", metavar="TEXT", help="Where the previous page ended.")
@limit_option(25)
@click.option("--oldest-first", is_flag=True, help="Oldest first; else newest first.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    cursor: str | None,
    limit: int,
    oldest_first: bool,
    as_json: bool,
    **filters: str | None,
) -> int:
    """List every change of a group's leader with its cause.

    A group with one entry has no record. Events of one day whose order nobody states are
    marked so.
    """
    from kernelindex.resolve.lists import list_records

    found = list_records(
        open_catalog(ctx), cursor=cursor, limit=limit, oldest_first=oldest_first, **filters
    )
    if as_json:
        print_json(found.to_dict())
    else:
        from kernelindex.cli.render.lists import print_records
        from kernelindex.cli.terminal import show

        show(lambda screen: print_records(screen, found.records))
        if found.cursor:
            click.echo(f"\nmore: --cursor {found.cursor}")
    return OK if found.records else FAILED
