from __future__ import annotations

from typing import Any

import pytest

from kernelindex.policy.evidence_reading import (
    STATEABLE,
    read_stated,
    read_telemetry,
    states_protocol,
    states_samples,
    states_source,
    states_workload,
)
from kernelindex.policy.samples import Telemetry

ARTIFACT = {"uri": "x", "digest": "sha256:x"}
DRAWN = {"data": {"generator": "normal", "seed": 42}}
WORKLOAD = {"tensors": {"x": DRAWN, "w": {"data": {"artifact": ARTIFACT}}}}
PROTOCOL: dict[str, Any] = {
    "harness": {"name": "h", "version": "1"},
    "measurement": {"timer": "cuda_events", "warmupDuration": 5, "samples": 40},
}


@pytest.mark.parametrize(
    ("spec", "exact"),
    [
        ({"projectRevision": {"repository": "r", "commit": "c"}}, True),
        ({"projectRevision": {"treeDigest": "t"}}, True),
        ({"projectRevision": {}, "source": {"contentDigest": "d"}}, True),
        ({"projectRevision": {"version": "0.7.0"}}, False),
        ({"projectRevision": {"repository": "r"}}, False),
        ({"projectRevision": {"commit": "c"}}, False),
    ],
)
def test_a_version_alone_is_no_exact_source(spec: dict[str, Any], *, exact: bool) -> None:
    assert states_source(spec) is exact


@pytest.mark.parametrize(
    ("tensors", "complete"),
    [
        (WORKLOAD["tensors"], True),
        ({"x": {"data": {"generator": "normal", "parameters": {"scale": 0.02}}}}, True),
        ({"x": DRAWN, "w": {}}, False),
        ({"x": {"data": {"generator": "random"}}}, False),
        ({}, False),
    ],
)
def test_every_tensor_needs_its_data(tensors: dict[str, Any], *, complete: bool) -> None:
    assert states_workload({"tensors": tensors}) is complete


def test_a_suite_is_not_complete() -> None:
    assert not states_workload({"cases": [{"externalId": "1", "axes": {}}]})


@pytest.mark.parametrize(
    ("change", "complete"),
    [
        ({}, True),
        ({"harness": {"name": "h", "commit": "c"}}, True),
        ({"harness": {"name": "h"}}, False),
        ({"measurement": {"timer": "t", "samples": 1}}, False),
        ({"measurement": {"timer": "t", "warmupIterations": 0}}, False),
        (
            {
                "measurement": {"timer": "t"},
                "warmup": {"until": "steady"},
                "stopping": {"rule": "time"},
            },
            True,
        ),
    ],
)
def test_a_protocol_pins_harness_warmup_and_stopping(
    change: dict[str, Any], *, complete: bool
) -> None:
    assert states_protocol(PROTOCOL | change) is complete


@pytest.mark.parametrize(
    "run",
    [
        {"samples": ARTIFACT},
        {"timing": {"rawSamples": ARTIFACT}},
        {"evidence": {"rawSamples": ARTIFACT}},
    ],
)
def test_samples_may_be_named_in_three_places(run: dict[str, Any]) -> None:
    assert states_samples(run)
    assert not states_samples({"timing": {"samples": 40}})


def test_all_parts_are_named_in_order() -> None:
    run = {"samples": ARTIFACT}
    assert read_stated(run, WORKLOAD, PROTOCOL, exact_source=True) == STATEABLE
    assert read_stated({}, {}, PROTOCOL, exact_source=False) == ("protocol",)


def test_telemetry_is_what_doubts_need() -> None:
    run = {
        "telemetry": {
            "smClockMhz": {"minimum": 1440, "maximum": 1980},
            "throttleReasons": ["power"],
        },
        "trace": {"busyRatio": 0.7},
    }
    assert read_telemetry(run) == Telemetry(
        sm_clock_low_mhz=1440,
        sm_clock_high_mhz=1980,
        throttle_reasons=("power",),
        busy_share=0.7,
    )
    assert read_telemetry({}) is None
    assert read_telemetry({"trace": {"launches": 3}}) == Telemetry()
