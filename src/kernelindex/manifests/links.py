"""Checks between a manifest and those it names: they warn, they never refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kernelindex.errors import ManifestError
from kernelindex.manifests.expressions import evaluate
from kernelindex.manifests.manifest import Manifest
from kernelindex.manifests.references import references

__all__ = ["LinkWarning", "Lookup", "link_warnings"]

Lookup: TypeAlias = Callable[[str], Manifest | None]


@dataclass(frozen=True, slots=True)
class LinkWarning:
    """One thing that does not fit; ``path`` is dotted from the root of the manifest."""

    code: str
    path: str
    text: str


def link_warnings(manifest: Manifest, lookup: Lookup) -> tuple[LinkWarning, ...]:
    """What does not fit between ``manifest`` and the manifests it names.

    ``lookup`` finds a manifest by digest. Codes: ``reference_missing``, ``reference_kind``,
    ``axis_unknown``, ``axis_missing``, ``axis_value``, ``tensor_unknown``,
    ``tensor_missing``, ``tensor_shape``, ``tensor_dtype``, ``operation_mismatch``,
    ``statistic_mismatch``.
    """
    found: dict[str, Manifest] = {}
    warnings = list(_reference_warnings(manifest, lookup, found))
    check = _CHECKS.get(manifest.kind)
    return tuple(warnings + (list(check(manifest, found)) if check else []))


def _reference_warnings(
    manifest: Manifest, lookup: Lookup, found: dict[str, Manifest]
) -> Iterator[LinkWarning]:
    for reference in references(manifest):
        target = lookup(reference.digest)
        if target is None:
            text = f"no {reference.kind} {reference.digest} is known here"
            yield LinkWarning("reference_missing", reference.path, text)
        elif target.kind not in reference.kinds:
            text = f"{reference.digest} is a {target.kind}, not a {' or '.join(reference.kinds)}"
            yield LinkWarning("reference_kind", reference.path, text)
        else:
            found[reference.path] = target


def _check_case(manifest: Manifest, found: Mapping[str, Manifest]) -> Iterator[LinkWarning]:
    operation = found.get("spec.operationSpecDigest")
    if operation is None:
        return
    spec, axes = manifest.document["spec"], operation.document["spec"]["axes"]
    yield from _axis_warnings(spec["axes"], axes, "spec.axes")
    yield from _tensor_warnings(spec, operation.document["spec"])


def _check_suite(manifest: Manifest, found: Mapping[str, Manifest]) -> Iterator[LinkWarning]:
    operation = found.get("spec.operationSpecDigest")
    for index, case in enumerate(manifest.document["spec"]["cases"] if operation else ()):
        axes = operation.document["spec"]["axes"] if operation else {}
        yield from _axis_warnings(case["axes"], axes, f"spec.cases[{index}].axes")


def _check_run(manifest: Manifest, found: Mapping[str, Manifest]) -> Iterator[LinkWarning]:
    workload = found.get("spec.workloadDigest")
    implementation = found.get("spec.implementationDigest")
    if workload and implementation:
        asked = workload.document["spec"]["operationSpecDigest"]
        done = implementation.document["spec"]["operation"]["specDigest"]
        if asked != done:
            text = f"the workload is of operation {asked}, the implementation of {done}"
            yield LinkWarning("operation_mismatch", "spec", text)
    protocol, timing = found.get("spec.protocolDigest"), manifest.document["spec"].get("timing")
    if protocol and timing:
        wanted = protocol.document["spec"]["measurement"]["primaryStatistic"]
        if timing["primaryStatistic"] != wanted:
            text = f"{timing['primaryStatistic']}, where the protocol's statistic is {wanted}"
            yield LinkWarning("statistic_mismatch", "spec.timing.primaryStatistic", text)


_CHECKS: Mapping[str, Callable[[Manifest, Mapping[str, Manifest]], Iterator[LinkWarning]]] = {
    "WorkloadCase": _check_case,
    "WorkloadSuite": _check_suite,
    "BenchmarkRun": _check_run,
}


def _axis_warnings(
    values: Mapping[str, int], axes: Mapping[str, Any], path: str
) -> Iterator[LinkWarning]:
    for name in sorted(values.keys() - axes.keys()):
        yield LinkWarning("axis_unknown", f"{path}.{name}", "the operation has no such axis")
    for name, axis in axes.items():
        if name in values:
            if problem := _axis_problem(values[name], axis, values):
                yield LinkWarning("axis_value", f"{path}.{name}", problem)
        elif axis["role"] == "variable":
            yield LinkWarning("axis_missing", path, f"axis {name} has no value")


def _axis_problem(value: int, axis: Mapping[str, Any], values: Mapping[str, int]) -> str | None:
    if axis["role"] == "constant" and value != axis["value"]:
        return f"{value}, where the operation fixes {axis['value']}"
    if axis["role"] == "derived" and value != (derived := _derived(axis["expression"], values)):
        return f"{value}, where {axis['expression']} is {derived}"
    if value < axis.get("minimum", value):
        return f"{value}, below the minimum {axis['minimum']}"
    if value > axis.get("maximum", value):
        return f"{value}, above the maximum {axis['maximum']}"
    return None


def _derived(expression: str, values: Mapping[str, int]) -> int | None:
    try:
        return evaluate(expression, values)
    except ManifestError:
        return None


def _tensor_warnings(
    case: Mapping[str, Any], operation: Mapping[str, Any]
) -> Iterator[LinkWarning]:
    wanted = {a["name"]: a["tensor"] for a in operation["inputs"] if "tensor" in a}
    known = {a["name"] for part in ("inputs", "outputs") for a in operation[part]}
    for name, tensor in case["tensors"].items():
        path = f"spec.tensors.{name}"
        if name not in known:
            yield LinkWarning("tensor_unknown", path, "the operation has no such argument")
        elif name in wanted:
            yield from _fit(tensor, wanted[name], _all_axes(case, operation), path)
    for name in wanted:
        if name not in case["tensors"]:
            yield LinkWarning("tensor_missing", "spec.tensors", f"input {name} is not described")


def _fit(
    tensor: Mapping[str, Any], wanted: Mapping[str, Any], axes: Mapping[str, int], path: str
) -> Iterator[LinkWarning]:
    shape = [axes.get(extent, extent) for extent in wanted["shape"]]
    same = len(shape) == len(tensor["shape"]) and all(
        isinstance(want, str) or want == have
        for want, have in zip(shape, tensor["shape"], strict=True)
    )
    if not same:
        text = f"{tensor['shape']}, where the operation says {wanted['shape']}"
        yield LinkWarning("tensor_shape", f"{path}.shape", text)
    if not _dtype_fits(tensor["dtype"], wanted["dtype"]):
        text = f"{tensor['dtype']}, where the operation says {wanted['dtype']}"
        yield LinkWarning("tensor_dtype", f"{path}.dtype", text)


def _all_axes(case: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, int]:
    """Values of the case, with constant and derived axes that it leaves out."""
    values = {n: a["value"] for n, a in operation["axes"].items() if a["role"] == "constant"}
    values |= case["axes"]
    for name, axis in operation["axes"].items():
        if name not in values and axis["role"] == "derived":
            derived = _derived(axis["expression"], values)
            values |= {} if derived is None else {name: derived}
    return values


_FAMILIES = {
    "float": ("fp", "bf", "tf", "mxfp", "nvfp"),
    "integer": ("int", "uint"),
    "int": ("int", "uint"),
}


def _dtype_fits(concrete: str, wanted: str) -> bool:
    return concrete == wanted or concrete.startswith(_FAMILIES.get(wanted, ("\n",)))
