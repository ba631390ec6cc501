"""The real probe and judge on a CPU, from a plain copy of the source tree."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def rms_norm_plan() -> Plan:
    point = Point(
        id="rms-norm/64-128-fp32/leaf",
        operation="rms-norm",
        axes={"tokens": 64, "hidden": 128},
        dtypes={"x": "fp32", "weight": "fp32"},
        passes=("forward", "full"),
        draws=("own", "stress", "uneven"),
        trusted="eager",
        tolerances={
            "y": Tolerance(frobenius=2e-6, worst_row=1e-5),
            "grad_x": Tolerance(frobenius=2e-6, worst_row=1e-5),
            "grad_weight": Tolerance(frobenius=1e-5, worst_row=1e-4),
        },
        candidates=(
            Candidate(id="eager", entry=f"{MODULE}:eager", passes=("forward", "full")),
            Candidate(
                id="numpy",
                entry=f"{MODULE}:numpy_rows",
                passes=("forward",),
                interface="numpy",
            ),
            Candidate(id="wrong", entry="wrong", file="mine.py", passes=("forward",)),
        ),
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


def test_numpy_and_eager_are_measured_from_a_bare_copy_and_a_wrong_file_is_refused(
    tmp_path,
) -> None:
    source = Path(kernelindex.__file__).parent
    copy = tmp_path / "tree" / "src"
    shutil.copytree(source, copy / "kernelindex", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "plan.json").write_text(plan_to_json(rms_norm_plan()))
    (tmp_path / "plan" / "mine.py").write_text(WRONG)
    out = tmp_path / "out"
    arguments = [str(tmp_path / "plan" / "plan.json"), "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "kernelindex.runner.worker", *arguments],
        env={**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    series = [batch_files.read_json(path) for path in batch_files.series_files(out)]
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
