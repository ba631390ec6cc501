"""Reference objects, canonicalisation vectors, published examples and edge cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernelindex.errors import CanonicalError, KernelIndexError
from kernelindex.manifests import canonical, digest_of, load, parse, references
from kernelindex.manifests.durations import duration_ns
from tests.support.shared import shared_path

JCS = ("arrays", "french", "structures", "unicode", "values", "weird")
EXAMPLES = (
    "benchmark-protocol",
    "benchmark-run",
    "execution-environment",
    "implementation-revision",
    "model-revision",
    "operation-spec",
    "serving-configuration",
    "serving-run",
    "serving-stack-revision",
    "serving-workload",
    "software-project",
    "workload-case",
    "workload-suite",
)
INVALID = {
    "ambiguous-duration": ("manifest.invalid", "spec.timing.latencyNs.median", "0.0000005 ms"),
    "bad-digest": ("manifest.invalid", "spec.operationSpecDigest", "md5:abc123"),
    "duplicate-key": ("canonical.duplicate_key", "$.spec.name", "name"),
    "unknown-field": ("manifest.invalid", "spec.popularity", "9001"),
}


def seed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        shared_path("conformance/seed-run-01a0202b.json").read_text()
    )
    return found


@pytest.mark.parametrize("name", JCS)
def test_canonicalisation_vectors(name: str) -> None:
    value = canonical.loads(shared_path(f"conformance/jcs/input/{name}.json").read_bytes())
    expected = shared_path(f"conformance/jcs/output/{name}.json").read_bytes()
    assert canonical.dumps(value) == expected


def test_the_reference_manifests_have_their_digests() -> None:
    expected = seed()["expected"]["digests"]
    manifests = {name: parse(document) for name, document in seed()["manifests"].items()}
    assert {name: manifest.digest for name, manifest in manifests.items()} == expected
    named = {reference.digest for reference in references(manifests["run"])}
    assert named == {expected[k] for k in ("workload", "implementation", "protocol", "environment")}


def test_the_correctness_key_of_the_reference_workload() -> None:
    workload = parse(seed()["manifests"]["workload"])
    key = digest_of({"correctness": workload.document["spec"]["correctness"]})
    assert key == seed()["expected"]["correctnessKey"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_published_examples_are_accepted(name: str) -> None:
    text = shared_path(f"data/kernelindex-manifests/{name}.yaml").read_bytes()
    manifest = load(text, form="yaml")
    assert manifest.kind.lower() == name.replace("-", "")
    assert load(canonical.dumps(manifest.document)).digest == manifest.digest


def test_published_examples_name_each_other() -> None:
    loaded = [
        load(shared_path(f"data/kernelindex-manifests/{name}.yaml").read_bytes(), form="yaml")
        for name in EXAMPLES
    ]
    digests = {manifest.digest for manifest in loaded}
    named = [reference.digest for manifest in loaded for reference in references(manifest)]
    assert len(named) == 11
    assert set(named) <= digests


@pytest.mark.parametrize("name", INVALID)
def test_published_invalid_examples_are_refused(name: str) -> None:
    code, path, seen = INVALID[name]
    text = shared_path(f"data/kernelindex-manifests/invalid/{name}.yaml").read_bytes()
    with pytest.raises(KernelIndexError) as caught:
        load(text, form="yaml")
    assert caught.value.code == code
    assert path in caught.value.message
    assert seen in caught.value.message


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("E03-int-over-2p53", "canonical.integer_range"),
        ("E05-bare-nan", "canonical.not_finite"),
        ("E07-duplicate-key", "canonical.duplicate_key"),
    ],
)
def test_edge_cases_that_are_refused(name: str, code: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical.loads(shared_path(f"edge-cases/{name}.json").read_bytes())
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "E01-jcs-numbers",
            b"[1e+21,100000000000000000000,0.000001,1e-7,333333333.3333333,4.5,0.002]",
        ),
        ("E10-string-escapes", '"\u2028\u007f\\u001f/A"'.encode()),
    ],
)
def test_edge_cases_that_are_rewritten(name: str, expected: bytes) -> None:
    text = shared_path(f"edge-cases/{name}.json").read_bytes()
    assert canonical.dumps(canonical.loads(text)) == expected


def test_edge_case_durations() -> None:
    cases = json.loads(shared_path("edge-cases/E13-durations.json").read_text())
    assert {text: duration_ns(text) or "reject" for text in cases} == cases
