"""``ki catalog``: check, rebuild, export and correct the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json
from kernelindex.cli.progress import progress_bar
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from kernelindex.catalog import Catalog


@click.group(name="catalog", short_help="check, rebuild, export and correct the catalog")
def command() -> None:
    """Keep a catalog in order."""


@command.command()
@json_option
@db_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> int:
    """Re-digest every manifest and judge every group again; report what is not as it should be.

    Exit status 1 where something is wrong.
    """
    from kernelindex.catalog import check as check_catalog

    with progress_bar("checking", quiet=as_json) as advance:
        report = check_catalog(open_catalog(ctx), progress=advance)
    data = report.to_dict()
    if as_json:
        print_json(data)
    else:
        for problem in data["problems"]:
            click.echo(clean(f"{problem['code']}: {problem['text']}"))
        click.echo(clean(report.summary))
    return FAILED if data["problems"] else OK


@command.command()
@json_option
@db_option
@click.pass_context
def rebuild(ctx: click.Context, as_json: bool) -> None:
    """Drop every derived row and make it again from manifests and observations."""
    from kernelindex.catalog import rebuild as rebuild_catalog

    with progress_bar("rebuilding", quiet=as_json) as advance:
        counts = rebuild_catalog(open_catalog(ctx), progress=advance)
    _print_counts("rebuilt", counts, as_json=as_json)


@command.command()
@click.argument("target", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--community", is_flag=True, help="Include attestations and reports of people.")
@json_option
@db_option
@click.pass_context
def export(ctx: click.Context, target: Path, community: bool, as_json: bool) -> None:
    """Write the whole catalog as JSONL.zst and Parquet; the same catalog gives the same bytes."""
    from kernelindex.catalog import export_to

    with progress_bar("exporting", quiet=as_json) as advance:
        counts = export_to(open_catalog(ctx), target, community=community, progress=advance)
    _print_counts("exported", counts, as_json=as_json)


@command.command()
@click.argument("action", type=click.Choice(["supersede", "retract"]))
@click.argument("run", metavar="RUN")
@click.option("--by", "by", metavar="RUN", help="The run that replaces it (supersede).")
@click.option("--actor", required=True, metavar="NAME", help="Who says so.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in a sentence.")
@json_option
@db_option
@click.pass_context
def correct(
    ctx: click.Context,
    action: str,
    run: str,
    by: str | None,
    actor: str,
    reason: str,
    as_json: bool,
) -> None:
    """Supersede or retract a run; nothing is deleted, and the ranks follow."""
    from kernelindex.catalog import correct as correct_catalog
    from kernelindex.catalog.intake import Correction

    if (action == "supersede") != (by is not None):
        raise click.UsageError("supersede needs --by RUN; retract takes none", ctx)
    catalog = open_catalog(ctx)
    correction = Correction(
        action=action,
        run_digest=_digest(catalog, run),
        actor=actor,
        reason=reason,
        by_digest=_digest(catalog, by) if by else None,
    )
    correct_catalog(catalog, correction)
    _print_counts(f"{action}d" if action == "supersede" else "retracted", {}, as_json=as_json)


def _digest(catalog: Catalog, ident: str) -> str:
    from kernelindex.resolve.lookup import locate

    return locate(catalog, "run", ident).digest


def _print_counts(done: str, counts: object, *, as_json: bool) -> None:
    found = dict(counts) if isinstance(counts, dict) else {}
    if as_json:
        print_json({"done": done, **found})
    else:
        said = ", ".join(f"{value:,} {name}" for name, value in found.items())
        click.echo(f"{done}: {said}" if said else done)
