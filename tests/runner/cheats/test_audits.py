"""Audits: what decides, how noise is held off, and each audited cheat beside its twin."""

from __future__ import annotations

import importlib
import math
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kernelindex.runner.probe.audits.deciding import compare, lower_bound, measure
from kernelindex.stats import Random


@dataclass
class Clock:
    """A bench whose time is what is waited for in the test's mind."""

    random: Random = field(default_factory=lambda: Random(3))
    now: int = 0
    tick_ns: float = 1.0

    @property
    def timer(self) -> Clock:
        return self

    def clock(self) -> int:
        self.now += 1_000_000
        return self.now


def noisy(bench: Any, median_ns: float, spread: float) -> Any:
    """Times with a heavy tail: every tenth is up to five times as long."""

    def sample() -> float:
        time = median_ns * math.exp(spread * bench.random.normal())
        return time * (1 + 4 * bench.random.uniform()) if bench.random.below(10) == 0 else time

    return sample


def test_the_bound_is_the_order_statistic_of_the_binomial() -> None:
    # P(Binomial(20, 1/2) < 4) = 0.0013 and P(... < 3) = 0.0002: so the third smallest.
    assert lower_bound([float(n) for n in range(20)]) == 2.0
    assert lower_bound([float(n) for n in range(10)]) == 0.0
    assert lower_bound([1.0] * 9) == -math.inf


@pytest.mark.no_cover
def test_equal_ways_are_never_accused_whatever_the_noise() -> None:
    accused = 0
    for seed in range(400):
        bench: Any = Clock(Random(seed))
        spread = (0.02, 0.1, 0.3, 0.6)[seed % 4]
        ways = noisy(bench, 50_000, spread), noisy(bench, 50_000, spread)
        accused += compare(bench, *ways, margin=1.15) is not None
    assert accused == 0


def test_a_way_half_as_slow_again_is_found_through_noise() -> None:
    found = 0
    for seed in range(100):
        bench: Any = Clock(Random(seed))
        ways = noisy(bench, 75_000, 0.05), noisy(bench, 50_000, 0.05)
        found += compare(bench, *ways, margin=1.15) is not None
    assert found >= 99


def lasting(bench: Clock, median_ns: float) -> Any:
    """Samples of slow calls: the clock goes on while they are taken."""

    def sample() -> float:
        bench.now += int(4 * median_ns)
        return median_ns * math.exp(0.02 * bench.random.normal())

    return sample


def test_three_pairs_clear_slow_calls_and_more_are_taken_before_they_are_accused() -> None:
    pairs = []
    for seed in range(50):
        bench: Any = Clock(Random(seed))
        slow, quick = lasting(bench, 150e6), lasting(bench, 100e6)
        pairs.append(measure(bench, quick, quick, 1.15).pairs)
        assert compare(bench, slow, quick, margin=1.15) is not None
        assert measure(bench, slow, quick, 1.15).pairs >= 10
    assert set(pairs) == {3}


def test_a_gain_of_a_microsecond_accuses_nobody() -> None:
    bench: Any = Clock()
    assert compare(bench, lambda: 2500.0, lambda: 1000.0, margin=1.15) is None
    assert compare(bench, lambda: 9000.0, lambda: 1000.0, margin=1.15) is not None


AUDITED = {
    "cached-by-address": ("inference", "address", "stale_by_address"),
    "cached-by-content": ("inference", "content", "cached_by_content"),
    "cached-by-rolled-content": ("inference", "content", "cached_by_content"),
    "constant-upstream": ("backward", "upstream", "gradient_cached"),
    "backward-in-forward": ("backward", "upstream", "gradient_cached"),
    "once-a-graph": ("backward", "graph", "gradient_cached"),
    "after-many-calls": ("inference", "calls", "detects_calls"),
    "foresees-next": ("inference", "prediction", "predicts_next"),
    "gradient-finalizer": ("backward", "untimed", "untimed_work"),
    "output-finalizer": ("inference", "untimed", "untimed_work"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITED)
def test_an_audit_sees_a_cheat_and_not_its_twin(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the fixtures are torch functions")
    from kernelindex.runner.cheats.catalogue import FIXTURES, entries
    from kernelindex.runner.probe.audits import applicable, run_audit
    from tests.runner.cheats.factories import make_bench

    torch.set_num_threads(1)
    entry = next(one for one in entries() if one.id == name)
    timed_pass, audit, code = AUDITED[name]

    def function(place: str) -> Any:
        module, _, attribute = place.partition(":")
        return getattr(importlib.import_module(FIXTURES + module), attribute)

    cheat = make_bench(function(entry.entry), tmp_path, timed_pass)
    assert [one.code for one in run_audit(audit, cheat)] == [code]
    twin = make_bench(function(entry.honest), tmp_path, timed_pass)
    assert {one: run_audit(one, twin) for one in applicable(twin)} == {
        one: [] for one in applicable(twin)
    }


@dataclass
class Preparing:
    """An inference that answers from what a finalizer of its last output made: stale if late."""

    made: dict[int, Any] = field(default_factory=dict)

    def __call__(self, x: Any, weight: Any) -> Any:
        y = self.made.pop(x.data_ptr(), None)
        y = x * weight if y is None else y
        weakref.finalize(y, self.prepare, x, weight).atexit = False
        return y

    def prepare(self, x: Any, weight: Any) -> None:
        self.made[x.data_ptr()] = x * weight


def test_an_answer_prepared_before_its_contents_were_written_is_seen(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="finalizers are on tensors here")
    from kernelindex.runner.probe.audits import run_audit
    from tests.runner.cheats.factories import make_bench

    found = run_audit("untimed", make_bench(Preparing(), tmp_path))
    assert [one.code for one in found] == ["untimed_work"]
    assert "prepared before" in found[0].text


def kept_by_a_row() -> Any:
    """An inference that computes where the first row has changed only."""
    from kernelindex.runner.cheats.fixtures.honest import rms_norm

    kept: dict[Any, Any] = {}

    def call(x: Any, weight: Any) -> Any:
        key = x.data_ptr(), float(x[0].sum())
        if key not in kept:
            kept[key] = rms_norm(x, weight)
        return kept[key].clone()

    return call


@pytest.mark.slow
def test_contents_that_come_late_are_told_from_those_left_alone(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="inputs are tensors here")
    from kernelindex.runner.probe.audits import run_audit
    from tests.runner.cheats.factories import make_bench

    torch.set_num_threads(1)
    found = run_audit("untimed", make_bench(kept_by_a_row(), tmp_path))
    assert [one.code for one in found] == ["untimed_work"]
    assert "written after" in found[0].text


def test_restoring_puts_the_loaded_contents_back(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="contents are tensors here")
    from tests.runner.cheats.factories import make_bench

    bench = make_bench(lambda x, weight: x * weight, tmp_path)
    one = bench.sets.sets[0]
    before = one.plain["x"].clone()
    bench.write_all({0: bench.fresh_key()})
    assert not torch.equal(one.plain["x"], before)
    assert torch.equal(one.plain["x"].abs().sum(1).sort()[0], before.abs().sum(1).sort()[0])
    bench.restore()
    assert torch.equal(one.plain["x"], before)
    assert torch.equal(one.plain["weight"], one.base["weight"])


@pytest.mark.parametrize("timed_pass", ["backward", "full"])
@pytest.mark.parametrize("non_leaf", [False, True])
def test_gradients_that_add_up_accuse_nobody(
    timed_pass: str, non_leaf: bool, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch", reason="gradients are torch's")
    from kernelindex.runner.cheats.fixtures.caching import own_backward
    from kernelindex.runner.probe.audits import applicable, run_audit
    from tests.runner.cheats.factories import make_bench

    torch.set_num_threads(1)
    bench = make_bench(own_backward, tmp_path, timed_pass, non_leaf=non_leaf, accumulate=True)
    by_value = [one for one in ("reuse", "address", "graph", "calls") if one in applicable(bench)]
    assert {one: run_audit(one, bench) for one in by_value} == {one: [] for one in by_value}


def test_fresh_leaves_take_gradients_and_give_way_again(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="leaves are torch's")
    from tests.runner.cheats.factories import make_sets

    sets = make_sets(tmp_path, non_leaf=True)
    one = sets.sets[0]
    leaf, given = one.leaves["weight"], one.given["weight"]
    with sets.fresh_leaves():
        fresh = one.leaves["weight"]
        assert fresh is not leaf
        assert fresh.data_ptr() == leaf.data_ptr()
        (one.given["x"] * one.given["weight"]).sum().backward()
        assert torch.equal(fresh.grad, one.plain["x"].sum(0))
    assert one.leaves["weight"] is leaf
    assert one.given["weight"] is given
    assert leaf.grad is None


@dataclass
class Rotation(Clock):
    """A bench of three sets; set 2 takes almost three times as long as set 0."""

    count: int = 3
    foreseeing: bool = False
    called: list[int] = field(default_factory=list)

    def write_all(self, keys: Any) -> None:
        assert set(keys) == {0, 1, 2}

    def fresh_key(self) -> int:
        return 7

    def call(self, order: list[int]) -> None:
        self.called = order

    def wait(self, seconds: float) -> None:
        assert seconds > 0

    def time(self, index: int) -> float:
        foreseen = self.foreseeing and index == self.called[0]
        spread = math.exp(0.02 * self.random.normal())
        return spread * (4_000.0 if foreseen else 40_000.0 + 35_000.0 * index)


@pytest.mark.parametrize(("foreseeing", "codes"), [(False, []), (True, ["predicts_next"])])
def test_sets_that_take_longer_foresee_nothing(foreseeing: bool, codes: list[str]) -> None:
    """An expert MLP at few tokens reads the weights of the experts that a set's tokens chose."""
    from kernelindex.runner.probe.audits.timings import audit_prediction

    for seed in range(40):
        bench: Any = Rotation(Random(seed), foreseeing=foreseeing)
        assert [one.code for one in audit_prediction(bench)] == codes


@pytest.mark.slow
def test_a_backward_that_is_right_once_a_graph_is_told_so_and_not_accused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the function is torch's")
    from kernelindex.runner.cheats.codes import status_of
    from kernelindex.runner.cheats.fixtures.honest import rms_norm
    from kernelindex.runner.probe.audits import applicable, run_audit
    from tests.runner.cheats.factories import make_bench

    class OnceAGraph(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any) -> Any:
            ctx.kept = [x.detach().clone(), weight.detach().clone()]
            return rms_norm(x, weight)

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            leaves = [one.clone().requires_grad_() for one in ctx.kept]
            with torch.enable_grad():
                found = torch.autograd.grad(rms_norm(*leaves), leaves, upstream)
            ctx.kept[0].zero_()  # as one that writes its gradients over what it kept
            return found

    def candidate(x: Any, weight: Any) -> Any:
        return OnceAGraph.apply(x, weight)

    bench = make_bench(candidate, tmp_path, "backward")
    assert applicable(bench)[0] == "once"
    (found,) = run_audit("once", bench)
    assert found.code == "graph_used_once"
    assert status_of(found.code) == "runtime_error"
    assert run_audit("once", make_bench(rms_norm, tmp_path, "backward")) == []
