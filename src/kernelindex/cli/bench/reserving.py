"""A number of the runner's ledger while its batch is measured: never left open without a word.

What can refuse is asked before a number is taken. Whatever fails after that closes it as
aborted, with the reason, unless a batch folder is there that can be taken up or in.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kernelindex.cli.bench.runner import batch_folder, bundle_folder, reserve
from kernelindex.cli.terminal import clean
from kernelindex.errors import KernelIndexError, RequestError
from kernelindex.evidence import ledger
from kernelindex.evidence.aborting import abort_batch
from kernelindex.runner import batch_files
from kernelindex.runner.plan import plan_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kernelindex.evidence.keystore import LocalRunner
    from kernelindex.runner.plan import Plan

MIN_FREE_BYTES = 64 << 20
"""A batch's files and its bundle: less than that is a full disk."""


def require_ready(runner: LocalRunner, number: int) -> None:
    """Refuse what would fail once the number is taken: the key, the disk, a folder in the way.

    Raises EvidenceError for the key, RequestError ``run.disk`` and ``run.folder``, OSError.
    """
    runner.signer()
    folder = batch_folder(runner, number)
    for place in (folder.parent, bundle_folder(runner)):
        place.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(place).free
        if free < MIN_FREE_BYTES:
            raise RequestError(
                f"{place}: {free} bytes are free, wanted {MIN_FREE_BYTES} before a batch is begun;"
                " make room there",
                code="run.disk",
            )
    if folder.exists():
        raise RequestError(
            f"{folder} is there, though batch {number} was never planned; move it elsewhere",
            code="run.folder",
        )


@contextmanager
def reserved(runner: LocalRunner, plans: Sequence[Plan]) -> Iterator[None]:
    """Take the numbers of these plans for what the body measures; failing, none is left silent."""
    taken: list[int] = []
    try:
        for plan in plans:
            reserve(runner, plan.number, plan_to_json(plan).encode())
            taken.append(plan.number)
        yield
    except BaseException as error:
        for number in taken:
            _tell(_settle(runner, number, _reason(error)))
        raise


@contextmanager
def kept_open(runner: LocalRunner, folders: Sequence[Path]) -> Iterator[None]:
    """Where the body fails, say of each folder measured and not taken in yet how that is done."""
    try:
        yield
    except BaseException:
        still = {one.number for one in ledger.open_batches(runner.ledger)}
        for folder in folders:
            if int(folder.name) in still:
                _tell(_ways_on(runner, int(folder.name)))
        raise


def _settle(runner: LocalRunner, number: int, reason: str) -> str:
    """Close a number that has nothing to take up; what became of it, in words."""
    folder = batch_folder(runner, number)
    if (folder / batch_files.OUTCOME).exists() or batch_files.finished_generations(folder):
        return _ways_on(runner, number)
    try:
        path, _ = abort_batch(runner, number, bundle_folder(runner), reason=reason)
    except (KernelIndexError, OSError) as error:
        return f"batch {number} stays open ({error}); afterwards: {_abort(runner, number)}"
    return f"batch {number} is declared aborted ({reason}): {path}"


def _ways_on(runner: LocalRunner, number: int) -> str:
    """How a batch whose folder holds something is gone on with."""
    folder = batch_folder(runner, number)
    plan = folder.parent / f"{folder.name}.plan.json"
    resume = f"{sys.executable} -m kernelindex.runner.worker {plan} --out {folder}"
    take_in = f"ki bench ingest {folder} --runner {runner.name}"
    if (folder / batch_files.OUTCOME).exists():
        status = batch_files.read_json(folder / batch_files.OUTCOME).get("status")
        more = "" if status == "complete" else f", or first measure on: {resume}"
        return f"batch {number} was measured and stays open; take it in: {take_in}{more}"
    count = len(batch_files.finished_generations(folder))
    if not count:
        return f"batch {number} stays open, nothing of it is here; {_abort(runner, number)}"
    return (
        f"batch {number} stays open, {count} of its generations are measured; measure on: {resume}"
        f" and take it in: {take_in}, or give it up: {_abort(runner, number)}"
    )


def _abort(runner: LocalRunner, number: int) -> str:
    return f"ki evidence abort {number} --runner {runner.name}"


def _reason(error: BaseException) -> str:
    """Why, without a path of this machine: it is published."""
    if isinstance(error, KernelIndexError):
        return error.code
    if isinstance(error, KeyboardInterrupt):
        return "stopped by hand"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def _tell(text: str) -> None:
    click.echo(clean(text), err=True)
