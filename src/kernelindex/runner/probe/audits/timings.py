"""Audits by time: what a candidate could only gain by remembering, foreseeing or working early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.runner.cheats.codes import Finding
from kernelindex.runner.probe.audits.deciding import Slower, compare

if TYPE_CHECKING:
    from kernelindex.runner.probe.audits.bench import Bench

REPEAT_MARGIN = 1.15
# Idleness changes clocks, caches and a quota's credit of honest code as well.
GAP_MARGIN = 1.5
LEAST_GAP_S, GAP_CALLS = 0.01, 3.0
SETTLED = 6  # calls after which whoever waits for weights to stay has seen them stay
_OLD = 7  # the key of contents that were seen before


def audit_content(bench: Bench) -> list[Finding]:
    """Fresh contents against contents seen at the same place before; both are written anew."""

    def sample(*, fresh: bool) -> float:
        for turn in range(2):
            keys = [bench.fresh_key() if fresh else _OLD + one for one in range(bench.count)]
            bench.write_all(dict(enumerate(keys)))
            seen = bench.random.below(bench.count)
            if turn == 0:
                bench.call(range(bench.count))
        return bench.time(seen)

    found = compare(bench, lambda: sample(fresh=True), lambda: sample(fresh=False), REPEAT_MARGIN)
    return explain(found, "cached_by_content", "on fresh contents than on contents seen before")


def audit_upstream(bench: Bench) -> list[Finding]:
    """A new upstream gradient against the one before, on one graph and the same inputs.

    The old one lies in its place when the graph is made, where forward could foresee it.
    """
    index = 0

    def sample(*, fresh: bool) -> float:
        bench.write_all({index: bench.fresh_key()})
        bench.write_upstream(index, _OLD)
        bench.call([index])
        bench.begin()
        bench.call([index])
        bench.write_upstream(index, bench.fresh_key() if fresh else _OLD)
        return bench.time(index)

    found = compare(bench, lambda: sample(fresh=True), lambda: sample(fresh=False), REPEAT_MARGIN)
    return explain(found, "gradient_cached", "with a new upstream gradient than with the last")


def audit_weights(bench: Bench) -> list[Finding]:
    """Weights refreshed before the call against weights left alone; inputs are fresh in both.

    Weights left alone are not written at all: a candidate may go by a tensor's version. The cold
    cache regime takes away what writing them puts into caches.
    """
    index = 0

    def sample(*, fresh: bool) -> float:
        bench.write(index, bench.fresh_key(), bench.static_names)
        bench.write_all({index: bench.fresh_key()})
        bench.call([index] * SETTLED)
        if fresh:
            bench.write(index, bench.fresh_key(), bench.static_names)
        bench.write_all({index: bench.fresh_key()})
        return bench.time(index)

    found = compare(bench, lambda: sample(fresh=True), lambda: sample(fresh=False), REPEAT_MARGIN)
    return explain(found, "weights_cached", "after weights changed than with weights left alone")


def audit_prediction(bench: Bench) -> list[Finding]:
    """After a steady rotation and a gap: a set out of turn against the one whose turn it is.

    Both halves of a pair time one set, which is out of turn or not by where the rotation began:
    honest kernels may take longer on some contents than on others.
    """
    sets: list[int] = []  # those to be timed once more

    def sample(*, foreseen: bool) -> float:
        if sets:
            timed = sets.pop()
        else:
            timed = bench.random.below(bench.count)
            sets.append(timed)
        shift = 0 if foreseen else 1 + bench.random.below(max(1, bench.count - 1))
        order = [(timed + shift + at) % bench.count for at in range(bench.count)] * 2
        bench.write_all({one: bench.fresh_key() for one in range(bench.count)})
        started = bench.clock()
        bench.call(order)
        bench.wait(_gap_s((bench.clock() - started) / len(order)))
        return bench.time(timed)

    found = compare(
        bench, lambda: sample(foreseen=False), lambda: sample(foreseen=True), REPEAT_MARGIN
    )
    return explain(found, "predicts_next", "on a set out of turn than on the next of the rotation")


def audit_gap(bench: Bench) -> list[Finding]:
    """A call at once after the one before against a call after an idle gap."""
    order = list(range(bench.count)) * 2

    def sample(*, idle: bool) -> float:
        bench.write_all({one: bench.fresh_key() for one in range(bench.count)})
        started = bench.clock()
        bench.call(order)
        if idle:
            bench.wait(_gap_s((bench.clock() - started) / len(order)))
        return bench.time(0)

    found = compare(bench, lambda: sample(idle=False), lambda: sample(idle=True), GAP_MARGIN)
    return explain(found, "works_in_gap", "at once than after an idle gap")


def _gap_s(call_ns: float) -> float:
    return max(LEAST_GAP_S, GAP_CALLS * call_ns / 1e9)


def explain(found: Slower | None, code: str, how: str) -> list[Finding]:
    """A finding of a way that was slower, none where it was not."""
    if found is None:
        return []
    text = f"{found.ratio:.2f} x slower {how}: {found.slow_ns / 1e3:.1f} against "
    text += f"{found.quick_ns / 1e3:.1f} µs, medians of {found.pairs} pairs, seen twice"
    return [Finding(code, text, found.numbers())]
