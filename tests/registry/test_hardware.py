"""GPU names resolve by exact table, and by nothing else."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import zstandard

from kernelindex.registry.hardware import (
    PRODUCTS,
    find_family,
    find_gpu,
    gpu_names,
    resolve_gpu,
)
from kernelindex.registry.resources import load_data
from tests.support.shared import shared_path

GIB = 2**30

KNOWN_UNKNOWN = {
    "": "no GPU is named",
    "cuda:0": "a device index, not a GPU name",
    "NVIDIA A100": "form factor not stated",
    "NVIDIA H100": "form factor not stated",
    "NVIDIA_H100": "form factor not stated",
    "Virtualized NVIDIA H200-SXM-141GB": "a virtual device on an H200 SXM: its share is not stated",
    "AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e (x16)": "several",
    "AMD Instinct MI325X 256GB HBM3E (x16), AMD Instinct MI300X 192GB HBM3 (x8)": "several",
    "AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e": "several",
    "AMD Instinct MI325X 256GB HBM3E (x16), AMD Instinct MI300X 192GB HBM3": "several",
    "AMD Instinct MI300X 192GB HBM3 (x8) and AMD Instinct MI325X 256GB HBM3e (x8) "
    "and AMD Instinct MI355X 288GB HBM3e": "several",
}
"""Names in the real data that name no one product, with the start of the reason."""


def product_id(text: str, **stated: object) -> str | None:
    product = resolve_gpu(text, **stated).product  # type: ignore[arg-type]
    return product.id if product else None


@pytest.mark.parametrize(
    ("name", "product", "label"),
    [
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb", "H100 SXM5 80GB"),
        ("NVIDIA H100 SXM5", "h100-sxm5", "H100 SXM5"),
        ("NVIDIA H100-SXM-80GB", "h100-sxm5-80gb", "H100 SXM5 80GB"),
        ("NVIDIA H100 PCIe", "h100-pcie-80gb", "H100 PCIe 80GB"),
        ("NVIDIA H100 NVL", "h100-nvl-94gb", "H100 NVL 94GB"),
        ("NVIDIA_H100", None, "H100, form factor unknown"),
        ("NVIDIA GB200", "gb200", "GB200"),
        ("NVIDIA H20", "h20", "H20"),
        ("NVIDIA GH200 480GB", "gh200-96gb", "GH200 96GB"),
        ("NVIDIA B200", "b200-sxm-180gb", "B200 SXM 180GB"),
        ("NVIDIA H20-3e", "h20-3e", "H20-3e"),
        ("NVIDIA H200", "h200-sxm-141gb", "H200 SXM 141GB"),
        ("NVIDIA H200 NVL", "h200-nvl-141gb", "H200 NVL 141GB"),
        ("NVIDIA GB300", "gb300", "GB300"),
        ("NVIDIA B300-SXM-270GB", "b300-sxm-270gb", "B300 SXM 270GB"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb", "A100 SXM4 40GB"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb", "A100 PCIe 80GB"),
        ("NVIDIA L40S", "l40s", "L40S"),
        ("nvidia geforce rtx 3090", "rtx-3090", "GeForce RTX 3090"),
        ("NVIDIA_H100_80GB_HBM3", "h100-sxm5-80gb", "H100 SXM5 80GB"),
    ],
)
def test_exact_names(name: str, product: str | None, label: str) -> None:
    match = resolve_gpu(name)
    assert (match.product.id if match.product else None) == product
    assert match.label == label


@pytest.mark.parametrize(
    "name",
    [
        "B200 and more",
        "NVIDIA H100 80GB HBM3 (x8)",
        "xB200",
        "GB200x",
        "H200X",
        "NVIDIA H2",
        "cuda:0",
        "A100 clone",
        "MI300",
        "RTX 309",
        "80GB HBM3",
    ],
)
def test_no_name_matches_by_a_part_of_it(name: str) -> None:
    match = resolve_gpu(name)
    assert (match.product, match.family) == (None, None)
    assert find_gpu(name) == ()


def test_shared_edge_case_e44() -> None:
    wanted = json.loads(shared_path("edge-cases/E44-gpu-names.json").read_text())
    for name, expected in wanted.items():
        label = resolve_gpu(name).label
        if "(memory unstated)" in expected:
            match = resolve_gpu(name)
            assert (match.form_factor, match.memory_bytes) == ("SXM5", None)
        elif "(not" in expected:
            assert label.split()[0] == expected.split()[0]
        else:
            assert label == expected


def test_family_and_slice_keep_what_they_say() -> None:
    family = resolve_gpu("NVIDIA H100")
    assert (family.family, family.architecture, family.form_factor) == ("H100", "sm_90", None)
    mig = resolve_gpu("NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    assert (mig.product, mig.family, mig.form_factor, mig.mig) == (None, "H100", "SXM5", "1g.10gb")
    assert resolve_gpu("NVIDIA A100-SXM4-80GB MIG 3g.40gb+me").mig == "3g.40gb+me"
    assert resolve_gpu("NVIDIA Z100 MIG 1g.10gb").family is None


def test_virtual_and_capped_devices() -> None:
    virtual = resolve_gpu("Virtualized NVIDIA H200-SXM-141GB")
    assert (virtual.product, virtual.family, virtual.virtual) == (None, "H200", True)
    capped = resolve_gpu("AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)")
    assert capped.product is PRODUCTS["mi355x"]
    assert capped.power_limit_watts == 1000


@pytest.mark.parametrize(
    ("name", "stated", "product"),
    [
        ("NVIDIA H100", {"form_factor": "80GB HBM3"}, "h100-sxm5-80gb"),
        ("NVIDIA H100", {"form_factor": "SXM5"}, "h100-sxm5"),
        ("NVIDIA H100", {"form_factor": "SXM5", "memory_bytes": 85_028_765_696}, "h100-sxm5-80gb"),
        ("NVIDIA H100", {"memory_bytes": 94 * GIB}, "h100-nvl-94gb"),
        ("NVIDIA H100", {"memory_bytes": 80 * GIB}, None),
        ("NVIDIA H100", {"form_factor": "runner:H100"}, None),
        ("NVIDIA H100 SXM5", {"form_factor": "PCIe"}, "h100-sxm5"),
        ("NVIDIA H100 PCIe", {"form_factor": "SXM5"}, "h100-pcie-80gb"),
        ("NVIDIA A100", {"form_factor": "SXM4", "memory_bytes": 42_297_786_368}, "a100-sxm4-40gb"),
        ("NVIDIA A100", {"form_factor": "runner:A100"}, None),
        ("NVIDIA B200", {"vendor": "nvidia"}, "b200-sxm-180gb"),
        ("NVIDIA B200", {"vendor": "amd"}, None),
    ],
)
def test_what_else_is_stated_completes_and_never_overrides(
    name: str, stated: dict[str, object], product: str | None
) -> None:
    assert product_id(name, **stated) == product


def test_driver_memory_of_an_h200_is_its_nominal_size() -> None:
    assert product_id("NVIDIA H200", memory_bytes=150_109_880_320) == "h200-sxm-141gb"
    assert product_id("H200", memory_bytes=150_109_880_320) is None  # two products have it


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("H100", ["h100-sxm5", "h100-sxm5-80gb", "h100-pcie-80gb", "h100-nvl-94gb"]),
        ("h100 sxm", ["h100-sxm5", "h100-sxm5-80gb"]),
        ("b200", ["b200-sxm-180gb"]),
        ("GB200", ["gb200"]),
        ("h20", ["h20"]),
        ("H200", ["h200-sxm-141gb", "h200-nvl-141gb"]),
        ("rtx-3090", ["rtx-3090"]),
        ("L4", ["l4"]),
        ("MI300X", ["mi300x"]),
        ("h1000", []),
        ("", []),
    ],
)
def test_questions_name_families_or_products(query: str, ids: list[str]) -> None:
    assert [product.id for product in find_gpu(query)] == ids


def test_family_of_a_name() -> None:
    assert find_family("NVIDIA H100 PCIe") == "H100"
    assert find_family("h100") == "H100"
    assert find_family("cuda:0") is None
    assert "h100" in gpu_names()


JOINED = re.compile(r"(?<=[A-Za-z]) (?=\d{4}E?\b|140T)|(?<=[AHB][123]00) (?=SXM|PCIe|NVL)")
"""The blank that is often left out: before a brand's number, before a form factor."""


def test_a_name_is_known_without_its_blank_too() -> None:
    names = [name for row in load_data("hardware.json")["products"] for name in row["names"]]
    joined = {JOINED.sub("", name): name for name in names if "-PCIe-" not in name}
    for one, name in joined.items():
        assert find_gpu(one) == find_gpu(name) != (), one
    assert {"RTX3090", "NVIDIA RTX4090", "RTX4000 Ada", "H100SXM5", "Arc140T"} <= joined.keys()
    assert product_id("RTX4000Ada") == product_id("NVIDIA RTX 4000Ada") == "rtx-4000-ada"


def real_names() -> set[str]:
    names: set[str] = set()
    packed = shared_path("data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst")
    with packed.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            names.update(re.findall(r'"(?:hardwareModel|acceleratorModel)":"([^"]*)"', line))
    mlperf = json.loads(shared_path("data/mlperf/summary_results_v5.1.json").read_text())
    names.update(row["Accelerator"] for row in mlperf)
    for name in ("all_benchmark_data.csv", "all_benchmark_data_cutile.csv"):
        with shared_path(f"data/liger/{name}").open(newline="") as file:
            names.update(row["gpu_name"] for row in csv.DictReader(file) if row["gpu_name"])
    for path in shared_path("data/vllm/fused_moe_configs").iterdir():
        names.update(re.findall(r"device_name=([^,]+?)(?:,|\.json)", path.name))
    nvbench = json.loads(shared_path("data/nvbench/test_ref.json").read_text())
    names.update(device["name"] for device in nvbench["devices"])
    for relative in ("flashinfer-trace/trace.jsonl", "sol-execbench/trace.jsonl"):
        text = shared_path(f"data/{relative}").read_text()
        names.update(re.findall(r'"hardware": ?"([^"]*)"', text))
    kernelbench = shared_path("data/kernelbench/H100_Modal__baseline_time_torch.json").read_text()
    names.update(re.findall(r'"(?:hardware|device)": ?"([^"]*)"', kernelbench))
    return names


def test_every_name_of_the_real_data_is_known_or_known_to_be_open() -> None:
    names = real_names()
    assert len(names) >= 45
    for name in sorted(names):
        match = resolve_gpu(name)
        if name in KNOWN_UNKNOWN:
            assert match.product is None
            assert match.reason.startswith(KNOWN_UNKNOWN[name])
        else:
            assert match.product is not None, name
