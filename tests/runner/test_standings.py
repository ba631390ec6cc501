"""A recorded batch is ranked by policy itself, with intervals, before it is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.policy.verdicts import VerdictKind
from kernelindex.runner.recording import RunnerFacts, read_batch, record_batch
from kernelindex.runner.standings import judge_batch
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.runner.standings import Judged

RUNNER = RunnerFacts(id="tests", owner="tester", host="bench", device="cpu0")


def judged(folder: Path) -> tuple[Judged, ...]:
    batch = read_batch(folder)
    return judge_batch(batch, record_batch(batch, RUNNER))


def test_candidates_of_one_pass_are_ranked_with_intervals(tmp_path: Path) -> None:
    forward = judged(make_batch(tmp_path))[0]
    assert forward.first.series.regime.timed_pass == "forward"
    lines = [one.run.line.title for one in forward.cohort.entries]
    assert lines[0] == "RMSNorm under torch.compile"
    assert lines[-1] == "RMSNorm in numpy"
    last = forward.cohort.entries[-1]
    assert last.to_leader is not None
    assert last.to_leader.kind is VerdictKind.SLOWER
    assert last.to_leader.ratio == pytest.approx(7.5, rel=0.01)
    assert 7.4 < (last.to_leader.low or 0) < last.to_leader.ratio < (last.to_leader.high or 0) < 7.6
    assert last.run.interval is not None


def test_passes_are_cohorts_of_their_own(tmp_path: Path) -> None:
    found = judged(make_batch(tmp_path))
    passes = [one.first.series.regime.timed_pass for one in found]
    assert passes == ["forward", "backward", "full"]
    assert [len(one.cohort.entries) for one in found] == [4, 3, 3]


def test_who_did_not_pass_is_excluded_with_the_reason(tmp_path: Path) -> None:
    found = judged(make_batch(tmp_path, status="incorrect_numerical", reason="wrong_values"))
    assert found[0].cohort.entries == ()
    assert len(found[0].cohort.excluded) == 4
    codes = {reason.code for one in found[0].cohort.excluded for reason in one.reasons}
    assert "not_passed" in codes
