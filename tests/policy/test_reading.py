"""Facts are read from manifests as stated; what is not stated stays unstated."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kernelindex.manifests import Manifest, parse
from kernelindex.policy import reading
from kernelindex.policy.facts import Profile, RunFacts, Shape, TimedPass
from kernelindex.policy.run_values import read_source_doubts

V1, V2 = "kernelindex.dev/v1alpha1", "kernelindex.dev/v1alpha2"
OBSERVATION = reading.ObservationFacts(source="somebody")


def manifest(
    kind: str, spec: dict[str, Any], *, version: str = V1, name: str = "thing"
) -> Manifest:
    return parse({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})


OPERATION = manifest(
    "OperationSpec",
    {
        "family": "scale",
        "axes": {
            "rows": {"role": "variable", "type": "integer"},
            "cols": {"role": "constant", "type": "integer", "value": 8},
        },
        "inputs": [{"name": "x", "tensor": {"shape": ["rows", "cols"], "dtype": "float"}}],
        "outputs": [{"name": "y", "tensor": {"shape": ["rows", "cols"], "dtype": "float"}}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    },
)
WORKLOAD = {
    "operationSpecDigest": OPERATION.digest,
    "axes": {"rows": 4, "cols": 8},
    "tensors": {"x": {"shape": [4, 8], "dtype": "bfloat16"}},
    "correctness": {"comparator": "allclose"},
}
PROTOCOL: dict[str, Any] = {
    "harness": {"name": "their harness"},
    "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
}
ENVIRONMENT: dict[str, Any] = {
    "hardware": {"vendor": "nvidia", "product": "NVIDIA H100 80GB HBM3", "architecture": "unknown"},
    "software": {},
}
IMPLEMENTATION: dict[str, Any] = {
    "projectRevision": {"version": "1.2"},
    "operation": {"specDigest": OPERATION.digest},
    "callable": {"language": "python", "path": "a.py", "symbol": "f"},
    "support": {"hardwareArchitectures": [], "dtypes": []},
    "licensing": {},
}
RUN: dict[str, Any] = {
    "status": "passed",
    "timing": {"primaryStatistic": "median", "latencyNs": {"median": 1000}},
    "observedAt": "2026-04-02T23:59:47Z",
}


def read(
    *,
    run: dict[str, Any] = RUN,
    workload: dict[str, Any] = WORKLOAD,
    protocol: dict[str, Any] = PROTOCOL,
    environment: dict[str, Any] = ENVIRONMENT,
    version: str = V1,
) -> RunFacts:
    parts = {
        "workloadDigest": manifest("WorkloadCase", workload, version=version),
        "protocolDigest": manifest("BenchmarkProtocol", protocol, version=version),
        "environmentDigest": manifest("ExecutionEnvironment", environment, version=version),
        "implementationDigest": manifest("ImplementationRevision", IMPLEMENTATION),
    }
    spec = {**copy.deepcopy(run), **{field: part.digest for field, part in parts.items()}}
    return reading.read_run(
        manifest("BenchmarkRun", spec, version=version),
        reading.read_workload(parts["workloadDigest"], OPERATION),
        reading.read_protocol(parts["protocolDigest"]),
        reading.read_environment(parts["environmentDigest"]),
        reading.read_implementation(parts["implementationDigest"], source="somebody"),
        OBSERVATION,
    )


def test_an_unmapped_operation_is_its_own_digest() -> None:
    facts = read()
    assert facts.shape.operation == OPERATION.digest
    assert not facts.shape.mapped
    assert facts.shape.axes == (("cols", 8), ("rows", 4))
    assert facts.shape.dtypes == (("x", "bf16"),)
    assert facts.cost is None


def test_an_unknown_dtype_keeps_its_text() -> None:
    workload = {**WORKLOAD, "tensors": {"x": {"shape": [4], "dtype": "strange9"}}}
    assert read(workload=workload).shape.dtypes == (("x", "strange9"),)


def test_a_pass_that_nobody_states_is_unstated() -> None:
    assert read().timed_pass is TimedPass.UNSTATED


def test_v1alpha2_states_pass_and_rules() -> None:
    protocol = {
        **PROTOCOL,
        "timedPass": "backward",
        "cache": {"regime": "cold"},
        "gradients": "leaf",
    }
    facts = read(protocol=protocol, version=V2)
    assert facts.timed_pass is TimedPass.BACKWARD
    assert dict(facts.protocol.rules) == {"cache": "cold", "gradients": "leaf"}
    assert facts.protocol.profile is Profile.SOURCE_NATIVE


def test_the_product_supplies_what_a_frozen_manifest_says_is_unknown() -> None:
    device = read().device
    assert device.architecture == "sm_90"
    assert device.product_id is not None
    assert device.count == "unstated"


def test_a_form_factor_nobody_knows_stays_a_class_of_its_own() -> None:
    hardware = {**ENVIRONMENT["hardware"], "product": "NVIDIA H100", "formFactor": "runner:X"}
    device = read(environment={**ENVIRONMENT, "hardware": hardware}).device
    assert device.product_id is None
    assert (device.family, device.form_factor) == ("H100", "runner:X")


def test_a_slice_and_confidential_computing_split_the_device_class() -> None:
    hardware = {**ENVIRONMENT["hardware"], "migProfile": "none", "confidentialComputing": False}
    device = read(environment={**ENVIRONMENT, "hardware": hardware}, version=V2).device
    assert (device.mig, device.confidential) == ("none", "off")
    hardware |= {"migProfile": "1g.18gb", "confidentialComputing": True}
    device = read(environment={**ENVIRONMENT, "hardware": hardware}, version=V2).device
    assert (device.mig, device.confidential) == ("1g.18gb", "on")
    unsaid = read(version=V2).device
    assert (unsaid.mig, unsaid.confidential) == ("unstated", "unstated")


def test_the_stack_is_every_stated_version_in_order() -> None:
    software = {
        "driver": "580",
        "framework": {"name": "torch", "version": "2.9"},
        "libraries": {"triton": "3.6"},
    }
    facts = read(environment={**ENVIRONMENT, "software": software})
    assert facts.stack == (("driver", "580"), ("torch", "2.9"), ("triton", "3.6"))


def test_a_published_spread_is_kept_but_is_no_interval() -> None:
    quantiles = [
        {"metric": "latency", "unit": "ns", "statistic": name, "value": value}
        for name, value in (("p20", 990), ("p80", 1010))
    ]
    timing = {"primaryStatistic": "median", "latencyNs": {"median": 1000, "confidence95": [9, 10]}}
    facts = read(run={**RUN, "timing": timing, "measurements": quantiles})
    assert facts.spread is not None
    assert (facts.spread.kind, facts.spread.low, facts.spread.high) == ("p20-p80", 990, 1010)
    assert facts.interval is None


def test_our_own_protocol_brings_its_interval() -> None:
    timing = {"primaryStatistic": "median", "latencyNs": {"median": 1000, "confidence95": [9, 10]}}
    protocol = {**PROTOCOL, "harness": {"name": reading.CONTROLLED_HARNESS, "version": "1"}}
    facts = read(run={**RUN, "timing": timing}, protocol=protocol)
    assert facts.protocol.profile is Profile.CONTROLLED
    assert facts.interval is not None
    assert (facts.interval.low, facts.interval.high) == (9, 10)


@pytest.mark.parametrize(
    ("workload_comparator", "stated", "asserted"),
    [
        ("not_asserted", None, False),
        ("allclose", None, True),
        ("allclose", {"comparator": "not_asserted"}, False),
        ("not_asserted", {"comparator": "allclose"}, False),
    ],
)
def test_correctness_needs_a_check_on_both_sides(
    workload_comparator: str, stated: dict[str, str] | None, asserted: bool
) -> None:
    run = {**RUN, "correctness": stated} if stated else RUN
    workload = {**WORKLOAD, "correctness": {"comparator": workload_comparator}}
    assert read(run=run, workload=workload).correctness.asserted is asserted


def test_a_local_time_has_a_date_but_no_zone() -> None:
    run = {key: value for key, value in RUN.items() if key != "observedAt"}
    run["observedLocal"] = {"text": "2026-04-02 23:59:47", "zone": "unstated"}
    observed = read(run=run, version=V2).observed
    assert (observed.text, observed.zone, observed.date) == (
        "2026-04-02 23:59:47",
        "unstated",
        "2026-04-02",
    )


def test_without_equivalence_the_line_is_the_manifest_own_entry_point() -> None:
    facts = read()
    assert facts.line.entry_point == "a.py:f"
    assert facts.revision == "1.2"
    assert OPERATION.digest[7:15] in facts.line.id


@pytest.mark.parametrize(("is_time", "size"), [(True, 1e6), (False, None)])
def test_a_size_in_time_is_no_size_of_memory(is_time: bool, size: float | None) -> None:
    """The harness's extra time belongs to times of Liger's MoE, not to its peak memory."""
    shape = Shape(
        operation="moe-mlp",
        family="moe",
        mapped=True,
        axes=(("experts", 64), ("hidden", 2048), ("intermediate", 768)),
        dtypes=(),
    )
    doubts = read_source_doubts(
        "liger-kernel-bench", shape, TimedPass.BACKWARD, "h100-sxm5-80gb", is_time=is_time
    )
    sizes = {doubt.code: doubt.shift_ns for doubt in doubts}
    assert sizes["HARNESS_WORK_IN_TIMED_REGION"] == size
