"""What a list filters by where a GPU's name means one product, several, or a family."""

from __future__ import annotations

import pytest

from kernelindex.catalog.rows import HardwareRow
from kernelindex.errors import RequestError
from kernelindex.registry.hardware import load_products
from kernelindex.resolve.lists import gpu_filter

SXM_40, SXM_80, PCIE = "a100-sxm4-40gb", "a100-sxm4-80gb", "a100-pcie-40gb"


class Measured:
    """A catalog that has runs on these products."""

    def __init__(self, *ids: str) -> None:
        self.rows = [_row(one) for one in ids]

    def hardware(self) -> list[HardwareRow]:
        return self.rows


def _row(ident: str) -> HardwareRow:
    known = load_products()[ident]
    return HardwareRow(
        id=ident,
        label=known.name,
        family=known.family,
        vendor=known.vendor,
        architecture=known.architecture,
        product_id=ident,
        run_count=1,
    )


@pytest.mark.parametrize(
    ("measured", "asked", "wanted"),
    [
        ((SXM_80, PCIE), "A100-SXM4", {"hardware": SXM_80}),
        ((SXM_40, SXM_80), "A100-SXM4", {"family": "A100"}),
        ((PCIE,), "A100-SXM4", {"hardware": "a100-sxm4"}),
        ((SXM_40, SXM_80, PCIE), "a100", {"family": "A100"}),
        ((SXM_40, SXM_80, PCIE), "NVIDIA A100-SXM4-80GB", {"hardware": SXM_80}),
        ((SXM_40,), "RTX4090", {"hardware": "rtx-4090"}),
    ],
)
def test_a_known_name_filters(measured: tuple[str, ...], asked: str, wanted: object) -> None:
    assert gpu_filter(Measured(*measured), asked) == wanted


def test_a_part_of_a_family_names_those_that_may_be_chosen() -> None:
    with pytest.raises(RequestError) as caught:
        gpu_filter(Measured(PCIE, SXM_80, SXM_40), "A100-SXM4")
    assert caught.value.code == "request.several_gpus"
    assert caught.value.message.endswith(f"this may mean: {SXM_80}, {SXM_40}.")
    assert caught.value.details["gpus"] == [
        {"id": SXM_80, "label": "A100 SXM4 80GB"},
        {"id": SXM_40, "label": "A100 SXM4 40GB"},
    ]
