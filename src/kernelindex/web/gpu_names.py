"""The filter by GPU: an address may hold any name that the API and ``ki`` take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernelindex.resolve.lists import gpu_filter
from kernelindex.web.listing import Filter, Option, choice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.resolve.lists import HardwareReads
    from kernelindex.web.listing import Asked

GPU = "gpu"


def gpu_choice(catalog: HardwareReads, asked: Asked, options: Iterable[Option]) -> Filter:
    """A choice among GPUs; another name that means one, or a family, stands beside them.

    Raises RequestError ``request.hardware_unknown`` for what is no name of a GPU.
    """
    offered = list(options)
    value = asked.value(GPU)
    if value and value not in [option.value for option in offered]:
        meant = gpu_filter(catalog, value)
        family = meant.get("family")
        offered.append(Option(value, f"any {family}" if family else value))
    return choice(asked, GPU, "GPU", offered)


def with_one_gpu(catalog: HardwareReads, asked: Asked, ids: Iterable[str]) -> Asked:
    """What was asked with the id of the one GPU that its name means among these.

    A name that means none or several of them stays, for ``choice`` to refuse.
    """
    value, known = asked.value(GPU), list(dict.fromkeys(ids))
    if not value or value in known:
        return asked
    meant = gpu_filter(catalog, value)
    families = {row.id: row.family for row in catalog.hardware()}
    fit = [
        one
        for one in known
        if one == meant.get("hardware") or families.get(one) == meant.get("family", value)
    ]
    return replace(asked, values={**asked.values, GPU: fit[0]}) if len(fit) == 1 else asked
