"""The real probe and judge on a CPU, from a plain copy of the source tree."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kernelindex
from kernelindex.runner import batch_files
from kernelindex.runner.plan import Candidate, Plan, Point, Rules, Tolerance, plan_to_json
from tests.runner.support.plans import QUICK

pytest.importorskip("torch", reason="the real judge and probe need torch")
pytestmark = pytest.mark.slow

MODULE = "kernelindex.runner.operations.rms_norm.candidates"
WRONG = """
def wrong(x, weight):
    return x * weight
"""
PEEKS = """
import glob, os
from kernelindex.runner.operations.rms_norm.candidates import eager
OWN, FOLDER = os.getcwd(), "{folder}"
def peeks(x, weight):
    beside = os.path.dirname(OWN) + "/*/*", os.path.dirname(os.path.dirname(OWN)) + "/*/*/*"
    places = [path for one in beside for path in glob.glob(one) if "/inputs" not in path]
    seen = [path for path in places if not path.startswith(OWN)]
    for keys in ("keys", ".ki", "out"):
        seen += glob.glob(f"{{FOLDER}}/{{keys}}/*")
    if seen:
        raise ValueError(f"read: {{seen}}")
    return eager(x, weight)
"""


EAGER = Candidate(id="eager", entry=f"{MODULE}:eager", passes=("forward", "full"))


def rms_norm_plan(*others: Candidate, **point: Any) -> Plan:
    point = {"passes": ("forward", "full"), "candidates": (EAGER, *others)} | point
    point = Point(
        id="rms-norm/64-128-fp32/leaf",
        operation="rms-norm",
        axes={"tokens": 64, "hidden": 128},
        dtypes={"x": "fp32", "weight": "fp32"},
        draws=("own", "stress", "uneven"),
        trusted="eager",
        tolerances={
            "y": Tolerance(frobenius=2e-6, worst_row=1e-5),
            "grad_x": Tolerance(frobenius=2e-6, worst_row=1e-5),
            "grad_weight": Tolerance(frobenius=1e-5, worst_row=1e-4),
        },
        **point,
    )
    rules = Rules(
        **{**QUICK, "generations": 1, "max_generations": 1, "command_timeout_seconds": 60.0}
    )
    return Plan(
        number=1,
        runner="test",
        device="cpu",
        points=(point,),
        rules=rules,
        time_budget_seconds=400.0,
    )


def run_from_a_bare_copy(
    plan: Plan, folder: Path, code: str = WRONG
) -> tuple[Path, list[dict[str, Any]]]:
    """The worker on a plan, from a copy of the source tree; where it wrote, and the series."""
    source = Path(kernelindex.__file__).parent
    copy = folder / "tree" / "src"
    shutil.copytree(source, copy / "kernelindex", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "plan").mkdir()
    (folder / "plan" / "plan.json").write_text(plan_to_json(plan))
    (folder / "plan" / "mine.py").write_text(code)
    out = folder / "out"
    arguments = [str(folder / "plan" / "plan.json"), "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "kernelindex.runner.worker", *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(copy),
            "OMP_NUM_THREADS": "1",
            "KI_RUNNERS": str(folder / "keys"),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return out, [batch_files.read_json(path) for path in batch_files.series_files(out)]


def test_numpy_and_eager_are_measured_from_a_bare_copy_and_a_wrong_file_is_refused(
    tmp_path,
) -> None:
    numpy = Candidate(
        id="numpy", entry=f"{MODULE}:numpy_rows", passes=("forward",), interface="numpy"
    )
    wrong = Candidate(id="wrong", entry="wrong", file="mine.py", passes=("forward",))
    out, series = run_from_a_bare_copy(rms_norm_plan(numpy, wrong), tmp_path)
    found = {(one["candidate"], one["pass"]): (one["status"], one["reason"]) for one in series}
    assert found == {
        ("eager", "forward"): ("passed", ""),
        ("eager", "full"): ("passed", ""),
        ("numpy", "forward"): ("passed", ""),
        ("wrong", "forward"): ("incorrect_numerical", "wrong_values"),
    }, json.dumps([one["text"] for one in series])
    eager = next(one for one in series if (one["candidate"], one["pass"]) == ("eager", "full"))
    assert sorted(eager["correctness"]["outputs"]) == ["grad_weight", "grad_x", "y"]
    assert sorted(eager["correctness"]["draws"]) == ["own", "stress", "uneven"]
    assert eager["loaded"]["source_digest"].startswith("sha256:")
    calibration = batch_files.read_json(out / batch_files.CALIBRATION)
    assert [one for one in calibration["floor"] if one[0] > 0 and 0 < one[1] <= 0.5]
    assert calibration["anchor"]["problems"] == []


def test_a_candidate_sees_no_keys_no_batch_and_no_place_of_others(tmp_path) -> None:
    for keys in ("keys", ".ki"):
        (tmp_path / keys).mkdir()
        (tmp_path / keys / "key.pem").write_text("secret")
    peeks = Candidate(id="peeks", entry="peeks", file="mine.py", passes=("forward",))
    code = PEEKS.format(folder=tmp_path)
    out, series = run_from_a_bare_copy(rms_norm_plan(peeks), tmp_path, code)
    facts = batch_files.read_json(out / batch_files.FACTS)
    if "files" not in facts["isolation"]["features"]:
        pytest.skip("this machine allows no view of the file system of its own")
    found = {one["candidate"]: (one["status"], one["text"]) for one in series}
    assert found["peeks"][0] == "passed", found["peeks"][1]


def test_accumulated_gradients_of_timed_calls_are_judged(tmp_path) -> None:
    passes = ("backward", "full")
    plan = rms_norm_plan(
        passes=passes,
        candidates=(replace(EAGER, passes=passes),),
        gradients="non_leaf",
        gradient_buffers="accumulated",
    )
    plan = replace(plan, rules=replace(plan.rules, rounds=2, checks_per_generation=2))
    _out, series = run_from_a_bare_copy(plan, tmp_path)
    assert {one["pass"]: one["status"] for one in series} == dict.fromkeys(passes, "passed")
    checked = {one["pass"]: one["correctness"]["timedCallsChecked"] for one in series}
    assert checked == dict.fromkeys(passes, 1)
