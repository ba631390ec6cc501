"""``ki evidence show``: what a bundle holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernelindex.cli.evidence.options import read_bundle
from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import json_option, print_json
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.evidence.report import VerifyReport
    from kernelindex.evidence.statement import Statement


@click.command(name="show", short_help="what a bundle holds: signer, batch, runs, files")
@click.argument(
    "place", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@json_option
def command(place: Path, as_json: bool) -> int:
    """Print the signed statement and what each run lacks, by the key the bundle names itself.

    That says nothing of whose key it is: `ki evidence verify --key` does.
    """
    from kernelindex.cli.terminal import show
    from kernelindex.evidence.verify import verify

    report = verify(read_bundle(place), None, name=place.name)
    if as_json:
        print_json(report.to_dict())
        return OK if report.ok else FAILED
    if report.statement is None or not report.ok:
        for fault in report.faults:
            click.echo(clean(f"{fault.code}: {fault.where}: {fault.text}"))
        return FAILED
    statement = report.statement
    show(lambda screen: _draw(screen, report, statement))
    return OK


def _draw(screen: Console, report: VerifyReport, statement: Statement) -> None:
    from kernelindex.cli.render.pairs import print_list, print_pairs

    runner, batch = statement.runner, statement.batch
    pairs = [
        ("runner", clean(runner.name)),
        ("owner", clean(runner.owner)),
        ("host", clean(runner.host)),
        ("device", clean(runner.device)),
        ("key", runner.public_key),
        ("batch", f"{batch.number}, {batch.outcome}"),
        ("follows", batch.previous_digest or "nothing: it is the first"),
        ("record", statement.digest),
        ("seed", f"{batch.seed or 'not revealed'} (committed: {batch.seed_commitment or 'none'})"),
        ("calibration", clean("; ".join(report.calibration_problems)) or "inside its limits"),
        ("isolation", clean(str(dict(statement.isolation)))),
        ("files", f"{len(statement.subjects)}, {report.size_bytes:,} bytes in the bundle"),
    ]
    print_pairs(screen, pairs)
    lines = [
        f"{run.digest[7:19]} {run.timed_pass}: {run.status}"
        + ("" if run.correct or run.status != "passed" else ", not every output compared")
        + (f"; lacks {'; '.join(run.lacks)}" if run.lacks else "")
        for run in report.runs
    ]
    print_list(screen, "Runs", lines)
