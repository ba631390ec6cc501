"""``ki runs``: list runs by filters."""

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


@click.command(name="runs", short_help="list runs by filters")
@click.option("--operation", metavar="NAME", help="Operation slug, alias or digest.")
@click.option("--gpu", metavar="NAME", help="GPU product or family.")
@click.option("--source", metavar="SLUG", help="Source slug.")
@click.option("--project", metavar="SLUG", help="Project of the implementation.")
@click.option("--implementation", metavar="ID", help="Implementation: alias, slug or digest.")
@click.option("--workload", metavar="ID", help="Workload: alias, slug or digest.")
@click.option("--status", metavar="NAME", help="Status as shown, such as aborted; any for all.")
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
    """List runs, newest first; failed and superseded ones too, with their status.

    What was aborted or withdrawn is counted, and listed where --status asks for it.
    """
    from kernelindex.resolve.lists import list_runs

    found = list_runs(
        open_catalog(ctx), cursor=cursor, limit=limit, oldest_first=oldest_first, **filters
    )
    if as_json:
        print_json(found.to_dict())
    else:
        from kernelindex.cli.render.lists import print_run_list
        from kernelindex.cli.terminal import show

        show(lambda screen: print_run_list(screen, found))
        if found.cursor:
            click.echo(f"\nmore: --cursor {found.cursor}")
    return OK if found.runs else FAILED
