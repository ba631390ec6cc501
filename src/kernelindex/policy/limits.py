"""Distance to the hardware's limit: achieved rates and percents, always labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.policy.facts import TimedPass
from kernelindex.policy.peaks import accusing_peak, shown_peak

if TYPE_CHECKING:
    from kernelindex.policy.facts import RunFacts
    from kernelindex.registry.hardware import Product

COLD = ("cache", "cold")
CERTAINLY_UNCACHED = 4
"""Bytes beyond this many times the L2 cannot have come from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How near a run is to its device's limit.

    ``tflops``, ``tbps``    achieved, from the cost model's work and compulsory bytes
    ``percent_nominal``     floor at nominal peaks / measured time
    ``percent_attainable``  floor at measured peaks / measured time
    ``bound``               which limit the nominal floor is: compute or memory
    ``floor_ns``            the shortest time at nominal peaks
    ``peak_dtype``          the dtype whose nominal peak was taken

    Percents are None where work is known but not in what it was computed.
    """

    tflops: float | None
    tbps: float | None
    percent_nominal: float | None
    percent_attainable: float | None
    bound: str | None
    floor_ns: float | None
    compute_floor_ns: float | None = None
    memory_floor_ns: float | None = None
    peak_dtype: str | None = None


def limit_of(facts: RunFacts, product: Product | None) -> Limit | None:
    """The limit of a latency run with a cost model; ``None`` where there is neither."""
    time_ns = latency_ns(facts)
    cost = facts.cost
    if time_ns is None or cost is None or (cost.flops is None and cost.bytes is None):
        return None
    compute, memory, dtype = (None, None, None) if product is None else _floors(facts, product)
    floor = None if cost.flops and compute is None else _longest(compute, memory)
    bound = None if floor is None else ("memory" if floor == memory else "compute")
    attainable = None if product is None else _attainable_floor(facts, product, dtype, bound)
    return Limit(
        tflops=None if cost.flops is None else cost.flops / time_ns / 1e3,
        tbps=None if cost.bytes is None else cost.bytes / time_ns / 1e3,
        percent_nominal=None if floor is None else 100.0 * floor / time_ns,
        percent_attainable=None if attainable is None else 100.0 * attainable / time_ns,
        bound=bound,
        floor_ns=floor,
        compute_floor_ns=compute,
        memory_floor_ns=memory,
        peak_dtype=dtype,
    )


def latency_ns(facts: RunFacts) -> float | None:
    """The primary value where it is a positive latency in ns."""
    primary = facts.primary
    if primary is None or primary.metric != "latency" or primary.unit != "ns":
        return None
    return primary.value if primary.value > 0.0 else None


def above_physical_floor(facts: RunFacts, product: Product | None) -> bool:
    """Whether a run claims to be faster than its device can be: then it does not rank.

    The compute floor always holds. The memory floor holds under a cold cache, and where
    the bytes are several times the L2; a warm cache may beat it honestly. Only bytes that any
    data need accuse.
    """
    time_ns = latency_ns(facts)
    if time_ns is None or facts.cost is None or product is None:
        return False
    peak = accusing_peak((dtype for _, dtype in facts.shape.dtypes), product)
    if peak and facts.cost.flops and time_ns < facts.cost.flops / peak * 1e9:
        return True
    return beats_memory_floor(facts, product) and _bytes_come_from_memory(facts, product)


def floor_text(facts: RunFacts) -> str:
    """What being above the floor means; a backward pass may have left its work to forward."""
    if facts.timed_pass is TimedPass.BACKWARD:
        return (
            "faster than a backward pass alone can be, so another pass did its work: "
            "compare the full pass"
        )
    return "faster than the device's nominal peaks allow, so the number cannot be right"


def beats_memory_floor(facts: RunFacts, product: Product | None) -> bool:
    """Whether a run moves the bytes that it surely needs faster than the nominal bandwidth."""
    time_ns, floor_ns = latency_ns(facts), _time_of(_sure_bytes(facts), product)
    return time_ns is not None and floor_ns is not None and time_ns < floor_ns


def _bytes_come_from_memory(facts: RunFacts, product: Product) -> bool:
    if COLD in facts.protocol.rules:
        return True
    work = _sure_bytes(facts)
    return bool(work and product.l2_bytes and work > CERTAINLY_UNCACHED * product.l2_bytes)


def _floors(facts: RunFacts, product: Product) -> tuple[float | None, float | None, str | None]:
    """Compute floor and memory floor in ns, and the dtype whose peak was taken."""
    flops = facts.cost.flops if facts.cost else None
    shown = shown_peak((dtype for _, dtype in facts.shape.dtypes), product)
    peak, name = shown or (None, None)
    compute = flops / peak * 1e9 if flops and peak else None
    return compute, _memory_floor(facts, product), name


def _memory_floor(facts: RunFacts, product: Product | None) -> float | None:
    """The time in ns that the compulsory bytes take at nominal bandwidth."""
    return _time_of(facts.cost.bytes if facts.cost else None, product)


def _sure_bytes(facts: RunFacts) -> int | None:
    if facts.cost is None:
        return None
    return facts.cost.bytes if facts.cost.sure_bytes is None else facts.cost.sure_bytes


def _time_of(traffic: int | None, product: Product | None) -> float | None:
    if product is None or not traffic or not product.bandwidth_bytes_s:
        return None
    return traffic / product.bandwidth_bytes_s * 1e9


def _attainable_floor(
    facts: RunFacts, product: Product, dtype: str | None, bound: str | None
) -> float | None:
    """The longest floor at measured peaks; ``None`` unless the binding one was measured."""
    cost = facts.cost
    flops = product.attainable.get(dtype) if dtype else None
    copy = product.attainable.get("copy")
    compute = cost.flops / flops.value * 1e9 if cost and cost.flops and flops else None
    memory = cost.bytes / copy.value * 1e9 if cost and cost.bytes and copy else None
    binding = {"compute": compute, "memory": memory}.get(bound or "")
    return None if binding is None else _longest(compute, memory)


def _longest(*floors: float | None) -> float | None:
    known = [floor for floor in floors if floor is not None]
    return max(known) if known else None
