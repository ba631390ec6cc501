"""What a runner signs of a batch: an in-toto Statement (v1) over every file of its bundle.

https://github.com/in-toto/attestation, spec/v1/statement.md. Each subject is a file of
the bundle by name and SHA-256; a manifest's also by ``kernelindexManifest``, its own digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from kernelindex.errors import CanonicalError, EvidenceError
from kernelindex.evidence.keys import PublicKey
from kernelindex.evidence.ledger import OUTCOMES
from kernelindex.manifests import canonical

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://kernelindex.dev/evidence/batch/v1"
MANIFEST_DIGEST = "kernelindexManifest"
MAX_BYTES = 16 << 20
_OBJECTS = ("protocol", "isolation", "calibration", "toolchain")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerIdentity:
    """Who measured: a runner by name, its owner, its host, the device, and its key."""

    name: str
    owner: str
    host: str
    device: str
    public_key: str
    version: str = ""

    @property
    def key(self) -> PublicKey:
        """The key; ``build`` and ``parse_statement`` made sure that it is one."""
        return PublicKey.parse(self.public_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """One batch in its runner's sequence.

    ``previous_digest``  ``sha256:`` of the signed statement of the batch before; None for the first
    ``plan_digest``      of ``plan.json``
    ``seed_commitment``  of the seed's text, made first; None where nothing was started
    ``seed``             revealed; None where nothing was started
    ``journal_head``     digest of the journal's last line; None where nothing was started
    """

    number: int
    previous_digest: str | None
    plan_digest: str
    outcome: str
    seed_commitment: str | None = None
    seed: str | None = None
    journal_head: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One file of the bundle; ``manifest`` is the manifest's own digest, where it is one."""

    name: str
    digest: str
    manifest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The signed claims; ``digest`` is ``sha256:`` of its bytes and names the batch's record."""

    digest: str
    subjects: tuple[Subject, ...]
    runner: RunnerIdentity
    batch: BatchRecord
    protocol: Mapping[str, Any]
    isolation: Mapping[str, Any]
    calibration: Mapping[str, Any]
    toolchain: Mapping[str, Any]


def build(
    *,
    files: Mapping[str, bytes],
    manifests: Mapping[str, str],
    runner: RunnerIdentity,
    batch: BatchRecord,
    protocol: Mapping[str, Any],
    isolation: Mapping[str, Any],
    calibration: Mapping[str, Any],
    toolchain: Mapping[str, Any],
) -> bytes:
    """The statement's bytes, canonical JSON.

    ``files`` are all files of the bundle by name, its statement aside; ``manifests`` maps
    the names of those that are manifests to their digests. The four objects are free JSON:
    ``calibration`` has at least ``withinLimits``.

    Raises ``EvidenceError`` (``evidence.statement``) for what ``parse_statement`` refuses.
    """
    subjects = []
    for name, data in sorted(files.items()):
        digests = {"sha256": hashlib.sha256(data).hexdigest()}
        if name in manifests:
            digests[MANIFEST_DIGEST] = manifests[name].removeprefix("sha256:")
        subjects.append({"name": name, "digest": digests})
    predicate = {
        "runner": _to_json(runner),
        "batch": _to_json(batch),
        "protocol": dict(protocol),
        "isolation": dict(isolation),
        "calibration": dict(calibration),
        "toolchain": dict(toolchain),
    }
    payload = canonical.dumps(
        {
            "_type": STATEMENT_TYPE,
            "subject": subjects,
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        }
    )
    parse_statement(payload)
    return payload


def parse_statement(payload: bytes) -> Statement:
    """Read a statement of ours strictly: nothing unknown, nothing missing.

    Raises ``EvidenceError`` (``evidence.statement``).
    """
    try:
        document: Any = canonical.loads(payload, max_bytes=MAX_BYTES)
        if canonical.dumps(document) != payload:
            raise ValueError("its JSON is not canonical")
        _need(document, ("_type", "subject", "predicateType", "predicate"), "statement")
        if (document["_type"], document["predicateType"]) != (STATEMENT_TYPE, PREDICATE_TYPE):
            raise ValueError(f"it is of type {document['predicateType']!r}")
        predicate = document["predicate"]
        _need(predicate, ("runner", "batch", *_OBJECTS), "predicate")
        statement = Statement(
            digest=f"sha256:{hashlib.sha256(payload).hexdigest()}",
            subjects=tuple(map(_subject, document["subject"])),
            runner=_from_json(RunnerIdentity, predicate["runner"]),
            batch=_from_json(BatchRecord, predicate["batch"]),
            **{name: _object(predicate, name) for name in _OBJECTS},
        )
        _check(statement)
    except (CanonicalError, KeyError, TypeError, ValueError) as error:
        raise EvidenceError(
            f"not a statement of a batch: {error}; wanted {PREDICATE_TYPE}",
            code="evidence.statement",
        ) from error
    return statement


def _check(statement: Statement) -> None:
    batch = statement.batch
    if batch.number < 1 or batch.outcome not in OUTCOMES:
        raise ValueError(f"batch {batch.number} ended {batch.outcome!r}")
    if (batch.number == 1) != (batch.previous_digest is None):
        raise ValueError(f"batch {batch.number} follows {batch.previous_digest}")
    names = [subject.name for subject in statement.subjects]
    if len(set(names)) != len(names):
        raise ValueError("a file is named twice")
    if not isinstance(statement.calibration.get("withinLimits"), bool):
        raise ValueError("calibration.withinLimits is neither true nor false")
    try:
        PublicKey.parse(statement.runner.public_key)
    except EvidenceError as error:
        raise ValueError(error.message) from None


def _to_json(value: RunnerIdentity | BatchRecord) -> dict[str, Any]:
    return {_camel(name): item for name, item in asdict(value).items() if item is not None}


def _from_json(cls: Any, value: Any) -> Any:
    """A flat dataclass of texts and integers, each of its annotated type."""
    names = {_camel(field.name): field for field in fields(cls)}
    if not isinstance(value, Mapping) or value.keys() - names.keys():
        raise ValueError(f"{cls.__name__} has {sorted(value)}; wanted some of {sorted(names)}")
    for name, item in value.items():
        wanted = int if names[name].type == "int" else str
        if type(item) is not wanted:
            raise ValueError(f"{cls.__name__}.{name} is {item!r}, wanted {wanted.__name__}")
    optional = {field.name: None for field in fields(cls) if field.type == "str | None"}
    return cls(**{**optional, **{names[name].name: item for name, item in value.items()}})


def _subject(value: Any) -> Subject:
    _need(value, ("name", "digest"), "subject")
    digests = value["digest"]
    texts = isinstance(digests, Mapping) and all(isinstance(one, str) for one in digests.values())
    if (
        not isinstance(value["name"], str)
        or not texts
        or digests.keys() - {"sha256", MANIFEST_DIGEST}
    ):
        raise ValueError(f"a subject is {value!r:.200}")
    manifest = digests.get(MANIFEST_DIGEST)
    return Subject(
        name=value["name"],
        digest=f"sha256:{digests['sha256']}",
        manifest=None if manifest is None else f"sha256:{manifest}",
    )


def _object(predicate: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = predicate[name]
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is no object")
    return value


def _need(value: Any, names: tuple[str, ...], what: str) -> None:
    if not isinstance(value, Mapping) or value.keys() != set(names):
        raise ValueError(f"a {what} has {', '.join(names)} and nothing else")


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
