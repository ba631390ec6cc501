from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.plan import Candidate, Rules
from kernelindex.runner.worker.members import Member
from kernelindex.runner.worker.rounds import Rounds, _telemetry, call_ns
from kernelindex.stats import Random


def reply(wall_ns: int, **fields: object) -> Reply:
    return Reply(fields=fields, wall_ns=wall_ns)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"timed_ns": 6_000_000}, 1_500_000),  # without the 94 ms that refreshing contents took
        ({"timed_ns": 1}, 1_000_000),  # never less than the samples themselves
        ({"timed_ns": 10**12}, 25_000_000),  # never more than our own clock saw
        ({"timed_ns": "soon"}, 25_000_000),
        ({}, 25_000_000),
    ],
)
def test_a_calls_time_is_that_of_the_timed_region(
    fields: dict[str, object], expected: float
) -> None:
    assert call_ns(reply(100_000_000, **fields), [1e6] * 4) == expected


class Requests:
    """A process that answers every measurement with as many samples as were asked for."""

    alive = True

    def __init__(self, sample_ns: float) -> None:
        self.sample_ns, self.asked = sample_ns, []

    def ask(self, command: str, timeout_s: float, **fields: Any) -> Reply | Refused:
        self.asked.append({"command": command, **fields})
        times = [self.sample_ns] * fields["calls"]
        wall = round(sum(times)) + 1_000_000
        return Reply({"samples_ns": times, "timed_ns": sum(times), "guards": []}, wall)


def rounds_of(process: Any, **rules: Any) -> tuple[Rounds, Member]:
    plan = SimpleNamespace(points=())
    bench: Any = SimpleNamespace(rules=Rules(**rules), timeout_s=9.0, plan=plan)
    passes = ("forward", "full")
    member = Member(Candidate(id="a", entry="a:a", passes=passes), process, passes)
    judge: Any = None
    anchor: Any = None
    return Rounds(bench, judge, [member], anchor, Random(1)), member


def test_a_burst_after_sustained_load_of_the_same_pass_needs_no_switch() -> None:
    process = Requests(1e6)
    rounds, member = rounds_of(process)
    rounds._measure_member(member, None)
    asked = [(one["pass"], one["load"], one["switch_seconds"] > 0) for one in process.asked]
    assert asked == [
        ("forward", "sustained", True),
        ("forward", "burst", False),
        ("full", "sustained", True),
        ("full", "burst", False),
    ]


def test_a_burst_that_comes_first_or_in_another_cache_is_switched_to() -> None:
    process = Requests(1e6)
    rounds, member = rounds_of(process, load=("burst", "sustained"), cache=("cold", "hot"))
    rounds._measure_member(member, None)
    assert all(one["switch_calls"] == 3 for one in process.asked)


@pytest.mark.parametrize(("sample_ns", "least", "most"), [(1e6, 8, 10), (1e8, 3, 3), (4e7, 4, 8)])
def test_a_burst_lasts_no_longer_than_a_round(sample_ns: float, least: int, most: int) -> None:
    process = Requests(sample_ns)
    rounds, member = rounds_of(process, round_seconds=0.25)
    rounds._measure_member(member, None)
    bursts = [one["calls"] for one in process.asked if one["load"] == "burst"]
    assert least <= min(bursts) <= max(bursts) <= most


def test_what_held_the_device_is_kept_with_a_round_s_readings() -> None:
    gaps = {"gaps": "worked", "slowness": 1.2, "each": {"pieces": {"4096": 3}, "spin_ns": 9.0}}
    pace = {"hold_ns": 5.5e5, "synchronizes": False, **gaps}
    told = reply(9, telemetry={"summary": {}}, timed_ns=4.0, pace=pace)
    bench: Any = SimpleNamespace(watch=SimpleNamespace(alive=3))
    kept = {"summary": {}, "own_processes": 3, "timed_ns": 4.0, "hold_ns": 5.5e5, **gaps}
    assert _telemetry(bench, told) == kept
