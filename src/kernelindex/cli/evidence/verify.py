"""``ki evidence verify``: whether bundles are evidence, offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.evidence.options import bundle_files, public_keys, read_bundles
from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import json_option, print_json
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from kernelindex.evidence.chain import ChainReport
    from kernelindex.evidence.report import VerifyReport

MAX_LINES = 30
_BATCH_NAME = re.compile(r".+-[0-9]{5,}\.evidence\.zip")


@click.command(name="verify", short_help="verify bundles offline, by public keys alone")
@click.argument(
    "places", metavar="BUNDLE|FOLDER…", nargs=-1, required=True,
    type=click.Path(path_type=Path, exists=True),
)  # fmt: skip
@click.option(
    "--key", "keys", metavar="PUBLIC", multiple=True,
    help="A public key, or a file with one; else those of KernelIndex and of this machine.",
)  # fmt: skip
@click.option(
    "--chain", is_flag=True, help="Also the sequence: no batch missing, exchanged or reordered."
)
@click.option("--last", type=click.IntRange(1), help="Number of the newest batch (with --chain).")
@json_option
def command(
    places: tuple[Path, ...], keys: tuple[str, ...], chain: bool, last: int | None, as_json: bool
) -> int:
    """Check signature, every byte, every digest, the journal, the seed and the samples.

    A file whose name says another batch than its content is noted. With --chain all bundles
    are taken as one runner's whole sequence from batch 1. Exit status 1 where anything is
    wrong.
    """
    from kernelindex.evidence.chain import check_chain
    from kernelindex.evidence.verify import verify

    files, known = bundle_files(places), public_keys(keys)
    opened = zip(files, read_bundles(files), strict=True)
    reports = [verify(data, known, name=path.name) for path, data in opened]
    sequence = check_chain(reports, last=last) if chain or last is not None else None
    sound = all(report.ok for report in reports) and (sequence is None or sequence.ok)
    if as_json:
        print_json(_document(files, reports, sequence, sound=sound))
        return OK if sound else FAILED
    for path, report in zip(files, reports, strict=True):
        _print(path, report)
    if sequence is not None:
        _print_chain(sequence)
    return OK if sound else FAILED


def _document(
    files: list[Path], reports: list[VerifyReport], chain: ChainReport | None, *, sound: bool
) -> dict[str, Any]:
    bundles = [
        {"file": str(path), **report.to_dict(), "notes": _notes(path, report)}
        for path, report in zip(files, reports, strict=True)
    ]
    found: dict[str, Any] = {"ok": sound, "bundles": bundles}
    if chain is not None:
        found["chain"] = [
            {"code": one.code, "where": one.where, "text": one.text} for one in chain.faults
        ]
    return found


def _notes(path: Path, report: VerifyReport) -> list[str]:
    """What is no fault: a name is not signed, and one may say another batch than the content."""
    from kernelindex.evidence.bundle import bundle_name

    statement = report.statement if report.ok else None
    if statement is None or _BATCH_NAME.fullmatch(path.name) is None:
        return []
    usual = bundle_name(statement.runner.name, statement.batch.number)
    if path.name == usual:
        return []
    return [f"the file is called {path.name}, and what is signed in it is the batch of {usual}"]


def _print(path: Path, report: VerifyReport) -> None:
    statement = report.statement
    if not report.ok or statement is None or report.key is None:
        click.echo(clean(f"{path.name}: NOT evidence"))
        for fault in report.faults[:MAX_LINES]:
            click.echo(clean(f"    {fault.code}: {fault.where}: {fault.text}"))
        if len(report.faults) > MAX_LINES:
            click.echo(f"    and {len(report.faults) - MAX_LINES} more; --json lists all")
        return
    batch, runner = statement.batch, statement.runner
    complete = sum(1 for run in report.runs if run.correct and not run.lacks)
    calibrated = "OUTSIDE" if report.calibration_problems else "inside"
    click.echo(
        clean(
            f"{path.name}: holds. Batch {batch.number} of {runner.name} ({runner.owner}, "
            f"{runner.host}), {batch.outcome}, signed by {report.key.text}"
        )
    )
    click.echo(
        f"    {len(report.runs)} runs, {complete} correct and complete; calibration {calibrated}"
        f" its limits; {len(statement.subjects)} files, {report.size_bytes:,} bytes"
    )
    for problem in report.calibration_problems[:MAX_LINES]:
        click.echo(clean(f"    calibration: {problem}"))
    for note in _notes(path, report):
        click.echo(clean(f"    note: {note}"))


def _print_chain(chain: ChainReport) -> None:
    broken = [fault for fault in chain.faults if fault.code.startswith("chain_")]
    for fault in broken:
        click.echo(clean(f"chain: {fault.code}: {fault.where}: {fault.text}"))
    if not broken:
        count = len(chain.batches)
        click.echo(f"chain: {count} batch{'es' if count != 1 else ''} without a gap")
