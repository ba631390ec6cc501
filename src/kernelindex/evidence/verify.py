"""Whether a bundle is evidence: offline, by its bytes and public keys alone.

The signature first: nothing of the contents is believed, or even read, before a key
signed the statement. Then every byte is accounted for, then what the parts say of each
other is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.errors import CanonicalError, EvidenceError, ManifestError
from kernelindex.evidence import archive, bundle, dsse
from kernelindex.evidence.bound import bound_faults
from kernelindex.evidence.calibration import problems_of
from kernelindex.evidence.report import Fault, VerifyReport
from kernelindex.evidence.runs import Contents, run_faults, run_reports
from kernelindex.evidence.statement import parse_statement
from kernelindex.manifests import Manifest, load, references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernelindex.evidence.keys import PublicKey
    from kernelindex.evidence.statement import BatchRecord, Statement

THE_FILE = "the file"
"""Where a fault is that is of the archive itself, unless the caller knows its name."""
NO_LINE = "sha256:" + "0" * 64


def verify(data: bytes, keys: Sequence[PublicKey] | None, *, name: str = THE_FILE) -> VerifyReport:
    """Verify one bundle by these keys; with None, by the key that it names itself.

    By its own key a bundle proves only that nothing was changed since it was signed. ``name``
    is that of its file, for faults of the archive.
    """
    return open_bundle(data, keys, name=name)[0]


def open_bundle(
    data: bytes, keys: Sequence[PublicKey] | None, *, name: str = THE_FILE
) -> tuple[VerifyReport, Contents | None]:
    """The report, and the contents where nothing is wrong."""
    digest, size = bundle.sha256(data), len(data)
    signed = _signed(data, keys, name)
    if isinstance(signed, Fault):
        return VerifyReport(digest=digest, size_bytes=size, faults=(signed,)), None
    files, statement, key = signed
    faults = list(_file_faults(files, statement))
    contents = Contents(statement, files, _names(files), {})
    if not faults:
        manifests, faults = _load_manifests(statement, files)
        contents = Contents(statement, files, _names(files), manifests)
        faults += _content_faults(contents)
    sound = not faults
    report = VerifyReport(
        digest=digest,
        size_bytes=size,
        faults=tuple(faults),
        statement=statement,
        key=key,
        runs=run_reports(contents) if sound else (),
        calibration_problems=problems_of(contents) if sound else (),
    )
    return report, contents if sound else None


def _signed(
    data: bytes, keys: Sequence[PublicKey] | None, name: str
) -> tuple[dict[str, bytes], Statement, PublicKey] | Fault:
    """The files, the statement and who signed it; else the fault that ends verifying."""
    try:
        files = archive.unpack(data)
    except EvidenceError as error:
        return Fault(code="archive", where=name, text=error.message)
    code, text = "envelope", files.get(bundle.STATEMENT, b"")
    try:
        _require_statement(files)
        envelope = dsse.parse_envelope(text, max_bytes=bundle.MAX_ENVELOPE)
        code = "statement"
        statement = parse_statement(envelope.payload)
    except EvidenceError as error:
        return Fault(code=code, where=bundle.STATEMENT, text=error.message)
    named = statement.runner.key
    key = envelope.signer([named] if keys is None else keys)
    if key is None:
        text_of = f"the statement names {named.digest}; none of the keys given signed it"
        return Fault(code="signature", where=bundle.STATEMENT, text=text_of)
    if key != named or envelope.payload_type != dsse.IN_TOTO_TYPE:
        wrong = f"{key.digest} signed a statement ({envelope.payload_type}) of {named.digest}"
        return Fault(code="signature", where=bundle.STATEMENT, text=wrong)
    if envelope.to_json() != text or [one.keyid for one in envelope.signatures] != [key.digest]:
        only = f"wanted one signature, named {key.digest}, as canonical JSON"
        return Fault(code="envelope", where=bundle.STATEMENT, text=only)
    return files, statement, key


def _require_statement(files: Mapping[str, bytes]) -> None:
    if bundle.STATEMENT not in files:
        raise EvidenceError("it is not in the bundle", code="evidence.envelope")


def _names(files: Mapping[str, bytes]) -> dict[str, str]:
    """Digest of a file's bytes -> its name."""
    return {bundle.sha256(data): name for name, data in files.items()}


def _file_faults(files: Mapping[str, bytes], statement: Statement) -> Iterator[Fault]:
    """Every file is named by the statement with its digest, and no other is there."""
    named = {subject.name: subject.digest for subject in statement.subjects}
    for name in sorted(files.keys() - named.keys() - {bundle.STATEMENT}):
        yield Fault(code="unnamed_file", where=name, text="the statement does not name it")
    for name, digest in named.items():
        if name not in files:
            yield Fault(code="missing_file", where=name, text=f"{digest} is not there")
        elif bundle.sha256(files[name]) != digest:
            seen = bundle.sha256(files[name])
            yield Fault(code="changed_file", where=name, text=f"it is {seen}, signed is {digest}")


def _load_manifests(
    statement: Statement, files: Mapping[str, bytes]
) -> tuple[dict[str, Manifest], list[Fault]]:
    """Every manifest with its digest computed again."""
    found: dict[str, Manifest] = {}
    faults: list[Fault] = []
    for subject in statement.subjects:
        is_manifest = subject.name.startswith(bundle.MANIFESTS)
        if not is_manifest and subject.manifest is None:
            continue
        try:
            manifest = load(files[subject.name])
        except (CanonicalError, ManifestError) as error:
            faults.append(Fault(code="manifest", where=subject.name, text=error.message))
            continue
        found[manifest.digest] = manifest
        if not subject.manifest == manifest.digest == _digest_of_name(subject.name):
            text = f"it is {manifest.digest}, signed is {subject.manifest}"
            faults.append(Fault(code="manifest", where=subject.name, text=text))
    return found, faults


def _digest_of_name(name: str) -> str:
    return f"sha256:{name.removeprefix(bundle.MANIFESTS).removesuffix('.json')}"


def _content_faults(contents: Contents) -> list[Fault]:
    """What the parts say of each other; runs are looked at where their parts are there."""
    found = [*_reference_faults(contents.manifests), *_batch_faults(contents)]
    if not any(one.code in {"manifest", "open_reference"} for one in found):
        found += run_faults(contents)
    return found


def _reference_faults(manifests: Mapping[str, Manifest]) -> Iterator[Fault]:
    for digest, manifest in sorted(manifests.items()):
        for one in references(manifest):
            target = manifests.get(one.digest)
            if target is None or target.kind not in one.kinds:
                text = f"{one.path} names {one.digest} ({one.kind})"
                yield Fault(code="open_reference", where=digest, text=text)


def _batch_faults(contents: Contents) -> Iterator[Fault]:
    """Plan, journal, seed, outcome and calibration against the signed record."""
    files, batch = contents.files, contents.statement.batch
    checks = (
        ("plan", bundle.PLAN, _plan_problem(files, batch.plan_digest, batch.outcome)),
        ("journal", bundle.JOURNAL, _journal_problem(files, batch.journal_head)),
        ("seed", bundle.SEED, _seed_problem(files, batch)),
        ("outcome", bundle.OUTCOME, _outcome_problem(files, batch.outcome)),
        ("calibration", bundle.CALIBRATION, _calibration_problem(contents)),
    )
    for code, where, text in checks:
        if text is not None:
            yield Fault(code=code, where=where, text=text)
    yield from bound_faults(files)


def _plan_problem(files: Mapping[str, bytes], wanted: str, outcome: str) -> str | None:
    """The plan is there, unless nothing of it ever ran."""
    if bundle.PLAN not in files:
        return None if outcome == "aborted" else f"it is not there, signed is {wanted}"
    seen = bundle.sha256(files[bundle.PLAN])
    return None if seen == wanted else f"it is {seen}, signed is {wanted}"


def _journal_problem(files: Mapping[str, bytes], head: str | None) -> str | None:
    """Each line is numbered and names the digest of the line before; the last is signed."""
    if bundle.JOURNAL not in files:
        return None if head is None else f"it is not there, signed is its end {head}"
    previous = NO_LINE
    for at, line in enumerate(files[bundle.JOURNAL].splitlines(), start=1):
        body = _json(line)
        seen = (body.get("line"), body.get("previous"))
        if seen != (at, previous):
            return f"line {at} is numbered {seen[0]} after {seen[1]}, not after {previous}"
        previous = bundle.sha256(line)
    return None if previous == (head or NO_LINE) else f"it ends in {previous}, signed is {head}"


def _seed_problem(files: Mapping[str, bytes], batch: BatchRecord) -> str | None:
    """The commitment is SHA-256 of the seed's text, and stands in the journal.

    The seed of a batch that may still be taken up again is not revealed.
    """
    seed, commitment = batch.seed, batch.seed_commitment
    if commitment is None:
        return None if seed is None and batch.outcome == "aborted" else "nothing was committed to"
    if commitment.encode() not in files.get(bundle.JOURNAL, b""):
        return "the journal does not hold the commitment"
    if seed is None:
        return "it is not revealed" if batch.outcome == "complete" else None
    if bundle.sha256(seed.encode()) != commitment:
        return f"the seed hashes to {bundle.sha256(seed.encode())}, committed was {commitment}"
    revealed = _json(files.get(bundle.SEED, b""))
    if (revealed.get("seed"), revealed.get("commitment")) != (seed, commitment):
        return "the file says otherwise than the statement"
    return None


def _outcome_problem(files: Mapping[str, bytes], wanted: str) -> str | None:
    if bundle.OUTCOME not in files:
        return None if wanted == "aborted" else f"it is not there, signed is {wanted}"
    seen = _json(files[bundle.OUTCOME]).get("status")
    return None if seen == wanted else f"it says {seen}, signed is {wanted}"


def _calibration_problem(contents: Contents) -> str | None:
    """The verdict that was signed is the calibration's own."""
    signed = contents.statement.calibration["withinLimits"]
    if bundle.CALIBRATION not in contents.files:
        return "it is not there, and is signed to be within its limits" if signed else None
    found = _json(contents.files[bundle.CALIBRATION]).get("withinLimits")
    return None if found is signed else f"withinLimits is {found}, signed is {signed}"


def _json(data: bytes) -> dict[str, Any]:
    """A JSON object, or an empty one for anything else."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
