from __future__ import annotations

from typing import Any

import pytest

from kernelindex.manifests import KINDS, V1ALPHA1, Manifest, link_warnings, parse, references
from kernelindex.manifests.links import Lookup
from tests.manifests import factories as make


def test_a_run_names_four_manifests() -> None:
    found = [(r.path, r.kind, r.digest) for r in references(parse(make.run()))]
    assert found == [
        ("spec.implementationDigest", "ImplementationRevision", make.DIGESTS["implementation"]),
        ("spec.workloadDigest", "WorkloadCase", make.DIGESTS["workload"]),
        ("spec.protocolDigest", "BenchmarkProtocol", make.DIGESTS["protocol"]),
        ("spec.environmentDigest", "ExecutionEnvironment", make.DIGESTS["environment"]),
    ]
    assert references(parse(make.run()))[1].kinds == ("WorkloadCase", "WorkloadSuite")


@pytest.mark.parametrize("kind", KINDS)
def test_every_digest_that_ends_in_digest_and_names_a_manifest_is_found(kind: str) -> None:
    manifest = parse(make.full(kind, V1ALPHA1))
    names = {
        "operationSpecDigest", "specDigest", "implementationDigest", "workloadDigest",
        "protocolDigest", "environmentDigest", "modelDigest", "stackDigest",
        "configurationDigest",
    }  # fmt: skip
    spec = manifest.document["spec"]
    inside = [*spec.items(), *spec.get("operation", {}).items()]
    expected = [value for key, value in inside if key in names]
    assert sorted(r.digest for r in references(manifest)) == sorted(expected)


def lookup(**manifests: Manifest) -> Lookup:
    """Finds each manifest under the digest that the factories name it by."""
    known = {make.DIGESTS[name]: manifest for name, manifest in manifests.items()}
    return known.get


def codes(document: dict[str, Any], find: Lookup) -> list[tuple[str, str]]:
    return [(w.code, w.path) for w in link_warnings(parse(document), find)]


OPERATION = lookup(operation=parse(make.operation()))


def test_what_fits_has_no_warning() -> None:
    assert codes(make.workload(), OPERATION) == []
    assert codes(make.operation(), OPERATION) == []


def test_a_missing_manifest_and_a_wrong_kind() -> None:
    nothing = lookup()
    assert codes(make.workload(), nothing) == [("reference_missing", "spec.operationSpecDigest")]
    wrong = lookup(operation=parse(make.run()))
    assert codes(make.workload(), wrong) == [("reference_kind", "spec.operationSpecDigest")]


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"axes": {"m": 16, "q": 1}}, "axis_unknown", "spec.axes.q"),
        ({"axes": {"m": 16, "n": 65}, "tensors": {"a": {"shape": [16, 130], "dtype": "bf16"}}},
         "axis_value", "spec.axes.n"),
        ({"axes": {"m": 16, "n2": 129}, "tensors": {"a": {"shape": [16, 129], "dtype": "bf16"}}},
         "axis_value", "spec.axes.n2"),
        ({"axes": {"m": 0}, "tensors": {"a": {"shape": [0, 128], "dtype": "fp32"}}},
         "axis_value", "spec.axes.m"),
        ({"axes": {"n": 64}}, "axis_missing", "spec.axes"),
        ({"tensors": {}}, "tensor_missing", "spec.tensors"),
        ({"tensors": {"a": {"shape": [16, 127], "dtype": "bf16"}}},
         "tensor_shape", "spec.tensors.a.shape"),
        ({"tensors": {"a": {"shape": [16], "dtype": "bf16"}}},
         "tensor_shape", "spec.tensors.a.shape"),
        ({"tensors": {"a": {"shape": [16, 128], "dtype": "int32"}}},
         "tensor_dtype", "spec.tensors.a.dtype"),
    ],
)  # fmt: skip
def test_a_workload_that_does_not_fit_warns(changes: dict[str, Any], code: str, path: str) -> None:
    assert (code, path) in codes(make.workload(**changes), OPERATION)
    assert len(codes(make.workload(**changes), OPERATION)) == 1


def test_an_unknown_tensor_warns() -> None:
    tensors = {
        "a": {"shape": [16, 128], "dtype": "bf16"},
        "b": {"shape": [1], "dtype": "bf16"},
        "c": {"shape": [9], "dtype": "bf16"},
    }
    assert codes(make.workload(tensors=tensors), OPERATION) == [
        ("tensor_unknown", "spec.tensors.b")
    ]


def test_a_run_across_two_operations_warns() -> None:
    other = make.implementation(operation={"specDigest": make.DIGEST})
    find = lookup(
        workload=parse(make.workload()),
        implementation=parse(other),
        protocol=parse(make.protocol()),
        environment=parse(make.full("ExecutionEnvironment", V1ALPHA1)),
    )
    timing = {"primaryStatistic": "mean", "latencyNs": {"mean": 1}}
    assert codes(make.run(timing=timing), find) == [
        ("operation_mismatch", "spec"),
        ("statistic_mismatch", "spec.timing.primaryStatistic"),
    ]


def test_suite_cases_are_checked() -> None:
    suite = make.full("WorkloadSuite", V1ALPHA1)
    suite["spec"]["operationSpecDigest"] = make.DIGESTS["operation"]
    assert codes(suite, OPERATION) == [
        ("axis_unknown", "spec.cases[0].axes.key"),
        ("axis_missing", "spec.cases[0].axes"),
    ]
