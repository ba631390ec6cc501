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
    batch, _, judged = read_and_judge(make_batch(folder, plan, **changes), RunnerFacts(id="try"))
    return read_trials(batch, judged, OWN)


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


def test_a_draw_is_named_only_where_the_errors_are_known_to_be_of_it(
    file: Path, tmp_path: Path
) -> None:
    outputs = {"y": {"passed": False, "frobenius": 0.1}}
    several = {"outputs": outputs, "draws": ["stress", "uneven", "own"], "timedCallsChecked": 0}
    found = {}
    for reason in ("wrong_values", "wrong_on_uneven"):
        (trial,) = trials(
            tmp_path / reason,
            planned(file),
            status="incorrect_numerical",
            reason=reason,
            correctness=several,
        )
        found[reason] = trial.wrong[0].draw
    assert found == {"wrong_values": None, "wrong_on_uneven": "uneven"}


BUSY = [[{"after": {"load": 7.5, "runnable": 6}}, {"after": {"load": 7.1, "runnable": 4}}]]


@pytest.mark.parametrize(
    ("status", "reason"), [("unstable", "generations_differ"), ("aborted", "generations_missing")]
)
def test_a_doubted_time_leaves_the_result_correct_and_the_pairs_judged(
    file: Path, tmp_path: Path, status: str, reason: str
) -> None:
    (trial,) = trials(
        tmp_path / "batch", planned(file), status=status, reason=reason, telemetry=BUSY
    )
    assert (trial.correct, trial.unsettled, trial.lost) == (True, True, ())
    assert [one.verdict.kind for one in trial.rivals] == [VerdictKind.SLOWER, VerdictKind.FASTER]
    assert len(trial.process_ns) == 3
    assert trial.surroundings.busy
    assert trial.surroundings.text == "load 7.3 on 2 cores, 4 other threads waiting for one"


def test_a_batch_cut_short_after_one_process_has_a_ratio_and_no_verdict(
    file: Path, tmp_path: Path
) -> None:
    one_generation = [[[150_000.0] * 3] * 8]
    (trial,) = trials(tmp_path / "batch", planned(file), status="aborted", samplesNs=one_generation)
    assert trial.correct
    assert {one.verdict.kind for one in trial.rivals} == {VerdictKind.UNCLEAR}
    assert trial.rivals[0].verdict.ratio == 1.0


@pytest.mark.parametrize("lacking", [{"draws": ["own"]}, {"outputs": {}}, {}])
def test_what_was_not_checked_to_the_end_is_not_called_correct(
    file: Path, tmp_path: Path, lacking: dict[str, object]
) -> None:
    whole = {"outputs": {"y": {"passed": True}}, "draws": ["own", "stress", "uneven"]}
    stated = {**whole, **lacking} if lacking else None
    (trial,) = trials(tmp_path / "batch", planned(file), status="aborted", correctness=stated)
    assert (trial.correct, trial.rivals) == (False, ())


def test_a_quiet_machine_is_not_called_busy(file: Path, tmp_path: Path) -> None:
    quiet = [[{"after": {"load": 2.1, "runnable": 1}}, {"after": {"load": "much"}}, None]]
    (trial,) = trials(tmp_path / "batch", planned(file), telemetry=quiet)
    assert not trial.surroundings.busy
    assert trial.surroundings.text == "load 2.1 on 2 cores, 0 other threads waiting for one"
    (unread,) = trials(tmp_path / "unread", planned(file))
    assert (unread.surroundings.busy, unread.surroundings.text) == (False, "")


def test_so_many_processes_run_as_are_asked_for(file: Path) -> None:
    ask = Ask(operation="rms-norm", device="cpu", files=(f"{file}:rms",))
    rules = plan_trial(ask, generations=1, max_generations=1)[0].rules
    assert (rules.generations, rules.max_generations) == (1, 1)


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


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import torch\ndef rms(x, weight:\n    return x\n", r"mine\.py:2: '\(' was never closed"),
        ("def rms(x):\n\tif x:\n        return x\n", r"mine\.py:3: .*; wanted a file of Python 3"),
        ("def rms_nrm(x, weight):\n    return x\n", r"'rms_norm'; did you mean rms_nrm\?"),
        ("import torch\n", r"no function is called 'rms_norm'; it has none"),
        ("class rms_norm:\n    pass\n", "rms_norm is a class; wanted a function"),
        ("def rms_norm():\n    pass\nrms_norm = 3\n", "rms_norm is a value"),
        ("x\0y", "null bytes"),
    ],
)
def test_a_file_that_cannot_hold_the_function_is_refused_without_being_run(
    body: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(body)
    with pytest.raises(RequestError, match=said):
        own_candidate(f"{path}:rms_norm")


@pytest.mark.parametrize(
    "body",
    [
        "rms_norm = lambda x, weight: x\n",
        "from elsewhere import rms_norm\n",
        "from elsewhere import *\n",
        "globals()['rms_norm'] = len\n",
        "rms_norm = None\ndef rms_norm(x, weight):\n    return x\n",
        "if True:\n    def rms_norm(x, weight):\n        return x\n",
    ],
)
def test_a_name_bound_in_any_way_is_left_to_the_run(body: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(body)
    assert own_candidate(f"{path}:rms_norm").entry == "rms_norm"


def test_what_lies_beside_a_file_is_not_there_when_it_runs(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("EPS = 1e-6\n")
    (tmp_path / "json.py").write_text("")
    body = "def rms(x, weight):\n    return x\n"
    path = tmp_path / "mine.py"
    for line, said in (
        ("from .helper import EPS", r"mine\.py:1: imports \.helper, which lies beside it"),
        ("from . import helper", r"imports \., which lies beside it"),
        ("import helper", "imports helper, which lies beside it; the file is run alone"),
        ("from helper import EPS", "imports helper"),
    ):
        path.write_text(f"{line}\n{body}")
        with pytest.raises(RequestError, match=said):
            own_candidate(f"{path}:rms")
    for line in ("import json", "import math, numpy.linalg", "import sys", "import nowhere"):
        path.write_text(f"{line}\n{body}")
        assert own_candidate(f"{path}:rms").entry == "rms"
