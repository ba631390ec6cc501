"""Audits by value: answers that depend on addresses or on the number of calls, not on inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernelindex.runner.cheats.codes import Finding
from kernelindex.runner.probe.guards.outputs import check_sharing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.probe.audits.bench import Bench

# An honest answer to the same inputs differs by rounding only, at most a few 1e-3 in bf16.
DIFFERENT = 0.05
LEAST_CALLS, MORE_CALLS = 60, 60
BUDGET_NS = 2_000_000_000


def audit_address(bench: Bench) -> list[Finding]:
    """New contents at an old address must give what they give at another address."""
    write_set(bench, bench.fresh_key())
    old = bench.answer(0)
    write_set(bench, bench.fresh_key())
    new = bench.answer(0)
    with bench.moved(0):
        bench.begin()
        elsewhere = bench.answer(0)
    found = find_difference(new, elsewhere)
    if found is None:
        return []
    name, off = found
    text = f"{name} of new contents at an old address is off by {off:.3g} of its norm from the "
    text += "same contents elsewhere"
    return [Finding("stale_by_address", text, {"off": off, "fromOld": _off(new[name], old[name])})]


def audit_once(bench: Bench) -> list[Finding]:
    """The same upstream gradient on the same graph must give the same gradients again.

    A backward that writes over what its forward kept is right once a graph. That is honest, and
    cannot be timed alone: `backward` is called again and again on one graph.
    """
    write_set(bench, bench.fresh_key())
    first = bench.answer(0)
    found = find_difference(bench.answer(0), first)
    than = " from the first; its forward and full passes can be timed"
    return explain_difference(found, "graph_used_once", " of a second backward on one graph", than)


def audit_graph(bench: Bench) -> list[Finding]:
    """A new upstream gradient on an old graph must give what it gives on a new graph."""
    write_set(bench, bench.fresh_key())
    bench.call([0])
    bench.write_upstream(0, bench.fresh_key())
    on_old = bench.answer(0)
    bench.begin()
    found = find_difference(on_old, bench.answer(0))
    of, than = " of a new upstream gradient on an old graph", " from the same on a new graph"
    return explain_difference(found, "gradient_cached", of, than)


def audit_reuse(bench: Bench) -> list[Finding]:
    """An output that is still held may not share memory with that of the next call."""
    write_set(bench, bench.fresh_key())
    held = bench.work.collect(0, bench.call([0]))[0]
    fresh = bench.work.collect(0, bench.call([0]))[0]
    kept = {f"{name} of the call before": tensor for name, tensor in held.items()}
    return check_sharing(fresh, kept, "output_reused", "the still held")


def audit_calls(bench: Bench) -> list[Finding]:
    """The same contents must give the same answer after many more calls."""
    key = bench.fresh_key()
    write_set(bench, key)
    first = bench.answer(0)
    _many_calls(bench)
    write_set(bench, key)
    found = find_difference(bench.answer(0), first)
    than = " from the answer to the same inputs some dozens of calls before"
    return explain_difference(found, "detects_calls", "", than)


def explain_difference(
    found: tuple[str, float] | None, code: str, of: str, than: str
) -> list[Finding]:
    """A finding of an answer that is off, none where it is not: what of it, and off from what."""
    if found is None:
        return []
    name, off = found
    return [Finding(code, f"{name}{of} is off by {off:.3g} of its norm{than}", {"off": off})]


def write_set(bench: Bench, key: int) -> None:
    """Contents of a key in set 0: per-call inputs, weights in training, upstream gradients."""
    if bench.training:
        bench.write(0, key, bench.static_names)
    bench.write_all({0: key})


def _many_calls(bench: Bench) -> None:
    begun, wanted = bench.clock(), LEAST_CALLS + bench.random.below(MORE_CALLS)
    for one in range(wanted):
        bench.write(one % bench.count, bench.fresh_key(), bench.per_call_names)
        bench.begin()
        bench.call([one % bench.count])
        if bench.clock() - begun > BUDGET_NS:
            return


def find_difference(seen: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[str, float] | None:
    """The output that is furthest off, where that is more than rounding."""
    offs = {name: _off(seen[name], wanted[name]) for name in wanted if name in seen}
    name = max(offs, key=lambda one: offs[one], default=None)
    return (name, offs[name]) if name is not None and offs[name] > DIFFERENT else None


def _off(seen: Any, wanted: Any) -> float:
    """Norm of the difference over the norm of what is wanted; infinite where it is not finite."""
    if hasattr(seen, "untyped_storage"):
        seen, wanted = seen.double(), wanted.double()
    else:
        seen, wanted = seen.astype("float64"), wanted.astype("float64")
    norm, difference = _norm(wanted), _norm(seen - wanted)
    if not math.isfinite(difference):
        return math.inf if math.isfinite(norm) else 0.0
    return difference / norm if norm else float(difference > 0)


def _norm(values: Any) -> float:
    return math.sqrt(float((values * values).sum()))
