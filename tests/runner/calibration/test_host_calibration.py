"""Anchor, sentinels and self-check on this machine's processor, with numpy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the host's trusted work is numpy's")

from kernelindex.runner.calibration import host_checks  # noqa: E402
from kernelindex.runner.calibration.anchor import matmul  # noqa: E402
from kernelindex.runner.calibration.selfcheck import SelfCheck, check_session  # noqa: E402
from kernelindex.runner.calibration.sentinels import (  # noqa: E402
    NOMINAL_NS,
    make_sentinel,
    measure_sentinel,
)
from kernelindex.runner.channel import Refusal  # noqa: E402
from kernelindex.runner.probe.machine import open_session  # noqa: E402


def test_anchor_multiplies_the_same_numbers_every_time() -> None:
    first, again = matmul("cpu")(), matmul("cpu")()
    assert first.shape == (384, 384)
    assert first.dtype == np.float32
    assert np.array_equal(first, again)
    assert float(np.abs(first).max()) > 1.0


def test_sentinels_grow_with_their_names() -> None:
    sizes = [make_sentinel(which, "cpu")().nbytes for which in ("5us", "50us")]
    assert sizes == [65_536, 524_288]
    sides = [make_sentinel(which, "cpu")().shape[0] for which in ("500us", "5ms")]
    assert sides == [304, 656]


def test_sentinel_samples_come_with_their_nominal_time() -> None:
    found = measure_sentinel(open_session("cpu", {}), "50us", 5)
    assert len(found["samples_ns"]) == 5
    assert found["nominal_ns"] == NOMINAL_NS["50us"]
    assert min(found["samples_ns"]) > 1_000


def test_unknown_sentinel_is_refused() -> None:
    with pytest.raises(Refusal, match="5us, 50us"):
        make_sentinel("7us", "cpu")


@pytest.mark.slow
def test_selfcheck_of_a_host_has_every_proof() -> None:
    found = check_session(open_session("cpu", {}))
    names = [one.name for one in found.checks]
    assert names == [
        *("tick", "empty_call", "clock", "flush", "twice_the_work", "a_a", "matmul"),
    ]
    by_name = {one.name: one for one in found.checks}
    assert by_name["clock"].passed
    assert by_name["flush"].numbers["cold_ns"] > by_name["flush"].numbers["hot_ns"]
    assert set(found.values) == {"empty_call_ns", "copy_cold_ns", "copy_hot_ns", "matmul_gflops"}


@pytest.mark.parametrize(("last_ns", "passed"), [(3_001_000.0, True), (3_600_000.0, False)])
def test_a_clock_is_proved_by_the_one_spin_that_nobody_disturbed(
    last_ns: float, passed: bool
) -> None:
    times = iter([7_000_000.0] * 40 + [last_ns] * 100)
    timer: Any = SimpleNamespace(take=lambda *_, **__: SimpleNamespace(samples_ns=[next(times)]))
    found = SelfCheck("cpu", 10.0)
    host_checks._check_clock(found, timer)
    assert [(one.name, one.passed) for one in found.checks] == [("clock", passed)]


def test_one_failed_proof_fails_all() -> None:
    found = SelfCheck("cpu", 10.0)
    found.hold("a_a", 1.0)
    found.hold_flush(120.0, 100.0)
    assert found.passed
    found.hold("a_a", 1.5)
    assert not found.passed
    assert found.to_fields()["checks"][2]["text"] == "1.5 of the same; wanted 0.8 to 1.25"
