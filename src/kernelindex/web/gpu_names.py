"""The filter by GPU: an address may hold any name that the API and ``ki`` take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernelindex.registry.hardware import find_family, find_gpu, fold_name
from kernelindex.resolve.lists import gpu_filter
from kernelindex.web.listing import Filter, Option, choice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.resolve.lists import HardwareReads
    from kernelindex.web.listing import Asked

GPU = "gpu"


def gpu_choice(catalog: HardwareReads, asked: Asked, options: Iterable[Option]) -> Filter:
    """A choice among GPUs; another name that means one, or a family, stands beside them.

    Raises RequestError as ``gpu_filter`` does.
    """
    offered = list(options)
    value = asked.value(GPU)
    if value and value not in [option.value for option in offered]:
        meant = gpu_filter(catalog, value)
        family = meant.get("family")
        name = family if family and _is_family(value) else value
        offered.append(Option(value, f"any {name}" if family else value))
    return choice(asked, GPU, "GPU", offered)


def gpus_meant(
    catalog: HardwareReads, asked: Asked, ids: Iterable[str]
) -> tuple[Asked, tuple[str, ...]]:
    """What was asked and which of these GPUs its name means; a name of one becomes its id.

    None are meant where no GPU is asked for, and where nothing was measured on the one that is.
    Several are no mistake of the reader: who asks for a family wants to see what there is of it.
    Raises RequestError ``request.hardware_unknown`` for what is no name of a GPU.
    """
    value, measured = asked.value(GPU), list(dict.fromkeys(ids))
    if not value or value in measured:
        return asked, (value,) if value else ()
    meant = _meant(catalog, value, measured)
    if len(meant) == 1:
        asked = replace(asked, values={**asked.values, GPU: meant[0]})
    return asked, meant


def _meant(catalog: HardwareReads, value: str, measured: Iterable[str]) -> tuple[str, ...]:
    """A family means products that no table knows, too; a narrower name only those it names."""
    products = {product.id for product in find_gpu(value)}
    found = {} if len(products) > 1 and not _is_family(value) else gpu_filter(catalog, value)
    families = {row.id: row.family for row in catalog.hardware()}
    return tuple(
        one
        for one in measured
        if one in products
        or one == found.get("hardware")
        or ("family" in found and families.get(one) == found["family"])
    )


def _is_family(value: str) -> bool:
    return fold_name(find_family(value) or "") == fold_name(value)
