"""Untimed looks at a candidate: a checked call, a trace, traits, capture, an audit's bench."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex import stats
from kernelindex.runner.channel import Refusal
from kernelindex.runner.probe import poison, trace, traits
from kernelindex.runner.probe.measuring import Regime
from kernelindex.runner.probe.state import CheckedCall, Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.runner.probe.audits import Bench
    from kernelindex.runner.probe.guards import Guards
    from kernelindex.runner.probe.sets import Set
    from kernelindex.runner.probe.work import Work

_TRACED_CALLS = 5
_LAUNCH_NS = 1_000.0


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked call: what it gave and what the guards found."""

    timed_pass: str
    outputs: dict[str, Any]
    gradients: dict[str, Any]
    findings: list[dict[str, Any]]
    elapsed_ns: int


def run_checked(
    session: Session, guards: Guards, work: Work, request: Mapping[str, Any]
) -> Checked:
    """One untimed call on one set between the guards; gradients are fresh."""
    index, timed_pass = int(request["set"]), str(request["pass"])
    one = _set_of(session, index)
    state = CheckedCall(timed_pass, session.device, one.case, *_handed(one, timed_pass))
    try:
        with work.mode():
            work.begin(int(request.get("refresh") or 0))
        state = _call_between(session, guards, work, index, state, bool(request.get("poison")))
        elapsed = int(state.notes.pop("elapsed_ns"))
        findings = [found.to_json() for found in guards.after(state)]
        return Checked(timed_pass, state.outputs, state.gradients, findings, elapsed)
    finally:
        work.end()
        give_back(session.device)


def give_back(device: str) -> None:
    """Give free memory back to the device: poison and audits should not starve others."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()


def _handed(one: Set, timed_pass: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Inputs, leaves and upstream gradients as a pass hands them to the candidate."""
    if timed_pass == "inference" or not one.leaves:
        return one.plain, {}, {}
    return one.given, one.leaves, one.upstream if timed_pass in ("backward", "full") else {}


def _call_between(
    session: Session, guards: Guards, work: Work, index: int, state: CheckedCall, poisoned: bool
) -> CheckedCall:
    """Make the call; what it gave goes into ``state``, named where it can be."""
    one = _set_of(session, index)
    state.inputs = _handed(one, state.timed_pass)[0]
    step = work.ready(index)
    state.poisoned = poisoned
    guards.before(state)  # first: what it allocates and frees would take the filled blocks
    with _poison(session, one, poisoned), work.mode():
        begun = time.perf_counter_ns()
        result = step()
        state.notes["elapsed_ns"] = time.perf_counter_ns() - begun
    state.result = work.result_of(index, result)
    state.outputs, state.gradients = work.collect(index, result)
    return state


def _set_of(session: Session, index: int) -> Set:
    if session.sets is None or not 0 <= index < len(session.sets.sets):
        raise Refusal("unsupported", "no_set", f"no input set {index} is loaded")
    return session.sets.sets[index]


@contextmanager
def _poison(session: Session, one: Set, wanted: bool) -> Iterator[None]:
    """Free memory filled before the call; on a host it is kept from the system meanwhile."""
    if not wanted:
        yield
    elif session.device.startswith("cuda"):
        import torch

        poison.poison_device(torch, session.device, 4 * sum(_sizes(one)))
        yield
    else:
        with poison.poisoned_heap(_sizes(one)):
            yield


def _sizes(one: Set) -> list[int]:
    """Bytes of each input and output of a case."""
    case = one.case
    specs = (*case.operation.inputs, *case.operation.outputs)
    return sorted({case.nbytes(spec.name) for spec in specs})


def describe_trace(session: Session, work: Work, key: str) -> dict[str, Any]:
    """Kernels, launches and busy time of one traced call, over the event time of such a call.

    The device's own overhead counts as busy: two events, and 1 µs for each launch. On an H200
    two kernels busy for 11.8 µs take 16.3 µs from a graph as well, where no host is in the way.
    """
    timer, device = session.meter.timer, session.device.startswith("cuda")
    if session.candidate is not None and session.candidate.interface == "numpy":
        return {"kernels": [], "busy_ratio": None, "launches": None, "text": "numpy is not traced"}
    work.ready(0)()
    timer.synchronize()
    try:
        spans = trace.trace_call(work.ready(0), timer.synchronize, device=device)
    except (ImportError, RuntimeError, OSError, ValueError) as error:
        return {"kernels": [], "busy_ratio": None, "launches": None, "text": str(error)[:500]}
    if not device:
        spans = trace.own_spans(spans)
        return {"kernels": trace.share_by_name(spans), "busy_ratio": None, "launches": len(spans)}
    measured = session.meter.measure(work, key, Regime("hot"), _TRACED_CALLS, switch_calls=2)
    nothing = timer.take(_TRACED_CALLS, lambda _: lambda: None, cold=False, hold_ns=2e5)
    event_ns, busy_ns = stats.median(measured.taken.samples_ns), trace.busy_us(spans) * 1e3
    own_ns = stats.median(nothing.samples_ns) + _LAUNCH_NS * len(spans)
    return {
        "kernels": trace.share_by_name(spans),
        "busy_ratio": min(1.0, (busy_ns + own_ns) / event_ns) if spans else None,
        "launches": len(spans),
        "busy_ns": busy_ns,
        "device_overhead_ns": own_ns,
        "event_ns": event_ns,
    }


def describe_traits(session: Session, work: Work, timed_pass: str) -> dict[str, Any]:
    """Peak and saved memory, determinism, set-up time, energy of a call; None where not known."""
    device = session.device.startswith("cuda")
    work.ready(0)()
    session.meter.timer.synchronize()
    saved = None
    if timed_pass in ("forward", "backward", "full") and session.sets is not None:
        one = session.sets.sets[0]
        if one.leaves and session.function is not None:
            saved = traits.measure_saved_bytes(session.function, one, device=device)
    return {
        "peak_bytes": traits.measure_peak_bytes(work) if device else None,
        "saved_bytes": saved,
        "deterministic": traits.is_deterministic(work),
        "graph_capturable": None,
        "setup_ns": session.setup_ns,
        "energy": traits.measure_energy(
            work, session.meter.sensors, session.meter.timer.synchronize
        ),
    }


def describe_capture(work: Work) -> dict[str, Any]:
    """Whether a call can be captured, and why not."""
    capturable, text = traits.is_capturable(work)
    return {"graph_capturable": capturable, "capture_text": text}


def make_bench(session: Session, work: Work, request: Mapping[str, Any]) -> Bench:
    """What an audit may use."""
    from kernelindex.runner.probe.audits import Bench

    if session.sets is None:
        raise Refusal("unsupported", "no_inputs", "load inputs first")
    return Bench(
        timed_pass=str(request["pass"]),
        device=session.device,
        work=work,
        sets=session.sets,
        timer=session.meter.timer,
        seed=secrets.randbits(32),
    )
