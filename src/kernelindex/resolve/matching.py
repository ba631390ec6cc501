"""Whether a cohort is what was asked, and every way in which it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.registry.dtypes import bits_of
from kernelindex.registry.hardware import fold_name
from kernelindex.registry.metrics import find_metric
from kernelindex.resolve.answer import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.catalog.rows import CohortRow
    from kernelindex.resolve.interpret import Device, Meaning

NOT_STATED = "not stated"
MEMORY = "memory"
_INTEGERS = ("int", "uint", "bool")


def is_asked_metric(row: CohortRow, meaning: Meaning) -> bool:
    """Whether the cohort ranks the asked metric; without one, anything but memory."""
    if meaning.request.metric:
        return row.metric == meaning.request.metric
    known = find_metric(row.metric)
    return known is None or known.kind != MEMORY


def differences(row: CohortRow, meaning: Meaning) -> tuple[Difference, ...]:
    """Every way in which the cohort is not what was asked; none means that it fits."""
    return tuple(_differences(row, meaning))


def _differences(row: CohortRow, meaning: Meaning) -> Iterator[Difference]:
    if meaning.operation.slugs and row.operation not in meaning.operation.slugs:
        asked = ", ".join(meaning.operation.slugs)
        yield _difference("operation", asked, row.operation, f"operation {row.operation}")
    if is_suite(row) and meaning.axes:
        asked = " ".join(f"{name}={value}" for name, value in meaning.axes.items())
        yield _difference("axes", asked, "suite", "a suite of cases, ranked as a whole")
    else:
        yield from _axis_differences(row.axes, meaning.axes)
    for wish in meaning.dtypes:
        yield from _dtype_difference(row, wish)
    if meaning.device is not None:
        yield from _device_difference(row, meaning.device)
    asked_pass = meaning.request.timed_pass
    if asked_pass and row.timed_pass != asked_pass:
        text = f"{row.timed_pass} pass" if row.timed_pass != "unstated" else "pass not stated"
        yield _difference("pass", asked_pass, row.timed_pass, text)
    if meaning.source and meaning.source not in (row.source, *row.sources):
        yield _difference("source", meaning.source, row.source, f"source {row.source}")


def is_suite(row: CohortRow) -> bool:
    """Whether the cohort ranks a whole suite of cases by one score."""
    return not row.axes and (row.distribution or "").startswith("suite:")


def _axis_differences(found: Mapping[str, int], asked: Mapping[str, int]) -> Iterator[Difference]:
    for axis, value in asked.items():
        measured = found.get(axis)
        if measured is None:
            yield _difference(axis, str(value), NOT_STATED, f"{axis} not stated")
        elif measured != value:
            text = f"{axis} {measured} instead of {value}"
            yield _difference(axis, str(value), str(measured), text)


def _dtype_difference(row: CohortRow, wish: tuple[str, ...]) -> Iterator[Difference]:
    """A wish is met by a tensor of that dtype when no floating tensor is narrower."""
    asked = " or ".join(wish)
    found = sorted(set(row.dtypes.values()))
    if not found:
        yield _difference("dtype", asked, NOT_STATED, "dtype not stated")
    elif not set(found) & set(wish):
        shown = ", ".join(_floats(found) or found)
        yield _difference("dtype", asked, shown, f"{shown} instead of {asked}")
    elif narrower := _narrower(found, wish):
        text = f"{', '.join(narrower)} beside {asked}"
        yield _difference("dtype", asked, ", ".join(_floats(found)), text)


def _floats(dtypes: list[str]) -> list[str]:
    return [name for name in dtypes if not name.startswith(_INTEGERS)]


def _narrower(found: list[str], wish: tuple[str, ...]) -> list[str]:
    least = min((bits_of(name) or 0 for name in wish), default=0)
    return [name for name in _floats(found) if 0 < (bits_of(name) or 0) < least]


def _device_difference(row: CohortRow, device: Device) -> Iterator[Difference]:
    label = str(row.device.get("label") or row.device.get("product"))
    if not is_device(row, device):
        same_family = device.family is not None and row.device.get("family") == device.family
        text = f"{label}, form factor not stated" if same_family else f"on {label}"
        yield _difference("hardware", device.asked, label, text)


def is_device(row: CohortRow, device: Device) -> bool:
    """Whether the cohort's device is what was asked; a family accepts all of its own."""
    if row.device.get("product_id") in device.product_ids:
        return True
    if device.whole_family:
        return bool(row.device.get("family") == device.family)
    return fold_name(str(row.device.get("label", ""))) == fold_name(device.asked)


def _difference(field: str, asked: str, found: str, text: str) -> Difference:
    return Difference(field=field, asked=asked, found=found, text=text)
