"""The signed record of a batch that was planned and never measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.errors import EvidenceError
from kernelindex.evidence import bundle, ledger
from kernelindex.evidence.statement import BatchRecord, RunnerIdentity
from kernelindex.manifests import canonical

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.evidence.keystore import LocalRunner


def abort_batch(
    runner: LocalRunner, number: int, out: Path, *, reason: str | None = None
) -> tuple[Path, bundle.Sealed]:
    """Sign that batch ``number`` is aborted, write its bundle, close it in the ledger.

    The bundle says the ``reason`` in its outcome, where one is given. Raises ``EvidenceError``
    (``evidence.ledger``) where it is not open, or the batch before it still is.
    """
    planned = {entry.number: entry for entry in ledger.open_batches(runner.ledger)}
    if number not in planned:
        still = ", ".join(map(str, planned)) or "none"
        raise EvidenceError(
            f"batch {number} of {runner.name} is not open; open are: {still}",
            code="evidence.ledger",
        )
    sealed = bundle.seal(
        files=_outcome(reason),
        manifests=(),
        signer=runner.signer(),
        runner=RunnerIdentity(
            name=runner.name,
            owner=runner.owner,
            host=runner.host,
            device="none",
            public_key=runner.public.text,
        ),
        batch=BatchRecord(
            number=number,
            previous_digest=ledger.previous_digest(runner.ledger, number),
            plan_digest=planned[number].subject,
            outcome="aborted",
        ),
        protocol={},
        isolation={},
        calibration={"withinLimits": False},
        toolchain={},
    )
    path = out / bundle.bundle_name(runner.name, number)
    bundle.write_and_close(path, sealed, runner.ledger, number, "aborted")
    return path, sealed


def _outcome(reason: str | None) -> dict[str, bytes]:
    if reason is None:
        return {}
    stated = {"status": "aborted", "missing": [], "reason": reason}
    return {bundle.OUTCOME: canonical.dumps(stated) + b"\n"}
