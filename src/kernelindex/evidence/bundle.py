"""A bundle: the signed statement of a batch with everything it speaks of, in one file.

statement.dsse.json    the envelope
manifests/<hex>.json   every manifest that the batch made or its runs name, canonical JSON
plan.json journal.jsonl seed.json facts.json calibration.json outcome.json
telemetry.json.gz      as the worker wrote them, byte for byte
links.json             {implementation digest: slug of its project}
series/<n>.json.gz     the samples: one file a series, named by the runs
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.errors import EvidenceError
from kernelindex.evidence import archive, dsse, ledger, statement
from kernelindex.manifests import canonical
from kernelindex.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kernelindex.evidence.keys import Signer
    from kernelindex.evidence.ledger import Outcome
    from kernelindex.evidence.statement import BatchRecord, RunnerIdentity
    from kernelindex.manifests import Manifest

STATEMENT = "statement.dsse.json"
MANIFESTS = "manifests/"
SERIES = "series/"
PLAN, JOURNAL, SEED = "plan.json", "journal.jsonl", "seed.json"
FACTS, CALIBRATION, OUTCOME = "facts.json", "calibration.json", "outcome.json"
TELEMETRY = "telemetry.json.gz"
LINKS = "links.json"
SUFFIX = ".evidence.zip"
MEDIA_TYPE = "application/vnd.kernelindex.evidence+zip"
MAX_ENVELOPE = 32 << 20
MAX_BYTES = archive.MAX_BYTES


@dataclass(frozen=True, slots=True)
class Sealed:
    """A finished bundle: its bytes, their digest, and that of the statement (the record)."""

    data: bytes
    digest: str
    record_digest: str


def seal(
    *,
    files: Mapping[str, bytes],
    manifests: Iterable[Manifest],
    signer: Signer,
    runner: RunnerIdentity,
    batch: BatchRecord,
    protocol: Mapping[str, Any],
    isolation: Mapping[str, Any],
    calibration: Mapping[str, Any],
    toolchain: Mapping[str, Any],
    links: Mapping[str, str] | None = None,
) -> Sealed:
    """Sign a statement over these files and manifests, and pack everything.

    ``files`` are those of the batch folder by the names above; ``runner.public_key`` is the
    signer's; ``links`` maps implementations to the slugs of their projects, whose manifests
    are among ``manifests``. ``Sealed.record_digest`` is what ``ledger.close`` takes.

    Raises ``EvidenceError``: ``evidence.statement``, ``evidence.archive``, ``evidence.key``.
    """
    if runner.public_key != signer.public.text:
        raise EvidenceError(
            f"the statement names {runner.public_key}, the key that signs is {signer.public.text}",
            code="evidence.key",
        )
    named = {manifest_name(one.digest): one for one in manifests}
    written = {name: canonical.dumps(one.document) for name, one in named.items()}
    everything = {**files, **written}
    if links:
        everything[LINKS] = canonical.dumps(dict(links)) + b"\n"
    payload = statement.build(
        files=everything,
        manifests={name: one.digest for name, one in named.items()},
        runner=runner,
        batch=batch,
        protocol=protocol,
        isolation=isolation,
        calibration=calibration,
        toolchain=toolchain,
    )
    envelope = dsse.seal(payload, signer).to_json()
    data = archive.pack({**everything, STATEMENT: envelope})
    return Sealed(data, sha256(data), sha256(payload))


def write(path: Path, sealed: Sealed) -> bool:
    """Write a bundle to its file, whole or not at all; whether it was not there already.

    Raises ``EvidenceError`` (``evidence.bundle_exists``) where another is in its place.
    """
    if path.is_file():
        seen = sha256(path.read_bytes())
        if seen == sealed.digest:
            return False
        raise EvidenceError(
            f"{path} is there and is {seen}, not {sealed.digest}; what was signed is never"
            " overwritten, so move it elsewhere or give another folder",
            code="evidence.bundle_exists",
        )
    write_whole(path, sealed.data)
    return True


def write_and_close(path: Path, sealed: Sealed, held: Path, number: int, outcome: Outcome) -> None:
    """Write a bundle and close its number in the ledger ``held``: both, or neither.

    Nothing is written where the ledger or ``write`` refuses.
    """
    with ledger.closing(held, number, sealed.record_digest, outcome) as close_now:
        is_new = write(path, sealed)
        try:
            close_now()
        except BaseException:
            if is_new:
                path.unlink(missing_ok=True)
            raise


def manifest_name(digest: str) -> str:
    """The file of a manifest."""
    return f"{MANIFESTS}{digest.removeprefix('sha256:')}.json"


def bundle_name(runner: str, number: int) -> str:
    """The usual file name of a batch's bundle."""
    return f"{runner}-{number:05d}{SUFFIX}"


def sha256(data: bytes) -> str:
    """``sha256:<hex>`` of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
