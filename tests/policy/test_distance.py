from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.cohorts import device_key, shape_key
from kernelindex.policy.distance import (
    Wanted,
    axis_differences,
    device_differences,
    near_miss,
    shape_differences,
)
from kernelindex.policy.facts import DeviceClass
from tests.policy.factories import H100, SHAPE

WANTED = Wanted(
    operation="moe-mlp",
    axes={"experts": 64, "tokens": 8192},
    dtypes=("bf16",),
    timed_pass="backward",
    product_ids=("h100-sxm5-80gb",),
    families=("H100",),
    architectures=("sm_90",),
    vendors=("nvidia",),
)


def device(product: str, family: str, architecture: str, vendor: str = "nvidia") -> DeviceClass:
    return DeviceClass(
        vendor=vendor,
        product=product,
        family=family,
        architecture=architecture,
        product_id=product,
    )


def miss(**changes: object) -> tuple[float, list[str]]:
    found = near_miss(replace(WANTED, **changes), SHAPE, "backward", H100)
    return found.distance, [one.code for one in found.differences]


def test_what_was_asked_is_at_distance_zero() -> None:
    assert miss() == (0.0, [])


@pytest.mark.parametrize(
    ("change", "distance", "code"),
    [
        ({"axes": {"experts": 128, "tokens": 8192}}, 1.0, "axis"),
        ({"axes": {"experts": 64, "tokens": 1024}}, 3.0, "axis"),
        ({"axes": {"hidden": 2048}}, 4.0, "axis_missing"),
        ({"axes": {"experts": 0}}, 4.0, "axis"),
        ({"dtypes": ("fp16",)}, 1.0, "dtype"),
        ({"distribution": "routing:skewed"}, 0.5, "distribution"),
        ({"timed_pass": "forward"}, 2.0, "pass"),
        ({"operation": "gemm"}, 6.0, "operation"),
    ],
)
def test_each_difference_has_its_size(
    change: dict[str, object], distance: float, code: str
) -> None:
    assert miss(**change) == (pytest.approx(distance), [code])


def test_what_was_not_asked_does_not_differ() -> None:
    anything = Wanted(operation="moe-mlp", axes={})
    assert near_miss(anything, SHAPE, "forward", H100).distance == 0.0
    family = Wanted(operation="moe-mlp", axes={}, families=("H100",))
    assert near_miss(family, SHAPE, "forward", H100).distance == 0.0


def test_devices_are_nearer_the_more_they_share() -> None:
    devices = [
        H100,
        device("h100-nvl-94gb", "H100", "sm_90"),
        device("h200-sxm-141gb", "H200", "sm_90"),
        device("b200", "B200", "sm_100"),
        device("mi300x", "MI300X", "gfx942", "amd"),
    ]
    found = [near_miss(WANTED, SHAPE, "backward", one).distance for one in devices]
    assert found == [0.0, 1.0, 2.0, 4.0, 6.0]


def test_a_difference_is_said_in_words() -> None:
    (found,) = axis_differences({"tokens": 8192}, {"tokens": 4096})
    assert found.text == "tokens: 4096 instead of 8192"


def test_axes_that_only_the_other_has_are_differences_of_shapes() -> None:
    more = replace(SHAPE, axes=(*SHAPE.axes, ("k", 8)))
    assert [one.code for one in shape_differences(SHAPE, more)] == ["axis_missing"]
    assert [one.code for one in shape_differences(more, SHAPE)] == ["axis_missing"]


@pytest.mark.parametrize(
    "other",
    [
        SHAPE,
        replace(SHAPE, family="other", mapped=False),
        replace(SHAPE, dtypes=(*SHAPE.dtypes, ("y", "bf16"))),
        replace(SHAPE, distribution="routing:uniform"),
        replace(SHAPE, axes=()),
    ],
)
def test_shapes_differ_exactly_where_their_keys_do(other: object) -> None:
    same_key = shape_key(SHAPE) == shape_key(other)  # type: ignore[arg-type]
    assert (shape_differences(SHAPE, other) == ()) == same_key  # type: ignore[arg-type]


def test_devices_differ_exactly_where_their_keys_do() -> None:
    for other in (H100, replace(H100, family="X", label="y"), replace(H100, ecc="on")):
        assert (device_differences(H100, other) == ()) == (device_key(H100) == device_key(other))
