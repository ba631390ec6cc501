"""Guards see each cheat by its code, and nothing in its twin."""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the fixtures are torch functions")

from kernelindex.runner.cheats.catalogue import FIXTURES, Entry, entries_on  # noqa: E402
from kernelindex.runner.probe.guards import Guards, leftovers  # noqa: E402
from kernelindex.runner.probe.guards.identities import Identities  # noqa: E402
from kernelindex.runner.probe.guards.leftovers import (  # noqa: E402
    known_threads,
    watch_after_return,
)
from kernelindex.runner.probe.guards.outputs import (  # noqa: E402
    check_mutual,
    fingerprint,
    memory_span,
    overlap,
    repeats,
)
from tests.runner.cheats.factories import checked_codes, make_sets  # noqa: E402

# What a call leaves in a process that more than one test shares.
PATCHED = (
    (time, "perf_counter_ns"),
    (torch.cuda, "synchronize"),
    (torch.cuda.Event, "elapsed_time"),
)
CLOCKS = ("clock_gettime_ns", "process_time_ns", "thread_time", "thread_time_ns")
WATCHED_NS = 30_000_000
SMALL = {"tokens": 64, "hidden": 128}
JOINS = 10
GUARDED = [one for one in entries_on("cpu") if one.caught_by == "guards"]
# Poison reaches fresh memory only in a process whose heap no other test has used: through the
# worker, in test_end_to_end.
OWN_PROCESS = frozenset(("output_unwritten",))


@pytest.fixture(autouse=True)
def _unpatched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for owner, name in PATCHED:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setenv("TRITON_CACHE_DIR", "/nowhere/own")
    host = importlib.import_module("kernelindex.runner.probe.timers.host")
    monkeypatch.setattr(host.HostTimer, "take", host.HostTimer.take)
    for module in [one for one in sys.modules if one.startswith(FIXTURES)]:
        monkeypatch.delitem(sys.modules, module)
    yield
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(5)


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a call puts off to a thread takes place while its return is watched.

    So it does on an idle machine; on a busy one a thread may run late, or the call return late.
    """
    deferring = importlib.import_module(FIXTURES + "deferring")
    known, waiting = set(threading.enumerate()), list[threading.Event]()

    def put_off(seconds: float) -> None:
        if threading.current_thread().daemon:
            time.sleep(seconds)
            return
        waiting.append(threading.Event())
        assert waiting[-1].wait(60)

    def watch(seconds: float) -> None:
        time.sleep(seconds)
        for one in set(threading.enumerate()) - known:
            while not one.daemon and one.is_alive() and spent_by(one) < WATCHED_NS:
                while waiting:
                    waiting.pop().set()
                time.sleep(0.001)

    monkeypatch.setattr(deferring, "time", clocks_with(put_off))
    monkeypatch.setattr(leftovers, "time", clocks_with(watch))


def clocks_with(sleep: Callable[[float], object]) -> SimpleNamespace:
    return SimpleNamespace(sleep=sleep, **{name: getattr(time, name) for name in CLOCKS})


def spent_by(one: threading.Thread) -> int:
    """CPU time of a thread, ns, by the clock that the guards read; of one that ended, enough."""
    assert one.native_id is not None
    try:
        return time.clock_gettime_ns((~one.native_id << 3) | 6)
    except OSError:
        return WATCHED_NS


def function_of(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(FIXTURES + module), name)


def codes_of(place: str, entry: Entry, folder: Path) -> list[str]:
    sets = make_sets(folder, SMALL)
    guards = Guards.capture("cpu")
    timed_pass = "full" if "full" in entry.passes else entry.passes[0]
    accumulate = entry.buffers == "accumulated"
    return checked_codes(guards, function_of(place), sets, timed_pass, accumulate=accumulate)


@pytest.mark.slow
@pytest.mark.usefixtures("_patient")
@pytest.mark.parametrize(
    "entry", [one for one in GUARDED if one.code not in OWN_PROCESS], ids=lambda one: one.id
)
def test_a_cheat_is_seen_by_its_code(entry: Entry, tmp_path: Path) -> None:
    seen = codes_of(entry.entry, entry, tmp_path)
    assert entry.code in seen
    assert set(seen) <= entry.codes


@pytest.mark.slow
@pytest.mark.parametrize("place", sorted({one.honest for one in GUARDED}))
def test_a_twin_is_not_accused(place: str, tmp_path: Path) -> None:
    entry = next(one for one in GUARDED if one.honest == place)
    assert codes_of(place, entry, tmp_path) == []


@pytest.mark.slow
def test_a_joined_thread_is_never_accused(tmp_path: Path) -> None:
    # Its native thread may still run, with time that the process clock does not know of yet.
    sets = make_sets(tmp_path, SMALL)
    guards = Guards.capture("cpu")
    joined = function_of("deferring:joined_thread")
    for _ in range(JOINS):
        assert checked_codes(guards, joined, sets) == []
        guards.forget()


def test_an_honest_call_leaves_no_finding_and_no_flag(tmp_path: Path) -> None:
    sets = make_sets(tmp_path, SMALL)
    guards = Guards.capture("cpu")
    assert guards.loaded() == []
    state = torch.get_rng_state()
    assert checked_codes(guards, function_of("taking:own_seed"), sets) == []
    assert guards.timed() == []
    assert torch.equal(torch.get_rng_state(), state)


def test_flags_changed_by_an_import_are_a_doubt_and_put_back() -> None:
    guards = Guards.capture("cpu")
    torch.set_default_dtype(torch.float64)
    assert [one.code for one in guards.loaded()] == ["flags_changed_on_import"]
    assert torch.get_default_dtype() is torch.float32
    assert guards.loaded() == []


def test_identities_see_a_replaced_code_object(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Identities.capture()
    assert seen.changed() == []
    monkeypatch.setattr(json.dumps, "__code__", (lambda *_a, **_k: "{}").__code__)
    assert seen.changed() == ["json.dumps"]


def test_identities_see_a_replaced_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Identities.capture()
    monkeypatch.setattr("builtins.sum", lambda *_: 0)
    assert seen.changed() == ["builtins.sum"]


@contextmanager
def thread(target: Callable[[], object], end: threading.Event) -> Iterator[threading.Thread]:
    """A thread at work until ``end`` is set for it."""
    made = threading.Thread(target=target, name="late")
    made.start()
    try:
        yield made
    finally:
        end.set()
        made.join()


def test_a_thread_that_sleeps_is_not_late() -> None:
    known, end = known_threads(), threading.Event()
    with thread(end.wait, end) as sleeper:
        before = -1
        while spent_by(sleeper) != before:  # until it has come to rest
            before = spent_by(sleeper)
            time.sleep(0.01)
        assert watch_after_return(1_000_000, known) is None


def test_a_thread_that_computes_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    known, end = known_threads(), threading.Event()

    def compute() -> None:
        while not end.is_set():
            pass

    with thread(compute, end) as computing:

        def sleep(_seconds: float) -> None:
            """Until it has had its share of a processor, which a busy machine gives it late."""
            wanted = spent_by(computing) + 3_000_000
            while spent_by(computing) < wanted:
                time.sleep(0.001)

        monkeypatch.setattr(leftovers, "time", clocks_with(sleep))
        late = watch_after_return(1_000_000, known)
    assert late is not None
    assert late.who == "Python thread 'late'"
    assert late.cpu_ns > 2_000_000


@pytest.mark.parametrize(
    ("shape", "strides", "shared"),
    [
        ((4, 8), (8, 1), False),
        ((4, 8), (1, 4), False),  # columns
        ((4, 8), (16, 2), False),  # every second element
        ((4, 8), (0, 1), True),
        ((1, 8), (0, 1), False),
        ((4, 8), (4, 1), True),  # rows overlap: 32 elements in 20 places
        ((0, 8), (0, 0), False),
    ],
)
def test_elements_that_certainly_share_memory(
    shape: tuple[int, ...], strides: tuple[int, ...], shared: bool
) -> None:
    assert repeats(shape, strides) is shared


def test_views_overlap_and_neighbours_do_not() -> None:
    base = torch.zeros(8, 8)
    assert overlap(memory_span(base), memory_span(base[2:].t()))
    assert not overlap(memory_span(base), memory_span(base.clone()))


def test_parts_of_one_allocation_are_outputs_of_their_own() -> None:
    both = torch.zeros(2, 8)
    assert check_mutual({"grad_a": both[0], "grad_b": both[1]}) == []
    assert check_mutual({"empty": both[:0], "y": both}) == []
    (found,) = check_mutual({"y": both[:, 2:], "x": both[1]})
    assert (found.code, "x shares memory with the output y" in found.text) == (
        "output_aliased",
        True,
    )


def test_a_fingerprint_moves_with_one_bit_and_with_a_swap() -> None:
    values = torch.arange(6.0).reshape(2, 3)
    before = fingerprint(values)
    assert fingerprint(values.clone()) == before
    assert fingerprint(values.flip(0)) != before
    values[1, 2] = torch.nextafter(values[1, 2], torch.tensor(9.0))
    assert fingerprint(values) != before
    assert fingerprint(torch.tensor([0.0])) != fingerprint(torch.tensor([-0.0]))


def test_an_empty_output_shape_and_a_missing_output_are_told_apart(tmp_path: Path) -> None:
    sets = make_sets(tmp_path, SMALL)
    guards = Guards.capture("cpu")
    wrong = checked_codes(guards, lambda x, weight: x[:1] * weight, sets, calls=1)
    assert wrong == ["output_shape"]
    doubled = checked_codes(guards, lambda x, weight: (x * weight).double(), sets, calls=1)
    assert doubled == ["output_dtype"]
