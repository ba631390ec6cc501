"""Timers beside ours: what takes turns, after which flush, and when agreement is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.agreement import (
    ROUNDS,
    SAMPLES,
    agrees,
    as_lines,
    flush_like_do_bench,
    summarise,
    take_turns,
)

from tests.runner.probe.fake_device import LAUNCH_NS, RECORD_NS, FakeDevice

CACHE_BYTES = 256 * 1024 * 1024
CALL_NS = 40_000


@dataclass
class FakeTriton:
    """The two calls of triton's driver, on a simulated device."""

    device: FakeDevice
    cleared: list[Any] = field(default_factory=list)

    def get_empty_cache_for_benchmark(self) -> Any:
        return SimpleNamespace(nbytes=CACHE_BYTES)

    def clear_cache(self, cache: Any) -> None:
        self.cleared.append(cache)
        self.device.queued.append("zero")
        self.device.launch(70_000)


def test_the_dirty_timer_zeroes_one_buffer_before_each_call_and_ours_keeps_its_flush() -> None:
    device = FakeDevice()
    ours, triton = device.timer(), FakeTriton(device)
    dirty = flush_like_do_bench(ours, triton)
    call = device.call(1, CALL_NS)
    for timer, flush in ((ours, "flush"), (dirty, "zero"), (ours, "flush")):
        device.queued.clear()
        timer.take(2, lambda _: call, cold=True, hold_ns=10_000)
        assert device.queued == ["spin", flush, "call"] * 2
    assert len({id(one) for one in triton.cleared}) == 1
    assert (ours.flush_ns, dirty.flush_ns) == (100_000, CACHE_BYTES / 4000.0)
    assert (dirty.spin, dirty.tick_ns) == (ours.spin, ours.tick_ns)  # calibrated once


def test_a_dirty_sample_holds_the_call_and_not_its_flush() -> None:
    device = FakeDevice()
    dirty = flush_like_do_bench(device.timer(), FakeTriton(device))
    call = device.call(1, CALL_NS)
    pace = dirty.find_pace(lambda _: call, cold=True, sets=1)
    taken = dirty.take(4, lambda _: call, cold=True, hold_ns=pace.hold_ns, lead_ns=pace.lead_ns)
    assert taken.filled == 4
    assert all(abs(one - CALL_NS) <= LAUNCH_NS + RECORD_NS for one in taken.samples_ns)


def test_timers_and_do_bench_take_turns_round_by_round() -> None:
    device = FakeDevice()
    timer = device.timer()
    dirty = flush_like_do_bench(timer, FakeTriton(device))
    call = device.call(150, 2_000)  # 600 µs of the host: needs a hold
    asked: list[dict[str, Any]] = []

    def do_bench(fn: Any, **options: Any) -> list[float]:
        assert fn is call
        asked.append(options)
        device.queued.append("do_bench")
        return [0.5, 0.25]

    timers = {"ours": timer, "ours again": timer, "ours dirty": dirty}
    rounds = take_turns(call, timers, do_bench)

    assert list(rounds) == ["ours", "ours again", "ours dirty", "do_bench"]
    assert all(len(rounds[key]) == ROUNDS for key in rounds)
    assert all(len(one) == SAMPLES for key in timers for one in rounds[key])
    assert rounds["do_bench"] == [[500_000, 250_000]] * ROUNDS
    assert all(300_000 <= at < 310_000 for key in timers for one in rounds[key] for at in one)
    ours_ms = rounds["ours"][0][0] / 1e6
    assert asked[0] == {"warmup": 5, "rep": pytest.approx(20 * ours_ms), "return_mode": "all"}
    order = [one for one in device.queued if one != "call"]
    turn = ["spin", "flush"] * 2 * SAMPLES + ["spin", "zero"] * SAMPLES + ["do_bench"]
    assert order[-len(turn) * (ROUNDS - 1) :] == turn * (ROUNDS - 1)


def generation(**medians: float) -> dict[str, dict[str, list[list[float]]]]:
    """Two rounds of one kernel, of three samples each around a median."""
    rounds = {
        key.replace("_", " ") if key.startswith("ours") else key: [[at - 9, at, at + 90]] * 2
        for key, at in medians.items()
    }
    return {"norm": rounds}


def norms(dirty: float, do_bench: float) -> list[dict[str, dict[str, list[list[float]]]]]:
    """Three generations, in which our timer takes 40 µs for a kernel."""
    one = generation(ours=40_000, ours_again=40_020, ours_dirty=dirty, do_bench=do_bench)
    return [one] * 3


def test_do_bench_is_off_ours_and_agrees_with_ours_after_its_own_flush() -> None:
    [row] = summarise(norms(dirty=44_000, do_bench=44_220))
    assert (row["ours_ns"], row["ours_dirty_ns"]) == (40_000, 44_000)
    assert row["do_bench"] == {"ratio": pytest.approx(1.1055), "half_width": 0.0}
    assert row["do_bench_dirty"] == {"ratio": pytest.approx(1.005), "half_width": 0.0}
    assert row["agrees"] == "yes"


@pytest.mark.parametrize(
    ("third", "aa_half_width", "wanted"),
    [
        (1.0099, 0.0, "yes"),
        (0.9901, 0.0, "yes"),
        (1.0101, 0.0, "no"),
        (0.9899, 0.0, "no"),
        (1.0, 0.0049, "yes"),
        (1.0, 0.005, "not asked"),
        (2.0, 0.005, "not asked"),
    ],
)
def test_agreement_is_within_one_percent_in_every_generation(
    third: float, aa_half_width: float, wanted: str
) -> None:
    ours = [[1000.0, 1000.0]] * 3
    theirs = [[1000.0, 1000.0], [1000.0, 1000.0], [1000.0 * third] * 2]
    assert agrees(theirs, ours, aa_half_width) == wanted


def test_one_late_process_of_three_is_no_agreement() -> None:
    found = norms(dirty=38_000, do_bench=38_000)
    late = generation(ours=40_000, ours_again=40_020, ours_dirty=38_000, do_bench=79_000)
    [row] = summarise([*found[:2], late])
    assert row["do_bench_dirty"]["ratio"] == pytest.approx((79 / 38) ** (1 / 3))
    assert row["agrees"] == "no"


def test_a_kernel_that_ours_does_not_repeat_is_not_asked() -> None:
    found = [
        generation(ours=40_000, ours_again=again, ours_dirty=44_000, do_bench=44_000)
        for again in (40_000, 41_000, 39_000)
    ]
    [row] = summarise(found)
    assert row["aa_half_width"] > 0.05
    assert row["agrees"] == "not asked"


def test_the_table_has_both_ratios_and_the_verdict() -> None:
    found = norms(dirty=44_000, do_bench=44_220)  # one and the same three times
    found[0]["norm"]["NVBench"] = [[43_600.0]]
    lines = as_lines(summarise(found))
    assert lines == [
        "| kernel | ours | own A/A half-width | do_bench / ours | ours dirty |"
        " do_bench / ours dirty | agrees | NVBench / ours |",
        "|---|---:|---:|---:|---:|---:|---|---:|",
        "| norm | 40.0 µs | 0.00% | 1.1055 ± 0.0000 | 44.0 µs | 1.0050 ± 0.0000 | yes |"
        " 1.0900 ± 0.0000 |",
    ]


@pytest.mark.parametrize(("old", "lacks"), list(product((0, 2), ("ours dirty", "NVBench"))))
def test_a_column_that_one_generation_lacks_stays_empty(old: int, lacks: str) -> None:
    full = generation(
        ours=40_000, ours_again=40_020, ours_dirty=44_000, do_bench=44_000, NVBench=43_600
    )
    without = {"norm": {key: one for key, one in full["norm"].items() if key != lacks}}
    found = [full] * 3
    found[old] = without
    [row] = summarise(found)
    gone = {"ours dirty": {"ours_dirty_ns", "do_bench_dirty", "agrees"}, "NVBench": {"NVBench"}}
    assert gone[lacks].isdisjoint(row)
    assert as_lines([row])[-1].count("|") == 9
    assert "|  |" in as_lines([row])[-1]
