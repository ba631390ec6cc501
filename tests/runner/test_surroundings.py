"""What else ran on a host: when it is called busy, and in which words."""

from __future__ import annotations

import pytest

from kernelindex.runner.surroundings import Surroundings


def seen(load: float | None, others: float | None, cores: int | None = 2) -> Surroundings:
    return Surroundings(cores=cores, load=load, others=others, threads=None)


@pytest.mark.parametrize(
    ("load", "others", "busy"),
    [
        (1.9, 1.0, False),  # a trial alone on two cores
        (1.9, 2.0, True),
        (3.0, 0.0, False),
        (3.1, 0.0, True),
        (None, None, False),
    ],
)
def test_a_machine_is_busy_where_others_take_the_cores(
    load: float | None, others: float | None, *, busy: bool
) -> None:
    assert seen(load, others).busy is busy


def test_what_was_seen_is_said() -> None:
    assert seen(1.86, 1.0).text == "load 1.9 on 2 cores, 1 other thread waiting for one"
    assert seen(7.3, 4.0).text == "load 7.3 on 2 cores, 4 other threads waiting for one"
    assert seen(7.3, None, None).text == "load 7.3"
    assert not seen(None, 3.0).text
