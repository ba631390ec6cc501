"""The studies on this machine's CPU, through the real worker, whatever else the machine does.

What verdicts say of a little more work and of none is tried on made-up times (``test_results``):
here others' work decides it. So the work is twice as much, and equal code may differ by less.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kernelindex.runner.plan import Rules, plan_to_json
from kernelindex.runner.studies import StudySize, read_study, study_plan

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RULES = Rules(
    rounds=8,
    round_seconds=0.05,
    min_samples=5,
    max_samples=40,
    warmup_seconds=0.05,
    switch_warmup_calls=2,
    switch_warmup_seconds=0.0,
    cache=("hot",),
    load=("sustained",),
    checks_per_generation=1,
    audited_passes=0,
    pad_bytes=1 << 20,
    command_timeout_seconds=120.0,
)
SIZE = StudySize(rows=2_000, percent=100, copies=3, interface="numpy")


def test_twice_the_work_is_never_faster_nor_the_same_and_equal_code_is_nearer(
    tmp_path: Path,
) -> None:
    plan = study_plan(
        (SIZE,), runner="study", number=1, device="cpu", rules=RULES, time_budget_seconds=800.0
    )
    (tmp_path / "plan.json").write_text(plan_to_json(plan))
    command = [sys.executable, "-m", "kernelindex.runner.worker", str(tmp_path / "plan.json")]
    subprocess.run([*command, "--out", str(tmp_path / "out")], check=True, timeout=850)
    (result,) = read_study(tmp_path / "out")
    assert (result.same.pairs, result.different.pairs) == (6, 9)
    # Twice the bytes take 2.6 times as long; of equal code 1.06 was seen with other work beside it.
    assert all(1 / 1.7 < one < 1.7 for one in result.same.ratios)
    assert all(one < 1 / 1.3 for one in result.different.ratios)
    assert result.different.verdicts.get("SLOWER", 0) == 0
    assert result.different.verdicts.get("SAME", 0) == 0
