from __future__ import annotations

from typing import Any

import pytest

from kernelindex.errors import ManifestError
from kernelindex.manifests import V1ALPHA2, parse
from kernelindex.manifests.tables import rows
from tests.manifests import factories as make

# Names that importers and policy rely on.
RELIED_ON = {
    "BenchmarkProtocol": """timedPass timedRegion.includes cache.regime cache.flushBytes load.regime
        execution process interleaving stopping gradients controlled.name controlled.version""",
    "WorkloadCase": """tensors{}.role tensors{}.data.generator routing.distribution
        routing.generator routing.parameters tolerances correctness.reference.precision""",
    "BenchmarkRun": """observedLocal.text observedLocal.zone runner batch telemetry
        memory.peakBytes memory.savedBytes traits executed[].kernel executed[].share
        doubts[].code doubts[].effect doubts[].shiftNs doubts[].text samples""",
    "ExecutionEnvironment": "hardware.migProfile hardware.confidentialComputing",
}


@pytest.mark.parametrize("kind", RELIED_ON)
def test_the_names_others_rely_on(kind: str) -> None:
    assert set(RELIED_ON[kind].split()) <= {row.path for row in rows(kind, V1ALPHA2)}


def protocol(**changes: Any) -> dict[str, Any]:
    return make.protocol(V1ALPHA2, **changes)


def run(**changes: Any) -> dict[str, Any]:
    return make.run(V1ALPHA2, **changes)


def workload(**changes: Any) -> dict[str, Any]:
    return make.workload(V1ALPHA2, **changes)


LOCAL = {"text": "2026-04-02 23:59:47", "zone": "unstated"}


@pytest.mark.parametrize(
    ("document", "path", "rule"),
    [
        (protocol(timedPass="fwd"), "spec.timedPass", "choice"),
        (protocol(timedRegion={"includes": ["io"]}), "spec.timedRegion.includes[0]", "choice"),
        (protocol(cache={"regime": "warm"}), "spec.cache.regime", "choice"),
        (protocol(cache={"regime": "hot", "flushBytes": 1}), "spec.cache", "hot_flush"),
        (protocol(cache={"regime": "cold", "flushBytes": 0}), "spec.cache.flushBytes", "range"),
        (protocol(ranks=8), "spec.ranks", "unknown_field"),
        (protocol(controlled={"name": "moe", "version": 0}), "spec.controlled.version", "range"),
        (run(observedLocal=LOCAL), "spec", "exactly_one"),
        (run(observedAt=...), "spec", "exactly_one"),
        (
            run(observedAt=..., observedLocal={**LOCAL, "zone": "UTC"}),
            "spec.observedLocal.zone",
            "choice",
        ),
        (run(executed=[{"kernel": "k", "share": 1.5}]), "spec.executed[0].share", "range"),
        (
            run(doubts=[{"code": "host_bound", "effect": "note"}]),
            "spec.doubts[0].code",
            "pattern",
        ),
        (run(doubts=[{"code": "HOST_BOUND", "effect": "bad"}]), "spec.doubts[0].effect", "choice"),
        (run(status="flaky"), "spec.status", "choice"),
        (run(batch={"id": "b", "number": -1}), "spec.batch.number", "range"),
        (workload(routing={"distribution": "random"}), "spec.routing.distribution", "choice"),
        (workload(routing={"distribution": "recorded"}), "spec.routing", "recorded_artifact"),
        (
            workload(correctness={"comparator": "close", "reference": {"precision": "bf16"}}),
            "spec.correctness.reference.precision",
            "choice",
        ),
    ],
)
def test_refusals(document: dict[str, Any], path: str, rule: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(document)
    problem = caught.value.details["problems"][0]
    assert (problem["path"], problem["rule"]) == (path, rule)


def test_a_memory_run_has_measurements_and_no_timing() -> None:
    memory = {"metric": "peak_memory", "unit": "bytes", "statistic": "median", "value": 1048576}
    manifest = parse(run(timing=..., measurements=[memory], observedAt=..., observedLocal=LOCAL))
    assert manifest.spec.timing is None
    assert manifest.spec.measurements[0].value == 1048576
    assert manifest.spec.observed_local.text == "2026-04-02 23:59:47"
    assert "timing" not in manifest.document["spec"]


def test_closed_sets_are_sorted() -> None:
    region = {"includes": ["synchronization", "allocation", "allocation"]}
    manifest = parse(protocol(timedRegion=region, timedPass="backward"))
    assert manifest.document["spec"]["timedRegion"] == {
        "includes": ["allocation", "synchronization"]
    }
    assert manifest.spec.timed_pass == "backward"


def test_new_outcomes_keep_their_samples() -> None:
    samples = {"uri": "samples.zst", "digest": make.DIGEST, "count": 640}
    manifest = parse(run(status="unstable", timing=..., samples=samples))
    assert manifest.spec.samples.count == 640


def test_native_values_may_be_texts() -> None:
    native = {"source": "a-source", "metrics": {"max_error": "NaN", "runs": 3}}
    assert parse(run(sourceNative=native)).document["spec"]["sourceNative"] == native


def test_a_signed_shift_and_numbers_keep_their_kind() -> None:
    doubts = [{"code": "TIME_ZONE_UNSTATED", "effect": "shifts", "shiftNs": -12.5}]
    assert parse(run(doubts=doubts)).spec.doubts[0].shift_ns == -12.5


def test_versions_never_share_a_digest() -> None:
    assert parse(make.protocol()).digest != parse(protocol()).digest
