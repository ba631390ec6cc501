"""A kernel file of one's own: its plan, and what a batch says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kernelindex.errors import RequestError
from kernelindex.policy.verdicts import VerdictKind
from kernelindex.runner.ingest import read_and_judge
from kernelindex.runner.offers import own_candidate
from kernelindex.runner.planning import Ask
from kernelindex.runner.recording import RunnerFacts
from kernelindex.runner.trying import other_shapes, plan_trial, read_trials, usual_shapes
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.runner.plan import Plan
    from kernelindex.runner.trying import Trial

OWN = "own/mine-rms"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text("import torch\n\ndef rms(x, weight):\n    return x\n")
    return path


def planned(file: Path, *passes: str) -> Plan:
    ask = Ask(
        operation="rms-norm",
        axes={"tokens": 512, "hidden": 1024},
        device="cpu",
        passes=passes,
        files=(f"{file}:rms",),
    )
    return plan_trial(ask)[0]


def trials(folder: Path, plan: Plan, **changes: object) -> tuple[Trial, ...]:
    _, _, judged = read_and_judge(make_batch(folder, plan, **changes), RunnerFacts(id="try"))
    return read_trials(judged, OWN)


def test_the_own_file_comes_first_and_the_installed_ones_beside_it(file: Path) -> None:
    point = planned(file).points[0]
    assert [one.id for one in point.candidates] == [
        OWN,
        "pytorch/RMSNorm",
        "pytorch/compile/RMSNorm",
    ]
    assert point.passes == ("forward",)
    assert point.draws == ("own", "stress", "uneven")


def test_a_numpy_file_is_called_with_arrays(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import numpy as np\n\ndef rms(x, weight):\n    return np.square(x)\n")
    assert planned(path).points[0].candidates[0].interface == "numpy"


def test_a_right_kernel_gets_a_verdict_against_each_rival(file: Path, tmp_path: Path) -> None:
    (trial,) = trials(tmp_path / "batch", planned(file))
    assert trial.correct
    assert trial.interval_ns is not None
    kinds = {one.title: one.verdict.kind for one in trial.rivals}
    assert kinds["RMSNorm under torch.compile"] is VerdictKind.SLOWER
    assert kinds["PyTorch RMSNorm"] is VerdictKind.FASTER
    assert trial.loses
    low, high = trial.rivals[0].verdict.low, trial.rivals[0].verdict.high
    assert low is not None
    assert high is not None
    assert low < (trial.rivals[0].verdict.ratio or 0) < high


def test_a_wrong_kernel_is_told_where(file: Path, tmp_path: Path) -> None:
    outputs = {"y": {"passed": False, "frobenius": 4.9, "worst_at": 151, "worst_row": 14.9}}
    (trial,) = trials(
        tmp_path / "batch",
        planned(file),
        status="incorrect_numerical",
        reason="wrong_on_stress",
        text="y: relative Frobenius error is 4.9; 2e-06 may be",
        correctness={"outputs": outputs, "draws": ["stress"], "timedCallsChecked": 0},
    )
    assert (trial.correct, trial.rivals) == (False, ())
    (wrong,) = trial.wrong
    assert (wrong.output, wrong.draw, wrong.worst_row) == ("y", "stress", 151)
    assert (wrong.frobenius_error, wrong.allowed) == (4.9, 2e-6)


def test_other_shapes_are_the_smallest_and_the_largest_with_the_best_rival(file: Path) -> None:
    plan = other_shapes(planned(file), "pytorch/RMSNorm", 2)
    assert plan is not None
    assert [one.axes["hidden"] for one in plan.points] == [1024, 32768]
    assert {one.axes["tokens"] for one in plan.points} == {2048}
    assert [one.id for one in plan.points[0].candidates] == [OWN, "pytorch/RMSNorm"]


def test_other_shapes_are_for_devices_unless_asked_for() -> None:
    assert (usual_shapes("cpu"), usual_shapes("cuda:0")) == (0, 2)


def test_a_trial_fits_into_its_time_without_a_study(file: Path) -> None:
    rules = planned(file).rules
    assert (rules.generations, rules.rounds, rules.round_seconds) == (3, 8, 0.05)
    assert replace(rules, load=("sustained",)) == rules


@pytest.mark.parametrize("target", ["nowhere.py:f", "mine.py", "mine.py:1f"])
def test_what_is_no_function_of_a_file_is_refused(target: str, file: Path) -> None:
    with pytest.raises(RequestError, match=r"wanted FILE\.py:FUNCTION"):
        own_candidate(str(file.parent / target))
