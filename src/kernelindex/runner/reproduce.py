"""What repeating a published run takes: its line here, its protocol emulated, and ours."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.plan import TRAINING
from kernelindex.runner.protocols import EMULATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.operations.description import CandidateSpec
    from kernelindex.runner.planning import Ask

OURS = "records"
_EMULATED = re.compile(r"do-bench-[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """One batch that repeats a run: under which protocol, asking what, and why so."""

    protocol: str
    ask: Ask
    text: str


def plan_reruns(
    ask: Ask, line: str, timed_pass: str, protocol: Mapping[str, Any]
) -> tuple[Rerun, ...]:
    """The batches that repeat a run: under the source's protocol where it can be, then ours.

    ``ask`` has the run's shape; ``line`` is what ran, ``protocol`` the run's protocol
    manifest (its document). Raises RequestError ``reproduce.line`` where nothing here is of
    that line, ``reproduce.pass`` where the pass is not known.
    """
    candidate = candidate_of(ask.operation, line)
    if timed_pass not in candidate.passes:
        raise RequestError(
            f"{candidate.id} is not measured in the pass {timed_pass}; name one with --pass:"
            f" {', '.join(candidate.passes)}",
            code="reproduce.pass",
        )
    passes = _passes(candidate, timed_pass)
    base = replace(ask, candidates=(candidate.id,), passes=passes)
    emulated = emulation_of(protocol)
    ours = Rerun(protocol=OURS, ask=base, text="under our protocol: leaf weights, fresh .grad")
    if emulated is None:
        return (ours,)
    spec = protocol["spec"]
    included = spec.get("timedRegion", {}).get("includes", ())
    buffers = "accumulated" if "gradient_accumulation" in included else "fresh"
    gradients = spec.get("gradients", "leaf")
    theirs = replace(base, gradients=gradients, gradient_buffers=buffers)
    words = gradients.replace("_", "-")
    text = f"as the source measures: {emulated}, {words} weights, {buffers} .grad"
    return (Rerun(protocol=emulated, ask=theirs, text=text), ours)


def candidate_of(operation: str, line: str) -> CandidateSpec:
    """The candidate here of an implementation line.

    Raises RequestError ``reproduce.line`` with those there are.
    """
    described = load_operation(operation)
    for candidate in described.candidates:
        if candidate.line_id == line:
            return candidate
    known = ", ".join(one.line_id for one in described.candidates)
    raise RequestError(
        f"nothing here runs {line}; of {operation} there are {known}. A number is repeated by"
        " the same code only",
        code="reproduce.line",
    )


def emulation_of(protocol: Mapping[str, Any]) -> str | None:
    """The protocol of ours that follows the source's, by its reviewed name; None without one."""
    found = _EMULATED.search(str(protocol.get("metadata", {}).get("name", "")))
    return found[0] if found and found[0] in EMULATIONS else None


def _passes(candidate: CandidateSpec, timed_pass: str) -> tuple[str, ...]:
    """A backward result counts only beside forward and full of the same batch."""
    if timed_pass != "backward":
        return (timed_pass,)
    return tuple(one for one in TRAINING if one in candidate.passes)
