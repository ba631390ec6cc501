"""GPUs: nominal peaks with their source, attainable ones, and what was measured on each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.registry.products import TERA
from kernelindex.resolve.columns import show_digits, show_sizes
from kernelindex.resolve.gpus import COPY, GpuDossier, GpuLine, Peak, list_gpus, show_gpu
from kernelindex.web import paths
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.listing import ListPage, Option, choice, list_fields, read_asked
from kernelindex.web.show import align

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog

SORTS = {"runs": "runs", "name": "name", "bandwidth": "bandwidth", "flops": "bf16 peak"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareListPage(ListPage):
    """Every GPU that is known."""

    template: ClassVar[str] = "hardware_list.html"

    gpus: tuple[GpuLine, ...] = field(metadata=told("GPUs in order, measured here or not"))
    flops: list[str] = field(metadata=told("bf16 peak of each in TFLOP/s, where known"))
    bandwidth: list[str] = field(metadata=told("bandwidth of each in TB/s, where known"))
    memory: list[str] = field(metadata=told("memory of each with its unit, where known"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRow:
    """One rate of a GPU as cells."""

    name: str = field(metadata=told("dtype, or memory copy"))
    nominal: Markup = field(metadata=told("nominal rate in the unit, padded to align"))
    attainable: Markup = field(metadata=told("measured rate; empty where none was"))
    unit: str = field(metadata=told("TFLOP/s, TOP/s or TB/s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwarePage(Page):
    """One GPU."""

    template: ClassVar[str] = "hardware.html"

    checked: tuple[tuple[str, str], ...] = field(
        metadata=told("addresses that print the same figures, each with which ones")
    )
    peaks: tuple[PeakRow, ...] = field(metadata=told("its rates, fastest first, copy last"))
    gpu: GpuDossier = field(metadata=told("its peaks with sources, and what was measured on it"))


def hardware_list(catalog: Catalog, request: Request) -> HardwareListPage:
    """GPUs by vendor and architecture."""
    asked = read_asked(request, filters=("vendor", "architecture", "measured"), sorts=SORTS)
    rows = list_gpus(catalog)
    filters = (
        choice(asked, "vendor", "Vendor", _options(row.vendor for row in rows)),
        choice(asked, "architecture", "Architecture", _options(row.architecture for row in rows)),
        choice(asked, "measured", "Measured here", [Option("yes", "yes"), Option("no", "no")]),
    )
    kept = sorted((row for row in rows if _meets(row, asked.values)), key=_KEYS[asked.sort])
    return HardwareListPage(
        title="Hardware",
        description="GPUs with their peaks and how much was measured on each.",
        section="Hardware",
        json_path="/api/v1/hardware",
        gpus=tuple(kept),
        flops=show_digits([_tera(row.bf16_flops) for row in kept]),
        bandwidth=show_digits([_tera(row.bandwidth_bytes_s) for row in kept]),
        memory=show_sizes([row.memory_bytes for row in kept]),
        **list_fields(asked, filters, None),
    )


def hardware(catalog: Catalog, request: Request) -> HardwarePage:
    """A GPU by its product id, or by the label of runs that no table knows."""
    gpu = show_gpu(catalog, request.path_params["ident"])
    return HardwarePage(
        title=gpu.label,
        description=f"{gpu.label}: nominal and attainable peaks with their sources,"
        f" and {gpu.run_count:,} runs.",
        path=paths.hardware(gpu.id),
        section="Hardware",
        json_path=f"/api/v1{paths.hardware(gpu.id)}" if gpu.run_count else "",
        gpu=gpu,
        checked=tuple(_place(one) for one in _APART.split(gpu.checked) if one),
        peaks=_peaks(gpu.peaks),
    )


_APART = re.compile(r"; (?![^(]*\))")
"""Between two places; not inside what is said of one in brackets."""


def _place(text: str) -> tuple[str, str]:
    """An address and what else is said; no address where there is none."""
    address, _, rest = text.partition(" ")
    return (address, rest) if address.startswith("https://") else ("", text)


def _peaks(peaks: Sequence[Peak]) -> tuple[PeakRow, ...]:
    units = [_unit(one.name) for one in peaks]
    nominal = align(_rates([one.nominal for one in peaks], units))
    attainable = align(_rates([one.attainable for one in peaks], units))
    return tuple(
        PeakRow(
            name="memory copy" if one.name == COPY else one.name,
            nominal=stated,
            attainable=measured,
            unit=unit,
        )
        for one, stated, measured, unit in zip(peaks, nominal, attainable, units, strict=True)
    )


def _rates(per_second: Sequence[float | None], units: Sequence[str]) -> list[str]:
    """Rates in trillions, those of one unit at the same decimals."""
    found = [""] * len(units)
    for unit in set(units):
        places = [place for place, one in enumerate(units) if one == unit]
        texts = show_digits([_tera(per_second[place]) for place in places])
        for place, text in zip(places, texts, strict=True):
            found[place] = text
    return found


def _tera(per_second: float | None) -> float | None:
    return per_second / TERA if per_second else None


def _unit(name: str) -> str:
    if name == COPY:
        return "TB/s"
    return "TOP/s" if name.startswith(("int", "uint")) else "TFLOP/s"


_KEYS = {
    "runs": lambda row: (-row.run_count, row.label.casefold()),
    "name": lambda row: (row.label.casefold(), row.id),
    "bandwidth": lambda row: (-(row.bandwidth_bytes_s or 0), row.label.casefold()),
    "flops": lambda row: (-(row.bf16_flops or 0), row.label.casefold()),
}


def _options(values: Iterable[str]) -> list[Option]:
    return [Option(value, value) for value in sorted({value for value in values if value})]


def _meets(row: GpuLine, wanted: Mapping[str, str]) -> bool:
    measured = "yes" if row.run_count else "no"
    facts = {"vendor": row.vendor, "architecture": row.architecture, "measured": measured}
    return all(facts[name] == value for name, value in wanted.items())


routes = [page_route("/hardware", hardware_list), page_route("/hardware/{ident}", hardware)]
