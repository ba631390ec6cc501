"""A study's batch judged: equal code does not win, more work loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.runner import batch_files
from kernelindex.runner.studies import StudySize, read_study, study_plan
from tests.runner.recording.factories import make_batch, make_samples

if TYPE_CHECKING:
    from pathlib import Path

SIZE = StudySize(rows=2_000, percent=100, copies=3, interface="numpy")


def study(folder: Path, *, more: float, noise: float) -> Path:
    """A batch of ``SIZE`` whose candidates with more work take ``more`` times as long."""
    plan = study_plan((SIZE,), runner="tests", number=1, device="cpu")
    make_batch(folder, plan)
    for place, path in enumerate(batch_files.series_files(folder)):
        series = batch_files.read_json(path)
        base = 200_000.0 * (more if series["candidate"].startswith("more") else 1.0)
        series["samplesNs"] = make_samples(base, place, noise)
        batch_files.write_json(path, series)
    return folder


def test_every_pair_is_judged_once(tmp_path: Path) -> None:
    (result,) = read_study(study(tmp_path / "b", more=2.0, noise=0.002))
    assert result.percent == 100
    assert (result.same.pairs, result.different.pairs) == (6, 9)
    assert len(result.same.ratios) == 6
    assert result.median_ns == pytest.approx(200_000.0, rel=0.01)


def test_more_work_is_slower_and_equal_code_is_not(tmp_path: Path) -> None:
    (result,) = read_study(study(tmp_path / "b", more=2.0, noise=0.002))
    assert result.different.verdicts == {"FASTER": 9}
    assert result.same.decisive == 0
    assert all(ratio == pytest.approx(0.5, rel=0.01) for ratio in result.different.ratios)


def test_noise_makes_pairs_unclear_rather_than_wrong(tmp_path: Path) -> None:
    (result,) = read_study(study(tmp_path / "b", more=1.01, noise=0.2))
    assert result.different.verdicts.get("SLOWER", 0) == 0
    assert result.different.verdicts["UNCLEAR"] >= 8
    assert min(result.different.half_widths) > 0.01


def test_a_candidate_that_failed_is_left_out(tmp_path: Path) -> None:
    folder = study(tmp_path / "b", more=2.0, noise=0.002)
    first = batch_files.series_files(folder)[0]
    batch_files.write_json(first, {**batch_files.read_json(first), "status": "timeout"})
    (result,) = read_study(folder)
    assert (result.same.pairs, result.different.pairs) == (4, 6)


def test_the_plan_has_as_many_copies_of_each_and_their_extra_rows() -> None:
    (point,) = study_plan((SIZE,), runner="r", number=3, device="cpu").points
    assert point.axes == {"rows": 2_000, "extra": 2_000, "columns": 1024}
    entries = [one.entry.rsplit(":")[1] for one in point.candidates]
    assert sorted(entries) == ["numpy_less_100"] * 3 + ["numpy_more_100"] * 3
    assert SIZE.nbytes == 2_000 * 1024 * 8
