"""``ki sources``: where results can be imported from."""

from __future__ import annotations

import click

from kernelindex.cli.options import json_option, print_json
from kernelindex.cli.terminal import clean, show


@click.command(name="sources", short_help="where results can be imported from")
@json_option
def command(as_json: bool) -> None:
    """List the sources that `ki import` reads."""
    from kernelindex.sources import SOURCES

    if as_json:
        keys = ("slug", "title", "help")
        print_json({"sources": [{key: getattr(one, key) for key in keys} for one in SOURCES]})
        return
    from kernelindex.cli.render.tables import Column, build_table

    columns = (Column("source"), Column("reads", flexible=True), Column("give", flexible=True))
    rows = [(one.slug, clean(one.title), clean(one.help)) for one in SOURCES]
    show(lambda screen: screen.print(build_table(columns, rows)))
