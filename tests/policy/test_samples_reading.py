"""A run and its batch's calibration as samples; whatever is malformed counts as not said."""

from __future__ import annotations

from typing import Any

import pytest

from kernelindex.policy.samples_reading import (
    calibration_of,
    read_samples,
    read_series,
    series_of,
)

CALIBRATION = {
    "floor": [[5e4, 0.005], [5e3, 0.02]],
    "tickNs": 32.0,
    "anchor": {
        "id": "anchor",
        "points": {"p1": [[500.0, 501.0]], "p2": [[700.0, 701.0]]},
        "medians": [[500.0, 501.0], [700.0, 701.0]],
    },
    "betweenBatch": {"sd": 0.002, "degrees": 19},
    "secondsPerGeneration": 12.5,
}
RUN = {
    "timing": {"samples": 10, "roundMediansNs": [[100, 102]]},
    "runner": {"id": "box", "keyDigest": "sha256:k"},
    "batch": {"id": "box/1", "calibration": {"uri": "c", "digest": "sha256:c"}},
    "samples": {"digest": "sha256:s", "count": 10},
}
SERIES = read_series({"point": "p2", "cycles": [[[10, 12, 11], [20]]]})


def test_everything_that_is_said_is_taken() -> None:
    found = read_samples(RUN, CALIBRATION, SERIES)
    assert found is not None
    assert (found.batch, found.runner) == ("box/1", "sha256:k")
    assert found.rounds == ((100.0, 102.0),)
    assert found.samples_per_round == 5
    assert found.floor == ((5e3, 0.02), (5e4, 0.005))
    assert found.tick_ns == 32.0
    assert found.anchor == ((700.0, 701.0),)
    assert found.anchor_id == "anchor"
    assert found.cycles == ((11.0, 20.0),)
    assert (found.between_batch_sd, found.between_batch_degrees) == (0.002, 19)
    assert found.seconds_per_generation == 12.5


def test_the_artifacts_it_takes_are_named_by_the_run() -> None:
    assert (calibration_of(RUN), series_of(RUN)) == ("sha256:c", "sha256:s")
    without = {**RUN, "timing": {}}
    assert (calibration_of(without), series_of(without)) == (None, None)


def test_an_anchor_of_the_whole_batch_is_one_only_where_it_has_one_point() -> None:
    unknown = read_samples(RUN, CALIBRATION, read_series({"point": "p9"}))
    assert unknown is not None
    assert unknown.anchor is None
    alone = {**CALIBRATION, "anchor": {"id": "anchor", "medians": [[500.0, 501.0]]}}
    found = read_samples(RUN, alone)
    assert found is not None
    assert found.anchor == ((500.0, 501.0),)


@pytest.mark.parametrize("missing", ["timing", "batch", "runner"])
def test_a_run_without_a_part_has_no_samples(missing: str) -> None:
    assert read_samples({k: v for k, v in RUN.items() if k != missing}, CALIBRATION) is None


@pytest.mark.parametrize("calibration", [None, False, [], "x", {"floor": "x"}, {"floor": [[1]]}])
def test_no_calibration_is_no_samples(calibration: Any) -> None:
    assert read_samples(RUN, calibration) is None


@pytest.mark.parametrize(
    "floor",
    [[[0, 0.1]], [[-1, 0.1]], [["1", 0.1]], [[1, None]], [[1, 0.1], [1, 0.2]], [[1e999, 1]]],
)
def test_a_floor_is_positive_and_rising(floor: Any) -> None:
    assert read_samples(RUN, {"floor": floor}) is None


def test_what_is_not_said_is_none() -> None:
    found = read_samples(RUN, {})
    assert found is not None
    assert (found.floor, found.tick_ns, found.anchor, found.cycles) == ((), 0.0, None, None)
    assert (found.between_batch_sd, found.between_batch_degrees) == (None, 9)


@pytest.mark.parametrize(
    "series",
    [None, [], {"cycles": "x"}, {"cycles": [[[]]]}, {"cycles": [[[0]]]}, {"cycles": [[["a"]]]}],
)
def test_cycles_of_another_form_are_none(series: Any) -> None:
    assert read_series(series).cycles is None
    assert read_series(series).point is None
