"""``ki evidence abort``: a planned batch that will never be measured gets its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kernelindex.cli.evidence.options import (
    bundle_place,
    chosen_runner,
    key_file_option,
    out_option,
    runner_option,
)
from kernelindex.cli.options import json_option, print_json

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="abort", short_help="sign that a planned batch will never be measured")
@click.argument("number", metavar="NUMBER", type=click.IntRange(1))
@runner_option
@key_file_option
@out_option
@json_option
def command(
    number: int, runner_name: str | None, key_file: Path | None, out: Path | None, as_json: bool
) -> None:
    """Close a number of the runner's ledger without a measurement, by a signed record.

    A batch that measured something is signed instead, cut short or not.
    """
    from kernelindex.evidence.aborting import abort_batch

    runner = chosen_runner(runner_name, key_file)
    path, sealed = abort_batch(runner, number, bundle_place(out, runner))
    if as_json:
        print_json({"path": str(path), "digest": sealed.digest, "record": sealed.record_digest})
    else:
        click.echo(f"{path}: batch {number} of {runner.name} is declared aborted")
