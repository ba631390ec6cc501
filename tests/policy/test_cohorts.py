from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.cohorts import cohort_components, cohort_key, device_key, shape_key
from kernelindex.policy.distance import cohort_differences
from kernelindex.policy.facts import Observed, ProtocolSemantics, TimedPass
from tests.policy.factories import CONTROLLED, H100, NATIVE, SHAPE, make_primary, make_run

RUN = make_run()

SPLITS = {
    "axis": {"shape": replace(SHAPE, axes=(("experts", 128), ("tokens", 8192)))},
    "dtype": {"shape": replace(SHAPE, dtypes=(("x", "fp16"),))},
    "distribution": {"shape": replace(SHAPE, distribution="routing:uniform")},
    "pass": {"timed_pass": TimedPass.FORWARD},
    "protocol_name": {"protocol": replace(NATIVE, name="other")},
    "protocol_version": {"protocol": replace(NATIVE, version="2")},
    "protocol_rules": {"protocol": replace(NATIVE, rules=(("cache", "cold"),))},
    "protocol_source": {"source": "another-source"},
    "correctness_policy": {"correctness_key": "sha256:other"},
    "metric": {"primary": make_primary(1000.0, statistic="mean")},
    "product": {"device": replace(H100, product_id="h100-nvl-94gb")},
    "form_factor": {"device": replace(H100, form_factor="pcie")},
    "power_limit": {"device": replace(H100, power_limit="500")},
    "mig": {"device": replace(H100, mig="1g.10gb")},
}

JOINS = {
    "stack": {"stack": (("torch", "1.0"),)},
    "revision": {"revision": "9"},
    "environment": {"environment_digest": "sha256:other"},
    "workload": {"workload_digest": "sha256:other"},
    "observed": {"observed": Observed(text="", zone="utc", date=None)},
    "architecture": {"device": replace(H100, architecture="unknown", label="H100 80GB HBM3")},
    "product text": {"device": replace(H100, product="NVIDIA H100 80GB HBM3")},
}


@pytest.mark.parametrize("change", SPLITS.values(), ids=list(SPLITS))
def test_what_changes_meaning_splits_and_is_named(change: dict[str, object]) -> None:
    other = replace(RUN, **change)
    assert cohort_key(other) != cohort_key(RUN)
    assert len(cohort_differences(RUN, other)) == 1


@pytest.mark.parametrize("code", SPLITS)
def test_a_difference_has_the_name_of_what_differs(code: str) -> None:
    (found,) = cohort_differences(RUN, replace(RUN, **SPLITS[code]))
    assert found.code == code


@pytest.mark.parametrize("change", JOINS.values(), ids=list(JOINS))
def test_the_rest_joins(change: dict[str, object]) -> None:
    other = replace(RUN, **change)
    assert cohort_key(other) == cohort_key(RUN)
    assert cohort_differences(RUN, other) == ()


def test_a_controlled_protocol_counts_whoever_ran_it() -> None:
    first = replace(RUN, protocol=CONTROLLED, source="one")
    assert cohort_key(first) == cohort_key(replace(first, source="two"))
    versioned = ProtocolSemantics(profile=CONTROLLED.profile, name=CONTROLLED.name, version="2")
    assert cohort_key(first) != cohort_key(replace(first, protocol=versioned))


def test_components_are_what_the_key_names() -> None:
    parts = cohort_components(RUN)
    assert parts["v"] == "cohort/v2"
    assert parts["pass"] == "backward"
    assert parts["metric"] == "latency:median:ns"
    assert parts["device"]["product"] == "h100-sxm5-80gb"
    assert parts["device"]["ecc"] == "unstated"


def test_shape_and_device_keys_are_stable() -> None:
    assert shape_key(SHAPE) == (
        "sha256:a9d18fffbe380e24608aef4baa872ae1d54aef03b069bd9fd0c8587023fe001c"
    )
    assert device_key(H100) == (
        "sha256:036da4ac46918964751d68d10dda65c7e3a5bad6dd91b5f7153075085a517530"
    )


def test_a_failed_run_is_in_a_cohort_of_no_metric() -> None:
    assert cohort_components(replace(RUN, primary=None))["metric"] == "none"
