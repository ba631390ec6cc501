"""v1alpha1 against the design: required fields, values and refusals, written out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kernelindex.errors import ManifestError
from kernelindex.manifests import KINDS, V1ALPHA1, digest_of, json_schema, parse
from kernelindex.manifests.tables import rows
from tests.manifests import factories as make

# Fields of spec that have no "?" in design section 1, within objects that may be optional.
# Digest of what the schemas of v1alpha1 say, words for people aside.
FROZEN = "sha256:beb3d61a463d3cfab225bf56ad17ce1fb1b1b70757d20d3a19c948d5dcc4d33c"
REQUIRED = {
    "OperationSpec": """family axes axes{}.role axes{}.type inputs inputs[].name
        inputs[].tensor.shape inputs[].tensor.dtype inputs[].scalar.dtype outputs outputs[].name
        outputs[].tensor.shape outputs[].tensor.dtype outputs[].scalar.dtype semantics
        semantics.mutation semantics.determinism reference.language""",
    "WorkloadCase": """operationSpecDigest axes tensors tensors{}.shape tensors{}.dtype
        tensors{}.data.generator scalars{}.dtype scalars{}.value correctness
        correctness.comparator""",
    "WorkloadSuite": """operationSpecDigest cases cases[].externalId cases[].axes correctness
        correctness.comparator aggregation aggregation.metric aggregation.statistic""",
    "SoftwareProject": "name host.kind host.id packages[].ecosystem packages[].name",
    "ImplementationRevision": """projectRevision operation operation.specDigest callable
        callable.language support support.hardwareArchitectures support.dtypes
        source.contentDigest buildVariants[].name buildVariants[].install
        buildVariants[].install.kind licensing licensing.evidence.path""",
    "BenchmarkProtocol": """harness harness.name measurement measurement.timer
        measurement.primaryStatistic correctness.reference correctness.comparator
        comparability.family""",
    "ExecutionEnvironment": """hardware hardware.vendor hardware.product hardware.architecture
        software software.framework.name software.framework.version""",
    "BenchmarkRun": """implementationDigest workloadDigest protocolDigest environmentDigest status
        correctness.comparator timing.primaryStatistic timing.latencyNs measurements[].metric
        measurements[].unit measurements[].statistic measurements[].value sourceNative.source
        evidence.harness.repository evidence.harness.commit observedAt""",
    "ModelRevision": "model repository.host repository.id",
    "ServingStackRevision": "project project.name revision",
    "ServingConfiguration": "stackDigest speculative.method",
    "ServingWorkload": """dataset.name tokens.prompt.distribution tokens.output.distribution
        streaming loadGeneration slo[].metric slo[].statistic slo[].operator slo[].value
        slo[].unit""",
    "ServingRun": """modelDigest configurationDigest workloadDigest topology
        topology.acceleratorModel topology.acceleratorsPerNode topology.nodeCount harness
        harness.name harness.version qualityPolicy status measurements measurements[].metric
        measurements[].unit measurements[].statistic measurements[].value sourceNative.source
        sourceNative.benchmark sourceNative.scenario sourceNative.division sourceNative.category
        sourceNative.externalId observedAt""",
}


@pytest.mark.parametrize("kind", KINDS)
def test_required_fields_are_those_of_the_design(kind: str) -> None:
    found = {row.path for row in rows(kind, V1ALPHA1) if row.required}
    assert found == set(REQUIRED[kind].split())


def problem_of(document: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(ManifestError) as caught:
        parse(document)
    problem = caught.value.details["problems"][0]
    return problem["path"], problem["rule"]


def axes(**named: Any) -> dict[str, Any]:
    return {name: {"role": "derived", "type": "integer", **axis} for name, axis in named.items()}


TENSOR = {"shape": ["m"], "dtype": "bf16"}


@pytest.mark.parametrize(
    ("document", "path", "rule"),
    [
        (make.operation(family="Gemm"), "spec.family", "pattern"),
        (make.operation(family="g" * 101), "spec.family", "length"),
        (make.operation(inputs=[]), "spec.inputs", "length"),
        (
            make.operation(inputs=[{"name": "a"}]),
            "spec.inputs[0]",
            "exactly_one",
        ),
        (
            make.operation(inputs=[{"name": "a", "tensor": TENSOR, "scalar": {"dtype": "fp32"}}]),
            "spec.inputs[0]",
            "exactly_one",
        ),
        (
            make.operation(inputs=[{"name": "a", "tensor": TENSOR}] * 2),
            "spec",
            "repeated_name",
        ),
        (
            make.operation(outputs=[{"name": "c", "tensor": {"shape": ["k"], "dtype": "bf16"}}]),
            "spec",
            "unknown_axis",
        ),
        (
            make.operation(outputs=[{"name": "c", "tensor": {"shape": [], "dtype": "bf16"}}]),
            "spec.outputs[0].tensor.shape",
            "length",
        ),
        (
            make.operation(outputs=[{"name": "c", "tensor": {"shape": [1.5], "dtype": "bf16"}}]),
            "spec.outputs[0].tensor.shape[0]",
            "type",
        ),
        (
            make.operation(axes={"m": {"role": "constant", "type": "integer"}}),
            "spec.axes.m",
            "constant_value",
        ),
        (
            make.operation(axes={"m": {"role": "derived", "type": "integer"}}),
            "spec.axes.m",
            "derived_expression",
        ),
        (make.operation(axes=axes(m={"expression": "m ** 2"})), "spec", "unknown_axis"),
        (
            make.operation(axes=axes(m={"expression": "1"}, n2={"expression": "2 ** m"})),
            "spec",
            "expression",
        ),
        (
            make.operation(axes=axes(m={"expression": "n2"}, n2={"expression": "m"})),
            "spec",
            "cyclic_axes",
        ),
        (make.operation(axes={"M": {}}), "spec.axes.M", "pattern"),
        (make.workload(axes={"m": 1.5}), "spec.axes.m", "type"),
        (make.workload(axes={"m": True}), "spec.axes.m", "type"),
        (make.workload(axes={"m": "16"}), "spec.axes.m", "type"),
        (make.workload(axes={"m": 1e20}), "spec.axes.m", "type"),
        (make.workload(operationSpecDigest="md5:1"), "spec.operationSpecDigest", "pattern"),
        (
            make.workload(operationSpecDigest=make.DIGEST.upper()),
            "spec.operationSpecDigest",
            "pattern",
        ),
        (
            make.workload(operationSpecDigest=make.DIGEST + "\n"),
            "spec.operationSpecDigest",
            "pattern",
        ),
        (
            make.workload(tensors={"a": {"shape": [-1], "dtype": "bf16"}}),
            "spec.tensors.a.shape[0]",
            "range",
        ),
        (
            make.workload(correctness={"comparator": "close", "requiredMatchedRatio": 1.01}),
            "spec.correctness.requiredMatchedRatio",
            "range",
        ),
        (
            make.workload(correctness={"comparator": "close", "nanPolicy": "allow"}),
            "spec.correctness.nanPolicy",
            "choice",
        ),
        (make.implementation(projectRevision={"commit": "b81d40e"}), "spec.projectRevision.commit",
         "pattern"),
        (make.implementation(projectRevision={"repository": "http://example.org/a"}),
         "spec.projectRevision.repository", "pattern"),
        (make.implementation(projectRevision={"version": "v" * 101}),
         "spec.projectRevision.version", "length"),
        (make.protocol(measurement={"timer": "CUDA events", "primaryStatistic": "median"}),
         "spec.measurement.timer", "pattern"),
        (make.protocol(timedPass="forward"), "spec.timedPass", "unknown_field"),
        (make.run(status="ok"), "spec.status", "choice"),
        (make.run(status="unstable"), "spec.status", "choice"),
        (make.run(timing={"primaryStatistic": "p95", "latencyNs": {"p95": 1}}),
         "spec.timing.latencyNs", "median_or_mean"),
        (make.run(timing={"primaryStatistic": "median", "latencyNs": {"median": 8120.5}}),
         "spec.timing.latencyNs.median", "type"),
        (make.run(timing={"primaryStatistic": "median", "latencyNs": {"median": "0.5 ns"}}),
         "spec.timing.latencyNs.median", "duration"),
        (make.run(timing={"primaryStatistic": "median", "latencyNs": {"median": -1}}),
         "spec.timing.latencyNs.median", "range"),
        (make.run(timing={"primaryStatistic": "median", "latencyNs": {"mean": 1,
         "confidence95": [1]}}), "spec.timing.latencyNs.confidence95[1]", "required"),
        (make.run(observedAt="2026-08-01T12:00:00+00:00"), "spec.observedAt", "pattern"),
        (make.run(observedAt="2026-08-01T12:00:00"), "spec.observedAt", "pattern"),
        (make.run(observedAt="2026-08-01 12:00:00Z"), "spec.observedAt", "pattern"),
        (make.run(observedAt="2026-02-30T12:00:00Z"), "spec.observedAt", "date"),
        (make.run(observedAt="2026-08-01T24:00:00Z"), "spec.observedAt", "pattern"),
        (make.run(observedAt="٢٠٢٦-08-01T12:00:00Z"), "spec.observedAt", "pattern"),
        (make.run(observedAt=...), "spec.observedAt", "required"),
        (make.run(measurements=[{"metric": "latency", "unit": "ns", "statistic": "p20",
         "value": "5"}]), "spec.measurements[0].value", "type"),
        (make.run(sourceNative={"source": "a-source", "metrics": {"x": 2**53 + 1}}),
         "spec.sourceNative.metrics.x", "integer_range"),
        (make.run(sourceNative={"source": "a-source", "metrics": {"x": float("nan")}}),
         "spec.sourceNative.metrics.x", "type"),
        (make.run(sourceNative={"source": "a-source", "metrics": {"x": "NaN"}}),
         "spec.sourceNative.metrics.x", "type"),
        (make.run(sourceNative={"source": "a_source"}), "spec.sourceNative.source", "pattern"),
    ],
)  # fmt: skip
def test_refusals(document: dict[str, Any], path: str, rule: str) -> None:
    assert problem_of(document) == (path, rule)


@pytest.mark.parametrize(
    "document",
    [
        make.operation(axes={"m": {"role": "variable", "type": "integer", "value": -3},
                             "n2": {"role": "variable", "type": "integer"}}),
        make.workload(axes={}, tensors={}, scalars={}),
        make.workload(axes={"m": 0}, tensors={"a": {"shape": [0], "dtype": "bf16"}}),
        make.workload(scalars={"a": {"dtype": "bool", "value": True}}),
        make.implementation(projectRevision={"version": "  "},
                            support={"hardwareArchitectures": [], "dtypes": ["bf16"]}),
        make.protocol(harness={"name": ""}),
        make.run(status="compile_error", timing=...),
        make.run(observedAt="2024-02-29T23:59:59.123456789Z"),
        make.run(measurements=[]),
    ],
)  # fmt: skip
def test_acceptances(document: dict[str, Any]) -> None:
    assert parse(document).document["spec"] == document["spec"]


def test_durations_become_nanoseconds_and_sets_are_sorted() -> None:
    latency = {"median": "8.12 ms", "p95": 9_000_000, "confidence95": ["8 ms", "8.2 ms"]}
    measured = parse(make.run(timing={"primaryStatistic": "median", "latencyNs": latency}))
    assert measured.document["spec"]["timing"]["latencyNs"] == {
        "median": 8_120_000,
        "p95": 9_000_000,
        "confidence95": [8_000_000, 8_200_000],
    }
    assert measured.spec.timing.latency_ns.median == 8_120_000
    assert parse(make.implementation()).document["spec"]["support"]["dtypes"] == ["bf16", "fp16"]


def test_sets_are_sorted_by_utf_16() -> None:
    support = {"hardwareArchitectures": [], "dtypes": []}
    document = make.implementation(
        support={**support, "productsTested": ["\ufb01", "😀", "z", "😀"]}
    )
    tested = parse(document).document["spec"]["support"]["productsTested"]
    assert tested == ["z", "😀", "\ufb01"]


def test_integral_doubles_are_integers_and_keep_the_digest() -> None:
    written = parse(make.workload(axes={"m": 16.0, "n": 64}))
    assert written.digest == parse(make.workload()).digest
    assert type(written.spec.axes["m"]) is int


def test_metadata_is_not_part_of_the_digest() -> None:
    other = {**make.run(), "metadata": {"name": "other", "title": "Other", "labels": {"a": "b"}}}
    assert parse(other).digest == parse(make.run()).digest
    assert parse(other) != parse(make.run())
    assert parse(other).metadata.labels == {"a": "b"}


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({}, "metadata.name"),
        ({"name": "A thing"}, "metadata.name"),
        ({"name": "a" * 201}, "metadata.name"),
        ({"name": "a", "title": "t" * 201}, "metadata.title"),
        ({"name": "a", "labels": {"Key": "v"}}, "metadata.labels.Key"),
        ({"name": "a", "labels": {"key": "v" * 201}}, "metadata.labels.key"),
        ({"name": "a", "sourceRefs": [{"url": "ftp://a"}]}, "metadata.sourceRefs[0].url"),
    ],
)
def test_metadata_is_checked(metadata: dict[str, Any], path: str) -> None:
    assert problem_of({**make.run(), "metadata": metadata})[0] == path


def test_all_problems_are_listed_and_the_first_is_in_words() -> None:
    document = make.run(status="ok", observedAt=..., extra=1)
    with pytest.raises(ManifestError) as caught:
        parse(document)
    found = {(p["path"], p["rule"]) for p in caught.value.details["problems"]}
    assert found == {
        ("spec.status", "choice"),
        ("spec.observedAt", "required"),
        ("spec.extra", "unknown_field"),
    }
    assert caught.value.message.startswith('BenchmarkRun a-thing refused: spec.status: saw "ok"')
    assert caught.value.message.endswith("(and 2 more)")


def test_a_refused_manifest_cannot_be_changed_into_one() -> None:
    spec = parse(make.run()).spec
    with pytest.raises(ValueError, match="frozen"):
        spec.status = "ok"


def structure(schema: Any) -> Any:
    """``schema`` without the words for people."""
    if isinstance(schema, dict):
        words = {"description", "title", "$comment"}
        kept = {k: v for k, v in schema.items() if k not in words or isinstance(v, dict)}
        return {key: structure(value) for key, value in kept.items()}
    return [structure(item) for item in schema] if isinstance(schema, list) else schema


def test_v1alpha1_is_frozen() -> None:
    schemas = {kind: structure(json_schema(kind, V1ALPHA1)) for kind in KINDS}
    assert digest_of(schemas) == FROZEN, "v1alpha1 never changes; put it into v1alpha2"
