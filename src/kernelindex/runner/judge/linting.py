"""Whether a workload can tell right from wrong: each input must matter, each draw be sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.judge.backend import Made
from kernelindex.runner.judge.comparing import compare
from kernelindex.runner.judge.deciding import decide
from kernelindex.runner.judge.results import unsound
from kernelindex.runner.judge.seeds import derive_seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.runner.judge.backend import Backend
    from kernelindex.runner.judge.expecting import Expectations, Expected
    from kernelindex.runner.plan import Point

__all__ = ["lint"]


def lint(backend: Backend, point: Point, expectations: Expectations) -> list[dict[str, str]]:
    """Findings ``{code, text}``, none where the workload is sound; looks at draws that were made.

    ``input_does_not_matter``: another value of one input leaves every output and gradient within
    tolerance. ``reference_not_finite``, ``trusted_beyond_tolerance``: by draw.
    """
    findings = []
    for draw in expectations.draws:
        made = expectations.make(draw, 0)
        case = expectations.case(draw)
        expected = expectations.expect(case, made, gradients=expectations.gradients)
        findings += [*_unsound(expected)]
        if draw == "own":
            findings += [*_idle(backend, point, expectations, expected, made)]
    return findings


def _unsound(expected: Expected) -> Iterator[dict[str, str]]:
    draw = expected.case.draw
    for code, text in unsound(expected, list(expected.values)):
        yield {"code": code, "text": f"draw {draw}: {text}"}
    if expected.trouble:
        yield {"code": "trusted_failed", "text": f"draw {draw}: {expected.trouble}"}


def _idle(
    backend: Backend, point: Point, expectations: Expectations, expected: Expected, made: Made
) -> Iterator[dict[str, str]]:
    """Inputs and upstream gradients that may be anything."""
    gradients = expectations.gradients
    for kind, tensors in (("input", made.inputs), ("upstream gradient of", made.upstream)):
        if kind != "input" and not gradients:
            continue
        for name, value in tensors.items():
            other = backend.perturb(value, derive_seed("lint", point.id, kind, 0, name))
            changed = _with(made, kind, name, other)
            found = backend.compute(expected.case, changed, gradients=gradients)
            if not _moved(expected, found.values):
                text = f"{kind} {name} may be anything: nothing moves beyond its tolerance"
                yield {"code": "input_does_not_matter", "text": text}


def _with(made: Made, kind: str, name: str, value: Any) -> Made:
    if kind == "input":
        return Made({**made.inputs, name: value}, made.upstream)
    return Made(made.inputs, {**made.upstream, name: value})


def _moved(expected: Expected, values: Mapping[str, Any]) -> bool:
    for name, value in values.items():
        spec, tolerance = expected.case.spec(name), expected.tolerances[name]
        found = compare(value, expected.values[name], tolerance, spec.worst_of)
        if decide(name, expected.case, found, tolerance, None).code:
            return True
    return False
