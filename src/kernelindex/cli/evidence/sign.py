"""``ki evidence sign``: a batch folder becomes a signed bundle."""

from __future__ import annotations

from pathlib import Path

import click

from kernelindex.cli.evidence.options import (
    bundle_place,
    chosen_runner,
    key_file_option,
    out_option,
    runner_option,
)
from kernelindex.cli.options import json_option, print_json
from kernelindex.cli.terminal import clean


@click.command(name="sign", short_help="sign a batch that the worker measured")
@click.argument(
    "folder", metavar="BATCH", type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@runner_option
@key_file_option
@out_option
@json_option
def command(
    folder: Path, runner_name: str | None, key_file: Path | None, out: Path | None, as_json: bool
) -> None:
    """Write the bundle of a batch folder and close its number in the runner's ledger.

    The batch before it must be closed. Nothing is imported: `ki import evidence BUNDLE`.
    """
    from kernelindex.cli.bench.runner import signing_of
    from kernelindex.runner.ingest import ingest

    runner = chosen_runner(runner_name, key_file)
    target = bundle_place(out, runner)
    done = ingest(folder, signing_of(runner), target)
    path = target / done.name
    for text in done.said:
        click.echo(clean(text), err=True)
    if as_json:
        sealed = done.sealed
        print_json({"path": str(path), "digest": sealed.digest, "record": sealed.record_digest})
    else:
        click.echo(f"{path}: {len(done.recorded)} runs, signed by {runner.public.text}")
