"""Work in what nobody times: results of a call let go of, and the next call made ready.

A candidate may be told of both, by a finalizer on what it returned. Three things show what it
does there. Contents written after a call was made ready must be what the call answers to. Letting
go takes a small part of a call: freeing memory is all that an honest candidate leaves to do. And a
call takes as long on contents written that late as on those that lay there before.
A forward that ran outside of a timed backward is no concern of this: its work is another pass's.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex import stats
from kernelindex.runner.cheats.codes import Finding
from kernelindex.runner.probe.audits.deciding import compare
from kernelindex.runner.probe.audits.timings import REPEAT_MARGIN, explain
from kernelindex.runner.probe.audits.values import explain_difference, find_difference, write_set

if TYPE_CHECKING:
    from kernelindex.runner.probe.audits.bench import Bench

# Of a call's time. A host gives pages back to the system, a sixth of what taking them cost.
SHARE, SHARE_ON_HOST = 0.1, 0.3
LEAST_NS = 300_000.0
TRIES = 7


@dataclass(frozen=True, slots=True)
class Spent:
    """Host time of letting go and of the call after it (ns), the device waited for."""

    untimed_ns: float
    call_ns: float


def audit_untimed(bench: Bench) -> list[Finding]:
    """Answers to what came too late to be prepared for, then the clock, then both."""
    return _by_value(bench) or _by_clock(bench) or _by_lateness(bench)


def _by_value(bench: Bench) -> list[Finding]:
    """Inputs of ``backward`` were its forward's already, so its upstream gradient changes."""
    write_set(bench, bench.fresh_key())
    made, key = _after_writing(bench, bench.fresh_key())
    if bench.timed_pass != "backward":
        bench.write_all({0: key})
    bench.begin()
    found = find_difference(made, bench.answer(0))
    of = " of contents written after the call was made ready"
    return explain_difference(found, "untimed_work", of, ": the answer was prepared before")


def _after_writing(bench: Bench, key: int) -> tuple[dict[str, Any], int]:
    """Outputs of a call whose contents were written once it was ready, and their key."""
    with bench.work.mode():
        for _ in range(2):  # what a finalizer needs to know, it knows by the second call
            held: Any = bench.work.ready(0)()
        del held
        gc.collect()
        step = bench.work.ready(0)
        _write_late(bench, 0, key)
        result = step()
    bench.timer.synchronize()
    return bench.copies(0, result), key


def _write_late(bench: Bench, index: int, key: int) -> None:
    """Write what a call that is ready has not read yet."""
    if bench.timed_pass == "backward":
        bench.write_upstream(index, key)
        return
    bench.write(index, key, bench.per_call_names)
    bench.write_upstream(index, bench.upstream_key(key))


def _by_clock(bench: Bench) -> list[Finding]:
    """Accuses only where most of the tries say so, and then most of as many new ones."""
    write_set(bench, bench.fresh_key())
    for _ in range(2):
        seen = _suspicion(bench)
        if not seen:
            return []
    untimed_ns = stats.median([one.untimed_ns for one in seen])
    call_ns = stats.median([one.call_ns for one in seen])
    text = f"{untimed_ns / 1e3:.0f} µs went by in letting go of a call's results, against "
    text += f"{call_ns / 1e3:.0f} µs of the call; medians of {len(seen)}, seen twice"
    return [Finding("untimed_work", text, {"untimedNs": untimed_ns, "callNs": call_ns})]


def _suspicion(bench: Bench) -> list[Spent]:
    """The tries, where most of them took too long; none as soon as most did not."""
    seen: list[Spent] = []
    cleared = 0
    while len(seen) < TRIES:
        seen.append(_once(bench))
        cleared += seen[-1].untimed_ns <= _allowed_ns(bench, seen[-1].call_ns)
        if cleared > TRIES // 2:
            return []
    return seen


def _allowed_ns(bench: Bench, call_ns: float) -> float:
    share = SHARE if bench.device.startswith("cuda") else SHARE_ON_HOST
    return max(LEAST_NS, share * call_ns)


def _once(bench: Bench) -> Spent:
    """Letting go apart from zeroing our own buffers: making ready again has nothing to let go."""
    wait, clock = bench.timer.synchronize, bench.clock
    with bench.work.mode():
        held: Any = bench.work.ready(0)()
        wait()
        begun = clock()
        del held
        step = bench.work.ready(0)
        wait()
        first = clock()
        step = bench.work.ready(0)
        wait()
        again = clock()
        held = step()
        wait()
        ended = clock()
        del held
    return Spent(float((first - begun) - (again - first)), float(ended - again))


def _by_lateness(bench: Bench) -> list[Finding]:
    """Contents are new in both ways; where none come late, another set's are written instead.

    What was written last lies in a host's caches, which favours the late ones.
    """
    if bench.count < 2:
        return []

    def sample(*, late: bool) -> float:
        bench.write_all({0: bench.fresh_key()})
        bench.call([0, 0])
        return bench.time(0, lambda: _write_late(bench, 0 if late else 1, bench.fresh_key()))

    found = compare(bench, lambda: sample(late=True), lambda: sample(late=False), REPEAT_MARGIN)
    how = "on contents written after the call was made ready than on those before"
    return explain(found, "untimed_work", how)
