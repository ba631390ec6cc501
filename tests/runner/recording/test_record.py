"""A hand-made batch becomes manifests that say what it says, and that policy can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.manifests import link_warnings
from kernelindex.policy.facts import Profile, TimedPass
from kernelindex.policy.reading import read_environment, read_protocol, read_workload
from kernelindex.registry.equivalence import map_operation
from kernelindex.registry.operation_specs import build_operation
from kernelindex.runner import batch_files
from kernelindex.runner.offers import recordable
from kernelindex.runner.recording import BatchError, RunnerFacts, read_batch, record_batch
from kernelindex.stats import median
from tests.runner.recording.factories import (
    COMMITMENT,
    SEED,
    make_batch,
    make_calibration,
    make_plan,
)
from tests.support.selfchecks import make_selfcheck

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.runner.recording import RecordedRun

RUNNER = RunnerFacts(id="tests", owner="tester", host="bench", device="cpu0")


def recorded(folder: Path) -> tuple[RecordedRun, ...]:
    return record_batch(read_batch(folder), RUNNER)


def one(runs: tuple[RecordedRun, ...], candidate: str, timed_pass: str) -> RecordedRun:
    return next(
        run
        for run in runs
        if (run.series.candidate.id, run.series.regime.timed_pass) == (candidate, timed_pass)
    )


def test_every_series_becomes_a_run_whose_parts_fit_each_other(tmp_path: Path) -> None:
    runs = recorded(make_batch(tmp_path))
    known = {manifest.digest: manifest for run in runs for manifest in run.manifests}
    assert len(runs) == 10
    assert [
        link_warnings(m, known.get) for m in known.values() if link_warnings(m, known.get)
    ] == []


def test_numbers_of_a_run_are_those_of_its_samples(tmp_path: Path) -> None:
    run = one(recorded(make_batch(tmp_path)), "pytorch/RMSNorm", "full")
    spec = run.run.document["spec"]
    every = [value for rounds in run.series.samples_ns for one in rounds for value in one]
    timing = spec["timing"]
    assert timing["samples"] == spec["samples"]["count"] == 120
    assert abs(timing["latencyNs"]["median"] - median(every)) <= 0.5
    low, high = timing["latencyNs"]["confidence95"]
    assert low < timing["latencyNs"]["median"] < high < 1.01 * low
    assert [len(rounds) for rounds in timing["roundMediansNs"]] == [8, 8, 8]
    file = tmp_path / spec["samples"]["uri"]
    assert spec["samples"]["digest"] == batch_files.digest(file.read_bytes())


def test_a_run_says_who_when_and_with_which_seed(tmp_path: Path) -> None:
    spec = one(recorded(make_batch(tmp_path)), "pytorch/RMSNorm", "forward").run.document["spec"]
    assert spec["runner"] == {"id": "tests", "owner": "tester", "host": "bench", "device": "cpu0"}
    assert (spec["batch"]["seed"], spec["batch"]["seedCommitment"]) == (SEED, COMMITMENT)
    assert spec["batch"]["number"] == 1
    assert spec["batch"]["anchorMedian"] == pytest.approx(500_000, rel=0.01)
    assert spec["observedAt"].endswith("Z")


def test_what_was_found_stands_under_the_manifest_s_names(tmp_path: Path) -> None:
    run = one(recorded(make_batch(tmp_path)), "pytorch/RMSNorm", "backward")
    spec = run.run.document["spec"]
    assert spec["correctness"]["outputs"]["grad_x"] == {
        "passed": True,
        "finite": True,
        "frobeniusError": 2e-7,
    }
    assert spec["correctness"]["outputs"]["y"]["worstRowError"] == 2e-7
    assert spec["correctness"]["draws"] == ["own", "stress", "uneven"]
    assert spec["correctness"]["timedCallsChecked"] == 3
    assert spec["executed"] == [{"kernel": "rms_norm_kernel", "share": 0.9, "launches": 1}]
    assert spec["trace"] == {"launches": 2, "busyRatio": 0.97}
    assert spec["memory"] == {"peakBytes": 4096}
    assert spec["traits"] == {"deterministic": True, "firstCall": 5_000_000, "setup": 0}
    assert spec["telemetry"]["smClockMhz"]["maximum"] == 1980


def test_the_shape_is_that_of_published_runs(tmp_path: Path) -> None:
    run = one(recorded(make_batch(tmp_path)), "pytorch/RMSNorm", "forward")
    facts = read_workload(run.workload, run.operation)
    assert facts.shape.operation == "rms-norm"
    assert facts.shape.axes == (("hidden", 1024), ("tokens", 512))
    assert facts.shape.dtypes == (("weight", "fp32"), ("x", "fp32"))
    assert facts.shape.distribution is None


def test_every_operation_here_is_the_reviewed_one_of_its_slug() -> None:
    for slug in recordable():
        mapping = map_operation(build_operation(slug).digest)
        assert mapping is not None, f"{slug}: no source writes this OperationSpec"
        assert mapping.slug == slug


def test_protocol_is_controlled_and_tells_regimes_apart(tmp_path: Path) -> None:
    runs = recorded(make_batch(tmp_path))
    forward = one(runs, "pytorch/RMSNorm", "forward").protocol
    backward = one(runs, "pytorch/RMSNorm", "backward").protocol
    facts = read_protocol(backward)
    assert facts.semantics.profile is Profile.CONTROLLED
    assert facts.timed_pass is TimedPass.BACKWARD
    assert dict(facts.semantics.rules) == {
        "cache": "cold",
        "execution": "eager",
        "gradients": "leaf",
        "load": "sustained",
        "region": "allocation,host_work",
    }
    assert "gradients" not in dict(read_protocol(forward).semantics.rules)


def test_emulated_protocol_is_another_version_and_never_ranks_with_ours() -> None:
    from kernelindex.runner.planning import Ask, choose_point
    from kernelindex.runner.protocols import build_plan
    from kernelindex.runner.recording.protocol import build_protocol
    from kernelindex.runner.regimes import Regime

    ask = Ask(operation="moe-mlp", axes={"experts": 64}, device="cuda:0", gradients="non_leaf")
    point = choose_point(ask).point
    regime = Regime(timed_pass="backward", cache="cold", load="sustained", execution="eager")
    versions = []
    for protocol in ("records", "do-bench-10"):
        plan = build_plan([point], runner="r", number=1, device="cuda:0", protocol=protocol)
        versions.append(read_protocol(build_protocol(plan, point, regime)).semantics.version)
    assert versions == ["1, gaps worked", "1, as do-bench-10"]


def test_a_gpu_has_every_part_of_its_device_class(tmp_path: Path) -> None:
    plan = make_plan(device="cuda:0", candidates=("pytorch/RMSNorm",))
    run = recorded(make_batch(tmp_path, plan))[0]
    spec = run.environment.document["spec"]
    assert spec["hardware"]["product"] == "NVIDIA H200"
    assert spec["hardware"]["architecture"] == "sm_90"
    assert spec["hardware"]["migProfile"] == "none"
    assert spec["hardware"]["timerTickNs"] == 32.0
    assert spec["settings"] == {
        "clocksLocked": False,
        "powerLimitWatts": 700.0,
        "eccEnabled": True,
        "clockPolicy": "default",
        "environmentVariables": {"OMP_NUM_THREADS": "2"},
        "globalFlags": {"matmul_allow_tf32": False},
    }
    device = read_environment(run.environment).device
    assert (device.product_id, device.ecc, device.power_limit) == ("h200-sxm-141gb", "on", "700 W")


def test_a_processor_is_a_device_of_its_own_with_its_threads(tmp_path: Path) -> None:
    environment = recorded(make_batch(tmp_path))[0].environment
    device = read_environment(environment).device
    assert (device.vendor, device.product) == ("intel", "Intel(R) Example 9000")
    assert (device.architecture, device.form_factor) == ("x86_64", "2 threads")


def test_a_wrong_result_keeps_its_samples_and_has_no_time(tmp_path: Path) -> None:
    folder = make_batch(tmp_path, status="incorrect_numerical", reason="wrong_gradient")
    spec = recorded(folder)[0].run.document["spec"]
    assert spec["status"] == "incorrect_numerical"
    assert "timing" not in spec
    assert spec["samples"]["count"] == 120


def test_a_status_nobody_knows_is_incomplete_evidence(tmp_path: Path) -> None:
    spec = recorded(make_batch(tmp_path, status="brilliant"))[0].run.document["spec"]
    assert spec["status"] == "incomplete_evidence"


def test_an_unstable_series_is_an_outcome_with_its_samples(tmp_path: Path) -> None:
    spec = recorded(make_batch(tmp_path, status="unstable"))[0].run.document["spec"]
    assert (spec["status"], spec["timing"]["samples"]) == ("unstable", 120)


def test_calibration_outside_its_limits_is_a_doubt_that_blocks(tmp_path: Path) -> None:
    folder = make_batch(tmp_path)
    path = folder / batch_files.CALIBRATION
    batch_files.write_json(path, make_calibration(selfchecks=[make_selfcheck("cpu", clock=1.2)]))
    doubts = recorded(folder)[0].run.document["spec"]["doubts"]
    assert [(one["code"], one["effect"]) for one in doubts] == [
        ("CALIBRATION_OUT_OF_LIMITS", "blocks")
    ]


def test_a_changed_journal_is_refused(tmp_path: Path) -> None:
    folder = make_batch(tmp_path)
    path = folder / batch_files.JOURNAL
    path.write_bytes(path.read_bytes().replace(b"started", b"stopped"))
    with pytest.raises(BatchError, match=r"line 2 is numbered 2 after") as refused:
        read_batch(folder)
    assert refused.value.code == "batch.journal"


def test_a_series_of_no_candidate_is_refused(tmp_path: Path) -> None:
    folder = make_batch(tmp_path, candidate="somebody/else")
    with pytest.raises(BatchError, match="somebody/else") as refused:
        read_batch(folder)
    assert refused.value.code == "batch.series"
