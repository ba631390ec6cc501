"""One candidate's file of results against what was expected; the file is of a hostile writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner.judge.comparing import compare, has_nonfinite
from kernelindex.runner.judge.deciding import Judged, decide
from kernelindex.runner.operations.dtypes import dtype_name
from kernelindex.runner.tensor_file import read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kernelindex.runner.judge.backend import Backend
    from kernelindex.runner.judge.expecting import Expected

__all__ = ["judge_file", "names_of", "unsound"]

SLACK_BYTES = 1 << 20
SHOWN = 3


def names_of(expected: Expected, timed_pass: str) -> list[str]:
    """What a pass is judged by: outputs, gradients, or both."""
    gradients = [name for name in expected.values if name.startswith("grad_")]
    outputs = [name for name in expected.values if not name.startswith("grad_")]
    if timed_pass == "backward":
        return gradients
    return outputs + gradients if timed_pass == "full" else outputs


def judge_file(backend: Backend, expected: Expected, path: Path, timed_pass: str) -> dict[str, Any]:
    """Status, reason code, text and each output's errors, as the channel's ``compare`` says."""
    names = names_of(expected, timed_pass)
    for code, text in unsound(expected, names):
        return _result("invalid_reference", code, text, {})
    refused = _refused_header(expected, path, names)
    if refused is not None:
        return refused
    try:
        arrays = backend.read(path, _limit(expected))
        again = _refused_form(expected, {name: _form(arrays[name]) for name in names})
    except (KernelIndexError, KeyError) as error:
        return _result("incorrect_shape", "output_type", f"its results cannot be read: {error}", {})
    if again is not None:
        return again
    return _decided(expected, names, arrays)


def _decided(expected: Expected, names: list[str], arrays: Mapping[str, Any]) -> dict[str, Any]:
    judged = {name: _judge(expected, name, arrays[name]) for name in names}
    outputs = {name: one.to_json() for name, one in judged.items()}
    failed = [one for one in judged.values() if one.code]
    meta = {"reference": expected.precision, "trusted": expected.trusted_id}
    if expected.trouble:
        meta["trouble"] = expected.trouble
    if not failed:
        return _result("passed", "", "", outputs) | meta
    first = min(failed, key=lambda one: one.code != "not_finite")
    text = "; ".join(one.text for one in failed[:SHOWN])
    return _result("incorrect_numerical", first.code, text, outputs) | meta


def _judge(expected: Expected, name: str, got: Any) -> Judged:
    tolerance, case = expected.tolerances[name], expected.case
    found = compare(got, expected.values[name], tolerance, case.spec(name).worst_of)
    trusted = expected.trusted.get(name)
    return decide(name, case, found, tolerance, trusted.frobenius if trusted else None)


def unsound(expected: Expected, names: list[str]) -> Iterator[tuple[str, str]]:
    """Code and text of what is wrong with the reference itself: nothing can be judged by it."""
    for name in names:
        tolerance = expected.tolerances[name]
        if tolerance.nan == "reject" and has_nonfinite(expected.values[name]):
            yield "reference_not_finite", f"the reference's {name} holds a NaN or an infinity"
        if name in expected.trusted:
            judged = decide(name, expected.case, expected.trusted[name], tolerance, None)
            if judged.code:
                text = f"the trusted {expected.trusted_id} is beyond a bound: {judged.text}"
                yield "trusted_beyond_tolerance", text


def _refused_header(expected: Expected, path: Path, names: list[str]) -> dict[str, Any] | None:
    try:
        tensors = read_header(path).tensors
    except KernelIndexError as error:
        return _result("incorrect_shape", "output_type", f"its results cannot be read: {error}", {})
    for name in names:
        if name not in tensors:
            code = "gradient_missing" if name.startswith("grad_") else "output_count"
            return _result("incorrect_shape", code, f"{name} is not among its results", {})
    forms = {name: (tensors[name].shape, tensors[name].dtype) for name in names}
    return _refused_form(expected, forms)


def _refused_form(
    expected: Expected, forms: Mapping[str, tuple[tuple[int, ...], str]]
) -> dict[str, Any] | None:
    """Refuse a shape or dtype that is not the case's."""
    for name, (shape, dtype) in forms.items():
        wanted = expected.case.shape(name)
        if shape != wanted:
            text = f"{name} has shape {list(shape)}; wanted {list(wanted)}"
            return _result("incorrect_shape", "output_shape", text, {})
        if dtype != expected.case.dtype(name):
            text = f"{name} is {dtype}; wanted {expected.case.dtype(name)}"
            return _result("incorrect_dtype", "output_dtype", text, {})
    return None


def _form(array: Any) -> tuple[tuple[int, ...], str]:
    return tuple(array.shape), dtype_name(array.dtype)


def _limit(expected: Expected) -> int:
    return SLACK_BYTES + sum(expected.case.nbytes(name) for name in _all_names(expected))


def _all_names(expected: Expected) -> list[str]:
    operation = expected.case.operation
    return [*(spec.name for spec in operation.outputs), *operation.gradients]


def _result(status: str, reason: str, text: str, outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": status, "reason": reason, "text": text, "outputs": dict(outputs)}
