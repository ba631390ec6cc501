"""The runner that plans and signs here; one is made where this machine has none."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

from kernelindex import __version__
from kernelindex.errors import EvidenceError
from kernelindex.evidence import ledger
from kernelindex.evidence.keystore import (
    USUAL,
    LocalRunner,
    list_runners,
    load_runner,
    new_runner,
)
from kernelindex.runner.batch_files import digest
from kernelindex.runner.ingest import Signing

if TYPE_CHECKING:
    from pathlib import Path

BATCHES, BUNDLES = "batches", "bundles"


def use_runner(name: str | None = None) -> tuple[LocalRunner, str | None]:
    """The runner of that name, the only one there is, or one named ``local``, made if need be.

    The second value says aloud that a key was made. Raises EvidenceError
    ``evidence.runner`` for a name that is not here, and where several are and none is ``local``.
    """
    if name is not None or list_runners():
        return load_runner(name), None
    owner = os.environ.get("USER") or "operator"
    made = new_runner(USUAL, owner=owner, host=platform.node() or "unnamed")
    return made, (
        f"made a key for this machine, runner {made.name} of {made.owner} on {made.host}:"
        f" {made.public.text}; it is kept in {made.folder} and never printed"
    )


def next_number(runner: LocalRunner) -> int:
    """The number of the runner's next batch."""
    return ledger.next_number(runner.ledger)


def require_closed(runner: LocalRunner) -> None:
    """Refuse to measure while an earlier batch is open: nothing after it could be signed.

    Raises EvidenceError ``evidence.ledger``.
    """
    for entry in ledger.open_batches(runner.ledger):
        raise EvidenceError(
            f"batch {entry.number} of {runner.name} is planned and not closed; take in what it"
            f" measured: ki bench ingest DIR, or declare it aborted: ki evidence abort"
            f" {entry.number} --runner {runner.name}",
            code="evidence.ledger",
        )


def reserve(runner: LocalRunner, number: int, plan: bytes) -> None:
    """Note a plan under its number, before anything of it runs."""
    ledger.plan(runner.ledger, number, digest(plan))


def signing_of(runner: LocalRunner) -> Signing:
    """What signing a batch needs of a runner."""
    return Signing(
        name=runner.name,
        owner=runner.owner,
        host=runner.host,
        signer=runner.signer(),
        ledger=runner.ledger,
        version=__version__,
    )


def batch_folder(runner: LocalRunner, number: int) -> Path:
    """Where a batch measured here is kept."""
    return runner.folder / BATCHES / f"{number:05d}"


def bundle_folder(runner: LocalRunner) -> Path:
    """Where bundles signed here are kept."""
    return runner.folder / BUNDLES
