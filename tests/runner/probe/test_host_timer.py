from __future__ import annotations

import gc

import pytest

from kernelindex.runner.probe.host_cache import HostCache, last_level_cache_bytes
from kernelindex.runner.probe.timers.host import HostTimer, measure_tick_ns


class FakeClock:
    """Advances by 50 ns a reading, and by what a call adds."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 50
        return self.now


def make_timer() -> tuple[HostTimer, FakeClock]:
    timer, clock = HostTimer(HostCache(1 << 12)), FakeClock()
    timer._clock = clock
    timer.tick_ns = 50.0
    return timer, clock


def spend(clock: FakeClock, nanoseconds: int) -> None:
    clock.now += nanoseconds


def test_long_calls_are_timed_one_by_one() -> None:
    timer, clock = make_timer()
    taken = timer.take(4, lambda _: lambda: spend(clock, 1_000_000), cold=False)
    assert taken.batch == 1
    assert taken.samples_ns == [1_000_050.0] * 4


def test_short_calls_are_batched_until_a_sample_is_200_ticks() -> None:
    timer, clock = make_timer()
    taken = timer.take(3, lambda _: lambda: spend(clock, 450), cold=False)
    assert taken.batch == 20  # 200 ticks of 50 ns over the 500 ns of one call
    assert taken.samples_ns == [pytest.approx(452.5)] * 3


def test_cold_calls_are_never_batched_and_each_is_flushed() -> None:
    timer, clock = make_timer()
    flushes: list[int] = []
    timer.cache.flush = lambda: flushes.append(1)  # type: ignore[method-assign]
    taken = timer.take(5, lambda _: lambda: spend(clock, 450), cold=True)
    assert taken.batch == 1
    assert len(flushes) == 5


def test_order_of_batched_calls_goes_through_all_sets() -> None:
    timer, clock = make_timer()
    asked: list[int] = []

    def ready(index: int):  # type: ignore[no-untyped-def]
        asked.append(index)
        return lambda: spend(clock, 950)

    taken = timer.take(2, ready, cold=False)
    assert taken.batch == 10
    assert asked[1:] == list(range(20))  # one call before tells how long a call is


def test_no_collection_of_garbage_from_the_first_sample_to_the_last() -> None:
    timer, _ = make_timer()
    seen: list[bool] = []
    collected: list[str] = []

    def ready(_: int):  # type: ignore[no-untyped-def]
        seen.append(gc.isenabled())
        return call

    def call() -> None:
        seen.append(gc.isenabled())
        gc.enable()  # a candidate that wants collections between its calls
        gc.collect(0)  # none is due before it has returned
        gc.callbacks.append(lambda phase, _: collected.append(phase))

    def allocate(*_: object) -> None:
        assert len([[] for _ in range(5 * gc.get_threshold()[0])]) > 0

    before = list(gc.callbacks)
    timer.take(3, ready, cold=True, offer=allocate)
    assert seen == [False] * 6
    assert collected == []
    assert gc.isenabled()
    assert gc.callbacks == before


def test_a_failing_call_leaves_collection_on() -> None:
    timer, _ = make_timer()

    def fail() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        timer.take(1, lambda _: fail, cold=True)
    assert gc.isenabled()


def test_tick_is_the_smallest_usual_step() -> None:
    assert measure_tick_ns(FakeClock(), readings=100) == 50.0


def test_last_level_cache_is_the_largest_described(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for index, size in enumerate(("32K", "1024K", "96M")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert last_level_cache_bytes(tmp_path) >= 96 << 20


def test_flush_covers_twice_the_last_level_cache() -> None:
    cache = HostCache(1 << 20)
    cache.flush()
    assert cache.flush_bytes == 2 << 20
    assert cache._buffer is not None
    assert cache._buffer[0] == cache._buffer[cache.flush_bytes - 1] == b"\x01"
