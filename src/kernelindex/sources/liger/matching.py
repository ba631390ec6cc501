"""One record -> the table's entry for it, its axes, dtypes and pass; or why there is none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.errors import CanonicalError, ManifestError
from kernelindex.manifests import canonical
from kernelindex.manifests.expressions import evaluate
from kernelindex.registry.costs import complete_axes
from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.operations import load_operations
from kernelindex.sources.liger.numbers import whole_number
from kernelindex.sources.liger.table import load_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.registry.operations import Operation
    from kernelindex.sources.liger.table import Entry, Mode, Provider

__all__ = ["Matched", "Refused", "match_row"]

LARGEST_AXIS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """What a row measured. ``axes`` are our own, derived ones included in ``all_axes``."""

    entry: Entry
    operation: Operation
    mode: Mode
    provider: Provider
    axes: Mapping[str, int]
    all_axes: Mapping[str, int]
    dtypes: Mapping[str, str]
    scalars: Mapping[str, tuple[str, int | float]]
    bound: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a row became nothing: a stable reason code and what was seen."""

    reason: str
    detail: str = ""


def match_row(fields: Mapping[str, str]) -> Matched | Refused:
    """Find the entry that describes this row and read the row through it."""
    entries = load_table().get(fields["kernel_name"])
    if entries is None:
        return Refused("kernel_unknown", fields["kernel_name"][:100])
    if fields["x_name"] == "model_config":
        return Refused("model_config_row", fields["x_value"][:100])
    swept = whole_number(fields["x_value"])
    if swept is None:
        return Refused("bad_number", f"x_value {fields['x_value'][:60]!r}")
    config = _read_config(fields["extra_benchmark_config_str"])
    if config is None:
        return Refused("config_unknown", "extra_benchmark_config_str is no JSON object")
    return _match(entries, fields, swept, config)


def _match(
    entries: tuple[Entry, ...], fields: Mapping[str, str], swept: int, config: Mapping[str, Any]
) -> Matched | Refused:
    refusal = Refused("config_unknown", f"x_name {fields['x_name'][:60]}, keys {sorted(config)}")
    for entry in entries:
        if fields["x_name"] not in entry.x_names or not _describes(entry, fields, config):
            continue
        if entry.versions and fields["liger_version"] not in entry.versions:
            if entry.bound_dtype is not None:
                seen = f"none stated; script reviewed for {', '.join(entry.versions)}"
                refusal = Refused("dtype_unknown", seen)
            continue
        return _read(entry, fields, swept, config)
    return refusal


def _read_config(text: str) -> Mapping[str, Any] | None:
    try:
        value = canonical.loads(text)
    except CanonicalError:
        return None
    return value if isinstance(value, dict) else None


def _describes(entry: Entry, fields: Mapping[str, str], config: Mapping[str, Any]) -> bool:
    """Whether the config has exactly the keys, and the values, that the entry reviewed."""
    if config.keys() != entry.config.keys():
        return False
    return all(
        config[key] in rule if isinstance(rule, list) else _fits(rule, config[key], key, fields)
        for key, rule in entry.config.items()
    )


def _fits(rule: str, value: Any, key: str, fields: Mapping[str, str]) -> bool:
    if rule == "axis":
        swept_out = value is None and key == fields["x_name"]
        return swept_out or (isinstance(value, int) and not isinstance(value, bool) and value > 0)
    if rule == "flag":
        return isinstance(value, bool)
    if rule == "dtype":
        return isinstance(value, str)
    if rule == "scalar":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return rule.startswith("ignore")


def _read(
    entry: Entry, fields: Mapping[str, str], swept: int, config: Mapping[str, Any]
) -> Matched | Refused:
    provider = entry.providers.get(fields["kernel_provider"])
    if provider is None:
        why = entry.unknown_providers.get(fields["kernel_provider"])
        return Refused(why or "provider_unknown", fields["kernel_provider"][:100])
    mode = entry.modes.get(fields["kernel_operation_mode"])
    if mode is None:
        return Refused("mode_unknown", fields["kernel_operation_mode"][:100])
    dtype = _dtype(entry, config)
    if dtype is None:
        return Refused("dtype_unknown", str(config.get("dtype", "none stated"))[:100])
    operation = load_operations()[entry.operation]
    axes = _axes(entry, fields["x_name"], swept, config)
    every = complete_axes(operation, axes) if axes else None
    if not axes or not every or not all(0 <= value <= LARGEST_AXIS for value in every.values()):
        return Refused("config_unknown", f"no axes from {json.dumps(config)[:160]}")
    return Matched(
        entry=entry,
        operation=operation,
        mode=mode,
        provider=provider,
        axes=axes,
        all_axes=every,
        dtypes=_dtypes(entry, operation, dtype),
        scalars=_scalars(entry, config),
        bound=_bound(entry),
    )


def _dtype(entry: Entry, config: Mapping[str, Any]) -> str | None:
    if entry.bound_dtype is not None:
        return entry.bound_dtype
    stated = next((config[key] for key, rule in entry.config.items() if rule == "dtype"), None)
    return resolve_dtype(stated).dtype if isinstance(stated, str) else None


def _axes(
    entry: Entry, x_name: str, swept: int, config: Mapping[str, Any]
) -> dict[str, int] | None:
    """Our axes; the swept axis overrides a null or a default of the same name."""
    known = {key.lower(): int(value) for key, value in config.items() if isinstance(value, int)}
    known[x_name.lower()] = swept
    try:
        return {name: evaluate(text, known) for name, text in entry.axes.items()}
    except ManifestError:
        return None


def _dtypes(entry: Entry, operation: Operation, dtype: str) -> dict[str, str]:
    """Element dtype of every input that the entry has."""
    found: dict[str, str] = {}
    for tensor in operation.inputs:
        rule = entry.tensor_dtypes.get(tensor.name, tensor.dtype)
        if rule.startswith("like:"):
            rule = found.get(rule.removeprefix("like:"), dtype)
        found[tensor.name] = dtype if rule == "float" else rule
    return found


def _scalars(entry: Entry, config: Mapping[str, Any]) -> dict[str, tuple[str, int | float]]:
    return {key: ("fp64", config[key]) for key, rule in entry.config.items() if rule == "scalar"}


def _bound(entry: Entry) -> tuple[str, ...]:
    if entry.bound_dtype is None:
        return ()
    script = entry.script
    where = f"{script.path}:{script.lines} at {script.revision}"
    return (f"dtype: {entry.bound_dtype} ({where}; {script.note or 'stated there'})",)
