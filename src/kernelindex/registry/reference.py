"""The reference page of the hardware figures, written from ``data/hardware.json``.

``python -m kernelindex.registry.reference --write docs/reference`` writes it again;
``--check`` beside it writes nothing and says whether the page differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.registry.products import GIB, TERA, load_products

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernelindex.registry.products import Check, Product

PAGE = "hardware.md"
MIB = 2**20
GIGA = 1e9
UNCONFIRMED = "?"
VENDORS = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}

RATES: Mapping[str, tuple[str, ...]] = {
    "fp64": ("fp64",),
    "fp32": ("fp32",),
    "tf32": ("tf32",),
    "bf16": ("bf16",),
    "fp16": ("fp16",),
    "fp8": ("fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz"),
    "fp4": ("fp4_e2m1",),
    "int8": ("int8",),
}
"""Columns of rates, each with the dtypes that have it."""

HEAD = """# Hardware

Written from `src/kernelindex/registry/data/hardware.json` by
`python -m kernelindex.registry.reference --write docs/reference`.

Rates are nominal and dense, in TFLOP/s (int8: TOP/s): no sparsity, matrix units where they
take the dtype, fp16 and fp8 accumulating in fp32. A superchip or a board with several GPUs
is one row of one GPU unless its notes say otherwise. Memory is as sold. An empty cell is not
known, and no limit is computed from it.

`?` marks a figure that no page read prints. Every other figure is printed, to within 1 %, by
a page listed below; sparse rates were halved. Where a page says "transcribed" or "quoted", a
copy was read and not the address itself. The source is the vendor's page where there is one;
only pages listed as read were read.
"""


def hardware_markdown() -> str:
    """The page: a table for each vendor, then the sources of each product."""
    products = tuple(load_products().values())
    parts = [HEAD, _coverage(products)]
    for vendor, title in VENDORS.items():
        listed = tuple(product for product in products if product.vendor == vendor)
        parts += [f"## {title}\n", _table(listed), f"### Sources: {title}\n"]
        parts += [_sources(product) for product in listed]
    return "\n".join(parts)


def _coverage(products: Sequence[Product]) -> str:
    given = sum(len(product.figures) for product in products)
    unconfirmed = sum(len(product.unchecked) for product in products)
    direct = sum(len(_read_directly(product)) for product in products)
    return (
        f"{len(products)} products with {given} figures: {direct} on a page that was opened, "
        f"{given - unconfirmed - direct} only in a copy or quotation of one, "
        f"{unconfirmed} not confirmed.\n"
    )


def _read_directly(product: Product) -> set[str]:
    return {figure for one in product.checks if not one.via for figure in one.figures}


def _table(products: Sequence[Product]) -> str:
    names = ("product", "architecture", *RATES, "GB/s", "memory GB", "L2 MiB", "W")
    rule = "|---|---|" + "--:|" * (len(names) - 2)
    return "\n".join([_row(names), rule, *(_row(_cells(product)) for product in products)]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(product: Product) -> tuple[str, ...]:
    sizes: tuple[tuple[str, float | None, float], ...] = (
        ("bandwidth", product.bandwidth_bytes_s, GIGA),
        ("memory", product.memory_bytes, GIB),
        ("l2", product.l2_bytes, MIB),
        ("power", product.power_watts, 1),
    )
    rates = [_rate(product, dtypes) for dtypes in RATES.values()]
    rest = [_figure(value, unit, name in product.unchecked) for name, value, unit in sizes]
    return (product.name, f"`{product.architecture}`", *rates, *rest)


def _rate(product: Product, dtypes: Sequence[str]) -> str:
    held = [dtype for dtype in dtypes if dtype in product.peaks_flops]
    fastest = max((product.peaks_flops[dtype] for dtype in held), default=None)
    return _figure(fastest, TERA, not set(held).isdisjoint(product.unchecked))


def _figure(value: float | None, unit: float, unconfirmed: bool) -> str:
    if value is None:
        return ""
    return f"{round(value / unit, 4):,.10g}{UNCONFIRMED if unconfirmed else ''}"


def _sources(product: Product) -> str:
    lines = [f"**{product.name}** (`{product.id}`)\n", f"- source: {product.source}"]
    lines += [f"- read: {_told(check)}" for check in product.checks]
    if product.unchecked:
        lines.append(f"- confirmed by no page read: {', '.join(product.unchecked)}")
    if product.attainable:
        lines.append(f"- attainable: {', '.join(_attainable(product))}")
    lines += [f"- {product.notes}"] if product.notes else []
    return "\n".join(lines) + "\n"


def _told(check: Check) -> str:
    via = f" ({check.via})" if check.via else ""
    return f"{check.url}{via}: {', '.join(check.figures)}"


def _attainable(product: Product) -> Iterator[str]:
    for name, peak in product.attainable.items():
        unit = "TB/s" if name == "copy" else "TFLOP/s"
        yield f"{name} {peak.value / TERA:.10g} {unit}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page; 1 where a check finds it stale."""
    parser = argparse.ArgumentParser(prog="python -m kernelindex.registry.reference")
    parser.add_argument("--write", type=Path, metavar="FOLDER", required=True)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args(arguments)
    path, text = options.write / PAGE, hardware_markdown()
    if path.is_file() and path.read_text() == text:
        return 0
    sys.stdout.write(f"{'differs' if options.check else 'wrote'}: {path}\n")
    if not options.check:
        path.write_text(text)
    return int(options.check)


if __name__ == "__main__":
    sys.exit(main())
