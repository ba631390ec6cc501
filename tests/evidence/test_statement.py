"""Statements: what is built reads back, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import bundle
from kernelindex.evidence.statement import BatchRecord, build, parse_statement
from kernelindex.manifests import canonical
from tests.evidence.factories import ALICE, BOB, Batch, make_identity, make_workload, sha256

RECORD = BatchRecord(
    number=2, previous_digest=sha256(b"1"), plan_digest=sha256(b"plan"), outcome="complete"
)


def payload(**changes: Any) -> bytes:
    workload = make_workload()
    name = bundle.manifest_name(workload.digest)
    parts: dict[str, Any] = {
        "files": {"plan.json": b"plan", name: b"{}"},
        "manifests": {name: workload.digest},
        "runner": make_identity(),
        "batch": RECORD,
        "protocol": {"name": "p"},
        "isolation": {},
        "calibration": {"withinLimits": True, "tickNs": 32},
        "toolchain": {},
    }
    return build(**(parts | changes))


def test_it_reads_back_as_it_was_built() -> None:
    data = payload()
    found = parse_statement(data)
    assert found.digest == sha256(data)
    assert found.batch == RECORD
    assert found.runner == make_identity()
    assert found.calibration == {"withinLimits": True, "tickNs": 32}
    plan, manifest = sorted(found.subjects, key=lambda one: one.name, reverse=True)
    assert (plan.name, plan.digest, plan.manifest) == ("plan.json", sha256(b"plan"), None)
    assert manifest.manifest == make_workload().digest
    assert manifest.digest == sha256(b"{}")


def test_it_is_a_statement_of_in_toto() -> None:
    document = json.loads(payload())
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://kernelindex.dev/evidence/batch/v1"
    assert set(document["subject"][0]) == {"name", "digest"}
    assert document["predicate"]["batch"]["previousDigest"] == sha256(b"1")


def changed(path: str, value: Any) -> bytes:
    document = json.loads(payload())
    *parents, last = path.split(".")
    target = document
    for name in parents:
        target = target[int(name)] if isinstance(target, list) else target[name]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return canonical.dumps(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("_type", "https://in-toto.io/Statement/v0.1"),
        ("predicateType", "https://slsa.dev/provenance/v1"),
        ("more", 1),
        ("predicate.more", {}),
        ("predicate.batch.more", 1),
        ("predicate.batch.number", "2"),
        ("predicate.batch.number", True),
        ("predicate.batch.number", 0),
        ("predicate.batch.number", 1),
        ("predicate.batch.previousDigest", ...),
        ("predicate.batch.outcome", "fine"),
        ("predicate.runner.publicKey", "ed25519:00"),
        ("predicate.runner.owner", ...),
        ("predicate.runner.owner", 5),
        ("predicate.calibration", {}),
        ("predicate.calibration", {"withinLimits": "yes"}),
        ("predicate.protocol", []),
        ("subject.0.digest", {"sha1": "00"}),
        ("subject.0.digest", ["sha256"]),
        ("subject.0.digest", {"sha256": 5}),
        ("subject", 7),
        ("predicate", []),
        ("subject.0.more", 1),
        ("subject.1.name", ...),
    ],
)
def test_anything_else_is_refused(path: str, value: Any) -> None:
    with pytest.raises(EvidenceError, match="not a statement of a batch") as caught:
        parse_statement(changed(path, value))
    assert caught.value.code == "evidence.statement"


def test_a_file_named_twice_and_loose_json_are_refused() -> None:
    document = json.loads(payload())
    document["subject"].append(document["subject"][0])
    for data in (canonical.dumps(document), json.dumps(json.loads(payload())).encode(), b"{"):
        with pytest.raises(EvidenceError):
            parse_statement(data)


def test_a_bundle_is_signed_by_the_key_its_statement_names() -> None:
    batch = Batch()
    stranger = replace(batch.runner, public_key=BOB.public.text)
    with pytest.raises(EvidenceError, match="the key that signs is") as caught:
        bundle.seal(
            files={},
            manifests=(),
            signer=ALICE,
            runner=stranger,
            batch=RECORD,
            protocol={},
            isolation={},
            calibration={"withinLimits": True},
            toolchain={},
        )
    assert caught.value.code == "evidence.key"
