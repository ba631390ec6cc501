"""One check of all curated data that the registry's general modules hold."""

from __future__ import annotations

import re

from kernelindex.registry.dtypes import DTYPES, SCHEMES, resolve_dtype
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.metrics import METRICS
from kernelindex.registry.products import load_tables
from kernelindex.registry.protocols import PROTOCOLS
from kernelindex.registry.resources import load_data
from kernelindex.registry.sources_info import SOURCES

SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
TOKEN = re.compile(r"[a-z][a-z0-9_]*")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
SCORED = {"latency", "peak_memory", "score"}


def test_products_are_complete_and_plausible() -> None:
    for key, product in PRODUCTS.items():
        assert key == product.id
        assert SLUG.fullmatch(key)
        assert product.vendor in {"nvidia", "amd", "intel"}
        assert TOKEN.fullmatch(product.architecture)
        assert product.source.startswith("https://"), key
        assert set(product.peaks_flops) <= set(DTYPES), key
        assert all(1e11 < peak < 2e16 for peak in product.peaks_flops.values()), key
        assert product.bandwidth_bytes_s is None or 1e11 < product.bandwidth_bytes_s < 1e13
        assert product.l2_bytes is None or 2**20 <= product.l2_bytes <= 2**28
        assert product.power_watts is None or 40 <= product.power_watts <= 1500
        assert (product.tick_ns is None) == (product.tick_source == "")
        if not product.peaks_flops:
            assert product.notes, f"{key} has no peak and says not why"


def test_every_figure_is_checked_or_listed_as_unchecked() -> None:
    for key, product in PRODUCTS.items():
        confirmed = {figure for check in product.checks for figure in check.figures}
        assert confirmed | set(product.unchecked) == set(product.figures), key
        assert confirmed.isdisjoint(product.unchecked), key
        for check in product.checks:
            assert re.match(r"https?://[a-z0-9.-]+/?", check.url), key
            assert check.figures, f"{key}: {check.url} confirms nothing"
            assert len(set(check.figures)) == len(check.figures), key
        if set(product.unchecked) & set(product.peaks_flops):
            assert product.notes, f"{key} has a rate that no page confirms and says not why"


def test_what_is_checked_is_said_in_words() -> None:
    card = PRODUCTS["rtx-3090"]
    assert card.unchecked == ("tf32",)
    assert card.checked.endswith("; confirmed by no page read: tf32")
    assert PRODUCTS["arc-140t"].checked == ""
    assert "; transcribed in a public repository" in PRODUCTS["h200-nvl-141gb"].checked
    gh200 = PRODUCTS["gh200-96gb"]
    assert gh200.checks[0].via == ""
    assert gh200.checked == (
        f"{gh200.checks[0].url} (fp64, fp32, tf32, bf16, fp16, fp8_e4m3fn, fp8_e5m2, int8, "
        "bandwidth, memory, power)"
    )


def test_peaks_are_dense_and_consistent() -> None:
    for key, product in PRODUCTS.items():
        peaks = product.peaks_flops
        if "bf16" in peaks:
            assert peaks["bf16"] == peaks["fp16"], key
        for encoding in ("fp8_e4m3fn", "fp8_e4m3fnuz"):
            if encoding in peaks:
                assert 1.9 < peaks[encoding] / peaks["bf16"] < 2.1, key
        for name, measured in product.attainable.items():
            nominal = product.bandwidth_bytes_s if name == "copy" else peaks[name]
            assert nominal is not None
            assert 0.4 * nominal < measured.value <= nominal, (key, name)
            assert measured.source.startswith("KernelIndex measurement 2026-")


def test_no_fp8_encoding_is_claimed_for_the_other_generation() -> None:
    assert "fp8_e4m3fn" not in PRODUCTS["mi300x"].peaks_flops
    assert "fp8_e4m3fnuz" not in PRODUCTS["mi355x"].peaks_flops
    assert not any(name.startswith("fp8") for name in PRODUCTS["a100-sxm4-80gb"].peaks_flops)


def test_known_figures() -> None:
    h100, h200 = PRODUCTS["h100-sxm5-80gb"], PRODUCTS["h200-sxm-141gb"]
    assert h100.peaks_flops["bf16"] == 989.4e12
    assert h100.bandwidth_bytes_s == 3.35e12
    assert h200.attainable["bf16"].value == 790e12
    assert h200.attainable["copy"].value == 4.25e12
    assert h200.memory_bytes == 141 * 2**30
    b300 = PRODUCTS["b300-sxm-270gb"].peaks_flops
    assert (b300["int8"], b300["fp4_e2m1"]) == (153.5e12, 13.5e15)
    assert PRODUCTS["gb200"].peaks_flops["bf16"] == 2.5e15  # one GPU, not the superchip
    assert PRODUCTS["rtx-5090"].peaks_flops["fp16"] == 209.5e12  # fp32 accumulation
    assert PRODUCTS["rtx-3090"].tick_ns == 1024
    assert {PRODUCTS[key].tick_ns for key in ("a100-sxm4-80gb", "b200-sxm-180gb")} == {32}


def test_hardware_rows_refer_to_each_other() -> None:
    tables = load_tables()
    assert {product.family for product in PRODUCTS.values()} == set(tables.families)
    for family in tables.families.values():
        for product in family.form_factors.values():
            assert PRODUCTS[product].family == family.id
    for name, meaning in tables.names.items():
        assert meaning.family in tables.families, name
        assert meaning.product is None or meaning.product in PRODUCTS
    assert not set(tables.names) & set(tables.not_names)


def test_dtypes_and_schemes() -> None:
    for key, dtype in DTYPES.items():
        assert resolve_dtype(key).dtype == key
        assert 4 <= dtype.bits <= 128
        assert dtype.source
    for key, scheme in SCHEMES.items():
        assert resolve_dtype(key).scheme == key
        assert scheme.element is None or scheme.element in DTYPES
    assert not set(DTYPES) & set(SCHEMES)
    for row in load_data("dtypes.json")["ambiguous"]:
        assert set(row["candidates"]) <= set(DTYPES)
        assert row["reason"]


def test_metrics() -> None:
    for key, metric in METRICS.items():
        assert TOKEN.fullmatch(key)
        assert metric.id == key
        assert (metric.direction == "higher") == (metric.kind == "rate")
        assert metric.source
    assert set(METRICS) >= SCORED


def test_protocols_name_their_evidence() -> None:
    for digest, protocol in PROTOCOLS.items():
        assert DIGEST.fullmatch(digest)
        assert protocol.evidence
        assert protocol.source in SOURCES


def test_sources() -> None:
    for slug, source in SOURCES.items():
        assert SLUG.fullmatch(slug)
        assert source.homepage.startswith("https://")
        assert resolve_licence(source.licence).state == "known"
        assert source.attribution
        for doubt in source.doubts:
            assert re.fullmatch(r"[A-Z][A-Z_]+", doubt.code)
            assert (doubt.effect == "shifts") == (doubt.shift is not None)
            assert doubt.text
            assert doubt.source
            if doubt.shift:
                assert set(doubt.shift.axes) == set(doubt.shift.measured_at)
                assert set(doubt.shift.measured_ns) <= set(PRODUCTS)


def test_licence_aliases_are_spdx() -> None:
    for row in load_data("licences.json")["aliases"]:
        assert resolve_licence(row["expression"]).expression == row["expression"]
