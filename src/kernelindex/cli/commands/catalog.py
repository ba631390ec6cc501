"""``ki catalog``: check, rebuild, export and correct the catalog."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json
from kernelindex.cli.progress import progress_bar
from kernelindex.cli.terminal import clean
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from kernelindex.catalog import Catalog
    from kernelindex.catalog.checking import Finding


MAX_FINDINGS = 50


@click.group(name="catalog", short_help="check, rebuild, export and correct the catalog")
def command() -> None:
    """Keep a catalog in order."""


@command.command(short_help="Digest and judge everything again; say what is wrong.")
@json_option
@db_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> int:
    """Digest every body again and judge every group again; say what is not as it should be.

    Exit status 1 where the catalog is at fault. What its sources say that cannot be, such as
    a workload and an implementation of different operations, is listed and is no fault.
    """
    from kernelindex.catalog import check as check_catalog

    findings = check_catalog(open_catalog(ctx, stale=True))
    faults = [one for one in findings if one.is_fault]
    said = [one for one in findings if not one.is_fault]
    if as_json:
        listed = [{**asdict(one), "fault": one.is_fault} for one in findings]
        print_json({"sound": not faults, "findings": listed})
        return FAILED if faults else OK
    _print_findings(faults)
    if said:
        click.echo(f"what sources say, kept as it was said ({len(said)}):")
        _print_findings(said)
    click.echo(f"{len(faults)} wrong" if faults else "sound: nothing is wrong")
    return FAILED if faults else OK


def _print_findings(findings: list[Finding]) -> None:
    for one in findings[:MAX_FINDINGS]:
        click.echo(clean(f"{one.code}: {one.subject}: {one.text}"))
    more = len(findings) - MAX_FINDINGS
    if more > 0:
        click.echo(f"and {more} more; --json lists all")


@command.command()
@click.option("--if-stale", is_flag=True, help="Only where another version made the rows.")
@json_option
@db_option
@click.pass_context
def rebuild(ctx: click.Context, as_json: bool, if_stale: bool) -> None:
    """Make every derived row again from manifests and observations.

    A site of the version that made the rows before answers from them until the new ones are
    whole. With --if-stale a current catalog, or none at all, is left as it is.
    """
    if if_stale and not _is_stale(ctx):
        return
    from kernelindex.catalog import rebuild as rebuild_catalog

    with progress_bar("rebuilding", quiet=as_json) as advance:
        runs = rebuild_catalog(open_catalog(ctx, stale=True), progress=advance)
    _print_done("rebuilt", as_json=as_json, runs=runs)


@command.command()
@click.argument("target", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--community", is_flag=True, help="Include attestations and reports of people.")
@json_option
@db_option
@click.pass_context
def export(ctx: click.Context, target: Path, community: bool, as_json: bool) -> None:
    """Write the whole catalog; equal catalogs give equal digests.

    PATH is a file ending in .jsonl.zst, or a folder for Parquet files.
    """
    from kernelindex.catalog import export_to

    digest = export_to(open_catalog(ctx), target, community=community)
    _print_done("exported", as_json=as_json, digest=digest, path=str(target))


@command.command()
@click.argument(
    "place", metavar="PATH", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@json_option
@db_option
@click.pass_context
def load(ctx: click.Context, place: Path, as_json: bool) -> None:
    """Read an export of `ki catalog export` into this catalog.

    Bundles of evidence are verified again here; approval of their keys does not travel.
    """
    from kernelindex.catalog import load_export
    from kernelindex.sources.evidence import verify_stored

    catalog = open_catalog(ctx, create=True)
    with progress_bar("loading", quiet=as_json) as advance:
        rows = load_export(catalog, place, progress=advance)
    _, problems = verify_stored(catalog)
    for problem in problems:
        click.echo(clean(f"not taken: {problem}"), err=True)
    _print_done("loaded", as_json=as_json, **rows)


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
    done = "superseded" if action == "supersede" else "retracted"
    _print_done(done, as_json=as_json, run=correction.run_digest)


def _digest(catalog: Catalog, ident: str) -> str:
    from kernelindex.resolve.lookup import locate

    return locate(catalog, "run", ident).digest


def _is_stale(ctx: click.Context) -> bool:
    """Whether the catalog must be rebuilt before it can answer; one that is missing need not."""
    try:
        open_catalog(ctx)
    except CatalogError as error:
        if error.code in {"catalog.stale", "catalog.schema"}:
            return True
        if error.code != "catalog.missing":
            raise
    return False


def _print_done(done: str, *, as_json: bool, **facts: object) -> None:
    if as_json:
        print_json({"done": done, **facts})
    else:
        said = ", ".join(f"{name} {value}" for name, value in facts.items())
        click.echo(f"{done}: {said}" if said else done)
