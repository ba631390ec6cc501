"""GPU products, their nominal dense peaks, and the exact names sources give them.

A name resolves through a table or not at all: GB200 is not B200, H20 is not H200, and
"NVIDIA H100" is an H100 of unknown form factor. Case, and space against ``-`` or ``_``,
do not matter; everything else does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RegistryError
from kernelindex.registry.resources import load_data

if TYPE_CHECKING:
    from collections.abc import Mapping

GIB = 2**30
MEMORY_TOLERANCE = 0.04
"""Drivers report less than the nominal size: an 80 GB H100 has 79.6 GiB, an H200 140.4."""

_MIG = re.compile(r"(?P<parent>.+) mig (?P<profile>\d+g\.\d+gb(?:\+[a-z0-9.]+)?)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attainable:
    """A peak measured on the product: FLOP/s of a dtype, or B/s for ``copy``."""

    value: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One GPU as sold.

    ``peaks_flops``  dtype id -> nominal dense operations per second (no sparsity; matrix
                     units where they take the dtype; fp16 accumulates in fp32)
    ``bandwidth_bytes_s``, ``l2_bytes``, ``power_watts``  nominal; ``None`` is not known
    ``memory_bytes`` nominal GB as 2^30; ``None`` where the name leaves it open
    ``attainable``   measured peaks: dtype id or ``copy`` -> value with its source
    ``tick_ns``      resolution of device event times seen in data, with ``tick_source``
    """

    id: str
    vendor: str
    name: str
    family: str
    architecture: str
    form_factor: str | None
    memory_bytes: int | None
    peaks_flops: Mapping[str, float]
    bandwidth_bytes_s: float | None
    l2_bytes: int | None
    power_watts: float | None
    source: str
    notes: str = ""
    attainable: Mapping[str, Attainable] = field(default_factory=dict)
    tick_ns: int | None = None
    tick_source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMatch:
    """What a GPU name means; every field that the name leaves open is ``None``.

    ``product`` is set only for a whole device of one product. A slice or a virtual device
    keeps its ``family`` (and ``mig`` profile) but no product, as its peaks are not known.
    ``reason`` says in words why the match is what it is.
    """

    text: str
    reason: str
    product: Product | None = None
    family: str | None = None
    vendor: str | None = None
    architecture: str | None = None
    form_factor: str | None = None
    memory_bytes: int | None = None
    mig: str | None = None
    virtual: bool = False
    power_limit_watts: float | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """What one alias names."""

    family: str
    product: str | None = None
    reason: str = ""
    virtual: bool = False
    power_limit_watts: float | None = None


@dataclass(frozen=True, slots=True)
class _Family:
    id: str
    vendor: str
    architecture: str
    form_factors: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Tables:
    products: dict[str, Product]
    families: dict[str, _Family]
    aliases: dict[str, _Entry]
    not_names: dict[str, str]


def resolve_gpu(
    text: str, *, vendor: str = "", form_factor: str = "", memory_bytes: int | None = None
) -> GpuMatch:
    """The GPU a source means by ``text``, with what else the source states of it.

    Exact aliases only. ``form_factor`` (as the source wrote it) and ``memory_bytes``
    complete a name that leaves them open; they never override what the name says.
    """
    name = fold_name(text)
    tables = _load()
    mig = _MIG.fullmatch(text.strip())
    if mig:
        parent = resolve_gpu(mig["parent"], vendor=vendor, form_factor=form_factor)
        return _as_slice(parent, text, mig["profile"].lower())
    entry = tables.aliases.get(name)
    if entry is None:
        reason = tables.not_names.get(name, "not in the table of GPU names")
        return GpuMatch(text=text, reason=reason)
    family = tables.families[entry.family]
    if vendor and fold_name(vendor) != family.vendor:
        return GpuMatch(text=text, reason=f"a {family.vendor} name, but the vendor is {vendor}")
    match = _match_of(text, entry, tables)
    if match.product is not None and match.product.memory_bytes is not None:
        return match
    return _complete(match, family, form_factor, memory_bytes)


def find_gpu(query: str) -> tuple[Product, ...]:
    """The products a person means by ``query``: a family names all its products.

    "h100" gives every H100; "b200" gives B200 alone; an unknown name gives nothing.
    """
    tables = _load()
    name = fold_name(query)
    entry = tables.aliases.get(name)
    if entry is None or entry.virtual:
        return ()
    product = tables.products.get(entry.product or "")
    whole = fold_name(entry.family)
    if product is None or name == whole:
        return tuple(p for p in tables.products.values() if p.family == entry.family)
    if product.memory_bytes is None:
        return tuple(
            p
            for p in tables.products.values()
            if p.family == product.family and p.form_factor == product.form_factor
        )
    return (product,)


def find_family(query: str) -> str | None:
    """The family of an exact name ("NVIDIA H100 PCIe" is of "H100"), or ``None``."""
    entry = _load().aliases.get(fold_name(query))
    return entry.family if entry else None


def gpu_names() -> tuple[str, ...]:
    """Every folded name that resolves, sorted: what a suggestion may be drawn from."""
    return tuple(sorted(_load().aliases))


def fold_name(text: str) -> str:
    """A name as it is looked up: lower case, runs of space, ``_`` and ``-`` as one space."""
    return _SEPARATORS.sub(" ", text).strip().casefold()


def _match_of(text: str, entry: _Entry, tables: _Tables) -> GpuMatch:
    family = tables.families[entry.family]
    product = tables.products.get(entry.product or "")
    return GpuMatch(
        text=text,
        reason=entry.reason or ("exact name" if product else "form factor not stated"),
        product=product,
        family=family.id,
        vendor=family.vendor,
        architecture=family.architecture,
        form_factor=product.form_factor if product else None,
        memory_bytes=product.memory_bytes if product else None,
        virtual=entry.virtual,
        power_limit_watts=entry.power_limit_watts,
    )


def _as_slice(parent: GpuMatch, text: str, profile: str) -> GpuMatch:
    if parent.family is None:
        return replace(parent, text=text)
    reason = f"a MIG slice ({profile}) of {parent.family}: the whole device's peaks do not apply"
    return replace(parent, text=text, product=None, memory_bytes=None, mig=profile, reason=reason)


def _complete(
    match: GpuMatch, family: _Family, form_factor: str, memory_bytes: int | None
) -> GpuMatch:
    """Fill form factor and memory that the name leaves open from what else is stated."""
    if match.virtual:
        return match
    stated = family.form_factors.get(fold_name(form_factor)) if form_factor else None
    wanted = match.form_factor or (stated and _load().products[stated].form_factor)
    candidates = [
        product
        for product in _load().products.values()
        if product.family == family.id
        and (wanted is None or product.form_factor == wanted)
        and (memory_bytes is None or _is_size(product, memory_bytes))
        and product.memory_bytes is not None
    ]
    if stated and _load().products[stated].memory_bytes is not None:
        candidates = [p for p in candidates if p.id == stated]
    if not (stated or memory_bytes) or len(candidates) != 1:
        return _with_form_factor(match, stated)
    product = candidates[0]
    return replace(
        match,
        product=product,
        form_factor=product.form_factor,
        memory_bytes=product.memory_bytes,
        reason="name completed by the stated form factor or memory",
    )


def _with_form_factor(match: GpuMatch, stated: str | None) -> GpuMatch:
    if stated is None or match.product is not None:
        return match
    product = _load().products[stated]
    return replace(
        match, product=product, form_factor=product.form_factor, reason="memory not stated"
    )


def _is_size(product: Product, memory_bytes: int) -> bool:
    nominal = product.memory_bytes
    return nominal is not None and abs(memory_bytes / nominal - 1) <= MEMORY_TOLERANCE


def load_products() -> dict[str, Product]:
    """Every product by id."""
    return _load().products


@cache
def _load() -> _Tables:
    data = load_data("hardware.json")
    products = {row["id"]: _read_product(row) for row in data["products"]}
    families = {row["id"]: _read_family(row) for row in data["families"]}
    aliases: dict[str, _Entry] = {}
    for row in data["products"]:
        entry = _Entry(row["family"], row["id"], row.get("reason", ""))
        for alias in row["names"]:
            _add(aliases, alias, entry)
    for row in data["families"]:
        for alias in row["aliases"]:
            _add(aliases, alias, _Entry(row["id"], row.get("product")))
    for row in data["variants"]:
        _add(aliases, row.pop("name"), _Entry(**row))
    not_names = {fold_name(row["text"]): row["reason"] for row in data["not_names"]}
    return _Tables(products, families, aliases, not_names)


def _read_product(row: Mapping[str, Any]) -> Product:
    known = {key: row[key] for key in row if key not in {"names", "memory_gib", "reason"}}
    known["peaks_flops"] = {key: value * 1e12 for key, value in row["peaks_flops"].items()}
    known["attainable"] = {k: Attainable(**v) for k, v in row.get("attainable", {}).items()}
    gib = row["memory_gib"]
    return Product(memory_bytes=None if gib is None else int(gib * GIB), **known)


def _read_family(row: Mapping[str, Any]) -> _Family:
    folded = {fold_name(text): product for text, product in row["form_factors"].items()}
    return _Family(row["id"], row["vendor"], row["architecture"], folded)


def _add(aliases: dict[str, _Entry], alias: str, entry: _Entry) -> None:
    folded = fold_name(alias)
    if aliases.setdefault(folded, entry) != entry:
        raise RegistryError(f"GPU name {alias!r} is listed for two products", alias=alias)


PRODUCTS: dict[str, Product]
"""``load_products()``, read on first use."""


def __getattr__(name: str) -> object:
    if name == "PRODUCTS":
        return load_products()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
