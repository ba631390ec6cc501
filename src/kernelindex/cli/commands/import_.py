"""``ki import``: read a source into the catalog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from kernelindex.cli.failures import usage
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json
from kernelindex.cli.progress import progress_bar
from kernelindex.cli.render.report import print_report
from kernelindex.errors import SourceError

if TYPE_CHECKING:
    from kernelindex.sources import SourceSpec


@click.command(name="import", short_help="read a source into the catalog")
@click.argument("source", metavar="SOURCE")
@click.argument("place", metavar="[PATH|URL]", required=False)
@click.option("--dry-run", is_flag=True, help="Read and count, but store nothing.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context, source: str, place: str | None, dry_run: bool, as_json: bool
) -> None:
    """Import results; every row is counted as added, existing, superseding or skipped.

    SOURCE is one of those that `ki sources` lists; `starter` needs no path. Importing
    the same file again adds nothing. A killed import leaves nothing half done.

    Exit status: 0 done; 1 no row could be taken, or a bundle of evidence has a fault.
    """
    from kernelindex.catalog import import_records
    from kernelindex.sources import SOURCES, find_source

    try:
        spec = find_source(source)
    except SourceError:
        raise usage(ctx, f"no source {source!r}", source, [one.slug for one in SOURCES]) from None
    path, url = _locate(ctx, spec, place)
    snapshot, records = spec.read(path)
    if url is not None:
        snapshot = replace(snapshot, url=url)
    catalog = open_catalog(ctx, create=True)
    with progress_bar(f"importing {source}", quiet=as_json) as advance:
        report = import_records(catalog, snapshot, records, dry_run=dry_run, progress=advance)
    report = replace(report, corrections=spec.correct(catalog, dry_run=dry_run))
    if as_json:
        print_json(report.to_dict())
    else:
        print_report(report)
    if report.took_nothing or report.refused_bundles:
        ctx.exit(1)


def _locate(
    ctx: click.Context, spec: SourceSpec, place: str | None
) -> tuple[Path | None, str | None]:
    """The local path, and the address it was fetched from within the limits, if it was."""
    if place is None:
        if spec.takes != "nothing":
            raise click.UsageError(f"{spec.slug} needs a path or address: {spec.help}", ctx)
        return None, None
    from kernelindex.sources.fetch import fetch, is_url

    if is_url(place):
        folder = ctx.with_resource(TemporaryDirectory(prefix="ki-"))
        fetched = fetch(place, Path(folder))
        return fetched.path, fetched.url
    path = Path(place)
    if not path.exists():
        raise click.UsageError(f"there is no file or folder {place}", ctx)
    return path, None
