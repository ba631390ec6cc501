"""The page of the hardware figures is what the data say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernelindex.registry.products import load_products
from kernelindex.registry.reference import PAGE, hardware_markdown, main
from tests.support.shared import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def row_of(name: str) -> list[str]:
    found = [line for line in hardware_markdown().splitlines() if line.startswith(f"| {name} |")]
    assert len(found) == 1
    return [cell.strip() for cell in found[0].strip("|").split("|")]


def test_the_page_is_current() -> None:
    written = (CHECKOUT / "docs" / "reference" / PAGE).read_text()
    assert written == hardware_markdown(), (
        "run `python -m kernelindex.registry.reference --write docs/reference`"
    )


def test_a_row_has_every_figure_in_its_unit() -> None:
    assert row_of("H100 SXM5 80GB") == [
        *("H100 SXM5 80GB", "`sm_90`", "67", "67", "494.7", "989.4", "989.4", "1,978.9", ""),
        *("1,978.9", "3,350", "80", "50", "700"),
    ]
    assert row_of("MI300X")[7] == "2,614.9"  # the fnuz encodings


def test_what_no_page_confirms_is_marked() -> None:
    assert row_of("GeForce RTX 3090")[4:6] == ["35.6?", "71"]
    assert row_of("H20-3e")[7] == "296?"
    page = hardware_markdown()
    marked = sum(len(re.findall(r"\d\? \|", line)) for line in page.splitlines())
    fp8 = sum("fp8_e5m2" in product.unchecked for product in load_products().values())
    unchecked = sum(len(product.unchecked) for product in load_products().values())
    assert marked == unchecked - fp8  # both encodings share a column


def test_every_product_names_its_source_and_the_pages_read() -> None:
    page = hardware_markdown()
    for product in load_products().values():
        assert f"(`{product.id}`)\n\n- source: {product.source}\n" in page
        assert all(f"- read: {check.url}" in page for check in product.checks)


def test_the_generator_writes_and_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--write", str(tmp_path)]
    assert main([*folder, "--check"]) == 1
    assert not (tmp_path / PAGE).exists()
    assert main(folder) == 0
    assert (tmp_path / PAGE).read_text() == hardware_markdown()
    assert main([*folder, "--check"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [f"differs: {tmp_path / PAGE}", f"wrote: {tmp_path / PAGE}"]
