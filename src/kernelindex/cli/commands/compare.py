"""``ki compare``: two to eight runs side by side, with a verdict or why there is none."""

from __future__ import annotations

import click

from kernelindex.cli.options import db_option, json_option, open_catalog, print_json


@click.command(name="compare", short_help="two to eight runs side by side, with a verdict")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@json_option
@db_option
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], as_json: bool) -> None:
    """Compare runs: what differs, the first material mismatch, and each against the first."""
    from kernelindex.resolve.compare import compare_runs

    comparison = compare_runs(open_catalog(ctx), runs)
    if as_json:
        print_json(comparison.to_dict())
        return
    from kernelindex.cli.render.lists import print_comparison
    from kernelindex.cli.terminal import show

    show(lambda screen: print_comparison(screen, comparison))
