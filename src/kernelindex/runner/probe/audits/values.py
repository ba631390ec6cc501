"""Audits by value: answers that depend on addresses or on the number of calls, not on inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernelindex.runner.cheats.codes import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.probe.audits.bench import Bench

# An honest answer to the same inputs differs by rounding only, at most a few 1e-3 in bf16.
DIFFERENT = 0.05
LEAST_CALLS, MORE_CALLS = 60, 60
BUDGET_NS = 2_000_000_000


def audit_address(bench: Bench) -> list[Finding]:
    """New contents at an old address must give what they give at another address.

    Two sets are used: contents B are written where A were, and where others were.
    """
    other = 1 % bench.count
    names = bench.per_call_names + (bench.static_names if bench.training else [])
    a, b = bench.fresh_key(), bench.fresh_key()
    answers = []
    for index, key in ((0, a), (0, b), (other, b)):
        _write_same(bench, index, key, names)
        answers.append(bench.answer(index))
    old, new, wanted = answers
    if other == 0:
        return []
    stale = _worst(new, wanted)
    if not stale or stale[1] <= DIFFERENT:
        return []
    name, off = stale
    text = f"{name} of new contents at an old address is off by {off:.3g} of its norm from the "
    text += "same contents elsewhere"
    return [Finding("stale_by_address", text, {"off": off, "fromOld": _off(new[name], old[name])})]


def audit_calls(bench: Bench) -> list[Finding]:
    """The same contents must give the same answer after many more calls."""
    names = bench.per_call_names
    key = bench.fresh_key()
    _write_same(bench, 0, key, names)
    first = bench.answer(0)
    _many_calls(bench)
    _write_same(bench, 0, key, names)
    worst = _worst(bench.answer(0), first)
    if not worst or worst[1] <= DIFFERENT:
        return []
    text = f"{worst[0]} is off by {worst[1]:.3g} of its norm from the answer to the same inputs "
    text += "some dozens of calls before"
    return [Finding("detects_calls", text, {"off": worst[1]})]


def _write_same(bench: Bench, index: int, key: int, names: list[str]) -> None:
    """Contents of a key from set 0's base, so that two sets hold the same."""
    bench.write(index, key, names, base=0)
    bench.write_upstream(index, key + (1 << 40), base=0)
    bench.begin()


def _many_calls(bench: Bench) -> None:
    begun, wanted = bench.clock(), LEAST_CALLS + bench.random.below(MORE_CALLS)
    for one in range(wanted):
        bench.write(one % bench.count, bench.fresh_key(), bench.per_call_names)
        bench.begin()
        bench.call([one % bench.count])
        if bench.clock() - begun > BUDGET_NS:
            return


def _worst(seen: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[str, float] | None:
    offs = {name: _off(seen[name], wanted[name]) for name in wanted if name in seen}
    return max(offs.items(), key=lambda item: item[1], default=None)


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
