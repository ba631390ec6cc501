"""How far apart two shapes, two runs, or a question and a cohort are, and in what.

Nothing is ranked across cohorts; the same shape elsewhere is shown beside, with every
difference listed. The distance orders near misses and means nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernelindex.policy.cohorts import DEVICE_PARTS, protocol_components
from kernelindex.policy.facts import UNSTATED, DeviceClass, RunFacts, Shape

MISSING_AXIS = 4.0
DTYPE_STEP = 1.0
DISTRIBUTION_STEP = 0.5
PASS_STEP = 2.0
FAMILY_STEP = 1.0
ARCHITECTURE_STEP = 2.0
VENDOR_STEP = 4.0
OTHER_VENDOR_STEP = 6.0
DEVICE_PART_STEP = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that differs. ``code`` is stable, ``wanted`` and ``has`` are the two values.

    ``name`` says which axis, tensor or part of a device it is about.
    """

    code: str
    name: str
    wanted: str
    has: str
    distance: float = 0.0

    @property
    def text(self) -> str:
        """The difference in words."""
        return f"{self.name}: {self.has} instead of {self.wanted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a question asks for; an empty or absent part asks for nothing.

    ``dtypes`` are element dtypes in no order, as a question names them.
    """

    operation: str
    axes: Mapping[str, int]
    dtypes: tuple[str, ...] = ()
    distribution: str | None = None
    timed_pass: str | None = None
    product_ids: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """How far what is measured is from what was asked: 0 with no difference."""

    distance: float
    differences: tuple[Difference, ...]


def near_miss(wanted: Wanted, shape: Shape, timed_pass: str, device: DeviceClass) -> NearMiss:
    """The distance of one measured shape, pass and device from a question.

    An axis counts |log2| of its ratio, a missing axis as a factor of 16; a dtype 1, a
    pass 2; a device of the same family 1, architecture 2, vendor 4, another vendor 6.
    """
    differences = [
        *_operation_differences(wanted.operation, shape.operation),
        *axis_differences(wanted.axes, dict(shape.axes)),
        *_dtype_differences(wanted.dtypes, [dtype for _, dtype in shape.dtypes]),
        *_stated("distribution", wanted.distribution, shape.distribution, DISTRIBUTION_STEP),
        *_stated("pass", wanted.timed_pass, timed_pass, PASS_STEP),
        *_device_wanted(wanted, device),
    ]
    return NearMiss(
        distance=math.fsum(one.distance for one in differences), differences=tuple(differences)
    )


def axis_differences(wanted: Mapping[str, int], has: Mapping[str, int]) -> list[Difference]:
    """Axes whose values differ; axes that only the measured shape has ask for nothing."""
    found = []
    for name, value in wanted.items():
        other = has.get(name)
        if other is None:
            found.append(_difference("axis_missing", name, value, "not stated", MISSING_AXIS))
        elif other != value:
            step = abs(math.log2(other / value)) if min(other, value) > 0 else MISSING_AXIS
            found.append(_difference("axis", name, value, other, step))
    return found


def shape_differences(a: Shape, b: Shape) -> tuple[Difference, ...]:
    """Everything in which two shapes differ; empty means equal shape keys."""
    mine, other = dict(a.dtypes), dict(b.dtypes)
    return (
        *_operation_differences(a.operation, b.operation),
        *axis_differences(dict(a.axes), dict(b.axes)),
        *axis_differences_missing(a, b),
        *(
            _difference(
                "dtype", name, mine.get(name, "absent"), other.get(name, "absent"), DTYPE_STEP
            )
            for name in sorted(mine.keys() | other.keys())
            if mine.get(name) != other.get(name)
        ),
        *_parts("distribution", a.distribution, b.distribution, DISTRIBUTION_STEP),
    )


def axis_differences_missing(a: Shape, b: Shape) -> list[Difference]:
    """Axes that only the second shape has."""
    known = dict(a.axes)
    return [
        _difference("axis_missing", name, "not stated", value, MISSING_AXIS)
        for name, value in b.axes
        if name not in known
    ]


def device_differences(a: DeviceClass, b: DeviceClass) -> tuple[Difference, ...]:
    """Everything in which two device classes differ; empty means equal device keys."""
    first, second = a.product_id or a.product, b.product_id or b.product
    step = _device_step(a, b)
    return (
        *_parts("vendor", a.vendor, b.vendor, 0.0),
        *_parts("product", first, second, step),
        *(
            one
            for part in DEVICE_PARTS
            for one in _parts(part, getattr(a, part), getattr(b, part), DEVICE_PART_STEP)
        ),
    )


def cohort_differences(a: RunFacts, b: RunFacts) -> tuple[Difference, ...]:
    """Everything that keeps two runs in different cohorts; empty means equal cohort keys."""
    mine, other = (protocol_components(one.protocol, one.source) for one in (a, b))
    return (
        *shape_differences(a.shape, b.shape),
        *_parts("pass", str(a.timed_pass), str(b.timed_pass), PASS_STEP),
        *(
            one
            for part in sorted(mine.keys() | other.keys())
            for one in _parts(f"protocol_{part}", mine.get(part), other.get(part), 0.0)
        ),
        *_parts("correctness_policy", a.correctness_key, b.correctness_key, 0.0),
        *_parts("metric", _metric(a), _metric(b), 0.0),
        *device_differences(a.device, b.device),
    )


def _metric(facts: RunFacts) -> str:
    return facts.primary.key if facts.primary else "none"


def _parts(name: str, wanted: object, has: object, step: float) -> list[Difference]:
    if wanted == has:
        return []
    return [_difference(name, name.replace("_", " "), _text(wanted), _text(has), step)]


def _stated(name: str, wanted: str | None, has: str | None, step: float) -> list[Difference]:
    return [] if wanted is None else _parts(name, wanted, has, step)


def _text(value: object) -> str:
    if value is None:
        return UNSTATED
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={value[key]}" for key in sorted(value)) or UNSTATED
    return str(value)


def _difference(code: str, name: str, wanted: object, has: object, step: float) -> Difference:
    return Difference(code=code, name=name, wanted=str(wanted), has=str(has), distance=step)


def _operation_differences(wanted: str, has: str) -> list[Difference]:
    return _parts("operation", wanted, has, OTHER_VENDOR_STEP)


def _dtype_differences(wanted: Iterable[str], has: list[str]) -> list[Difference]:
    present = ", ".join(sorted(set(has))) or UNSTATED
    return [
        _difference("dtype", "dtype", dtype, present, DTYPE_STEP)
        for dtype in wanted
        if dtype not in has
    ]


def _device_wanted(wanted: Wanted, device: DeviceClass) -> list[Difference]:
    """The device part of a question: product first, then family, as far as it asks."""
    asked = wanted.product_ids or wanted.families
    product = device.product_id or device.product
    if not asked or product in wanted.product_ids:
        return []
    if not wanted.product_ids and device.family in wanted.families:
        return []
    if device.family in wanted.families:
        step = FAMILY_STEP
    elif device.architecture in wanted.architectures:
        step = ARCHITECTURE_STEP
    else:
        step = VENDOR_STEP if device.vendor in wanted.vendors else OTHER_VENDOR_STEP
    return [_difference("product", "device", " or ".join(asked), product, step)]


def _device_step(a: DeviceClass, b: DeviceClass) -> float:
    if a.family == b.family:
        return FAMILY_STEP
    if a.architecture == b.architecture:
        return ARCHITECTURE_STEP
    return VENDOR_STEP if a.vendor == b.vendor else OTHER_VENDOR_STEP
