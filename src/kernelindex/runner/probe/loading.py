"""From a request to a session that holds a candidate, its sets and its passes."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.dataclass_json import from_json
from kernelindex.runner.operations.case import case_of
from kernelindex.runner.plan import Anchor, Candidate, Point
from kernelindex.runner.probe.candidate import Loaded, load_candidate
from kernelindex.runner.probe.failures import as_refusal
from kernelindex.runner.probe.gradients import bind_gradients
from kernelindex.runner.probe.sets import NumpySets, Sets, TorchSets
from kernelindex.runner.probe.work import FixedWork, PlainWork, TorchWork, Work, bind_backward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.runner.probe.state import Session


def import_torch() -> None:
    """Import torch, so that guards see it as it is before a candidate can change it."""
    try:
        importlib.import_module("torch")
        bind_backward()
        bind_gradients()
    except ImportError as error:
        text = f"{error}; install torch to measure this candidate"
        raise Refusal("unsupported", "package_missing", text) from error


def load_anchor(session: Session, value: Mapping[str, Any]) -> dict[str, Any]:
    """Make the anchor's work: its entry is called with the device and gives one call."""
    anchor = from_json(Anchor, dict(value))
    begun = time.perf_counter_ns()
    module, _, name = anchor.entry.partition(":")
    make = getattr(importlib.import_module(module), name)
    session.works = {"inference": FixedWork(make(session.device))}
    spent = time.perf_counter_ns() - begun
    return {"import_ns": spent, "source_digest": None, "packages": {}, "guards": []}


def read_candidate(session: Session, request: Mapping[str, Any]) -> Candidate:
    """Read point and candidate of a request into the session."""
    session.point = from_json(Point, dict(request["point"]))
    session.candidate = from_json(Candidate, dict(request["candidate"]))
    session.case = case_of(session.point)
    return session.candidate


def load_function(session: Session, request: Mapping[str, Any]) -> Loaded:
    """Import the candidate that was read; refuses where that fails."""
    assert session.candidate is not None
    folder = Path(str(request["plan_dir"])) if request.get("plan_dir") else None
    loaded = load_candidate(session.candidate, folder)
    session.function, session.prepare = loaded.function, loaded.prepare
    session.works, session.sets = {}, None
    return loaded


def load_sets(session: Session, files: Sequence[str], upstream: Sequence[str]) -> None:
    """Load input sets and forget the passes made of those before."""
    case, candidate, point = session.case, session.candidate, session.point
    if case is None or candidate is None or point is None:
        raise Refusal("unsupported", "no_load", "load a candidate first")
    session.works, session.sets = {}, None
    session.notes.pop("graphs", None)
    session.meter.paces.clear()
    if candidate.interface == "numpy":
        session.sets = NumpySets(case, files)
        return
    with as_refusal("loading inputs"):
        session.sets = TorchSets(
            case, session.device, files, upstream, non_leaf=point.gradients == "non_leaf"
        )


def find_work(session: Session, timed_pass: str) -> Work:
    """The work of a pass, made on first use; refuses a pass the candidate does not offer."""
    if timed_pass not in session.works:
        session.works[timed_pass] = _make_work(session, timed_pass)
    return session.works[timed_pass]


def _make_work(session: Session, timed_pass: str) -> Work:
    candidate, function, sets = session.candidate, session.function, session.sets
    if candidate is None or function is None or sets is None:
        raise Refusal("unsupported", "no_inputs", "load a candidate and its inputs first")
    if timed_pass not in candidate.passes:
        text = f"{candidate.id} has no {timed_pass}; it has {', '.join(candidate.passes)}"
        raise Refusal("unsupported", "no_pass", text)
    if timed_pass == "inference" or candidate.interface == "numpy":
        return PlainWork(
            function, sets, _prepared(session, sets), training=timed_pass != "inference"
        )
    point = session.point
    accumulate = point is not None and point.gradient_buffers == "accumulated"
    return TorchWork(timed_pass, function, sets, accumulate=accumulate)


def _prepared(session: Session, sets: Sets) -> dict[int, dict[str, Any]]:
    """What ``prepare(**static inputs)`` makes for each set, timed; {} without ``prepare``.

    It returns a mapping of arguments that stand in the place of the static inputs.
    """
    if session.prepare is None:
        return {}
    made, begun = {}, time.perf_counter_ns()
    with as_refusal("prepare"):
        for index, one in enumerate(sets.sets):
            specs = one.case.operation.inputs
            static = {spec.name: one.plain[spec.name] for spec in specs if spec.role == "static"}
            made[index] = dict(session.prepare(**static))
        session.meter.timer.synchronize()
    session.setup_ns = (time.perf_counter_ns() - begun) // max(1, len(made))
    return made
