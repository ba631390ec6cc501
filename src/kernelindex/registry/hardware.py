"""Which GPU a name means.

A name resolves through a table or not at all: GB200 is not B200, H20 is not H200, and
"NVIDIA H100" is an H100 of unknown form factor. Case, and space against ``-`` or ``_``,
do not matter; everything else does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelindex.registry.products import (
    Attainable,
    Check,
    Family,
    Name,
    Product,
    fold_name,
    load_products,
    load_tables,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "PRODUCTS",
    "Attainable",
    "Check",
    "GpuMatch",
    "Product",
    "find_family",
    "find_gpu",
    "fold_name",
    "gpu_names",
    "load_products",
    "resolve_gpu",
]

MEMORY_TOLERANCE = 0.04
"""Drivers report less than the nominal size: an 80 GB H100 has 79.6 GiB, an H200 140.4."""

_MIG = re.compile(r"(?P<parent>.+) mig (?P<profile>\d+g\.\d+gb(?:\+[a-z0-9.]+)?)", re.IGNORECASE)


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

    @property
    def label(self) -> str:
        """The name for people: the product's, else the family's with what is open."""
        if self.product is not None:
            return self.product.name
        if self.mig:
            return f"{self.family} MIG {self.mig}"
        if self.virtual:
            return f"{self.family}, virtual"
        return f"{self.family}, form factor unknown" if self.family else self.text


def resolve_gpu(
    text: str, *, vendor: str = "", form_factor: str = "", memory_bytes: int | None = None
) -> GpuMatch:
    """The GPU a source means by ``text``, with what else the source states of it.

    Exact names only. ``form_factor`` (as the source wrote it) and ``memory_bytes``
    complete a name that leaves them open; they never override what the name says.
    """
    mig = _MIG.fullmatch(text.strip().replace("_", " "))
    if mig:
        parent = resolve_gpu(mig["parent"], vendor=vendor, form_factor=form_factor)
        return _as_slice(parent, text, mig["profile"].lower())
    tables = load_tables()
    name = tables.names.get(fold_name(text))
    if name is None:
        return GpuMatch(text=text, reason=_why_not(text, tables.not_names))
    family = tables.families[name.family]
    if vendor and fold_name(vendor) != family.vendor:
        return GpuMatch(text=text, reason=f"a {family.vendor} name, but the vendor is {vendor}")
    match = _match_of(text, name, family)
    return match if match.virtual else _complete(match, family, form_factor, memory_bytes)


def find_gpu(query: str) -> tuple[Product, ...]:
    """The products a person means by ``query``: a family names all its products.

    "h100" gives every H100; "b200" gives B200 alone; an unknown name gives nothing.
    """
    tables = load_tables()
    name = tables.names.get(fold_name(query))
    if name is None or name.virtual:
        return ()
    relatives = [p for p in tables.products.values() if p.family == name.family]
    product = tables.products.get(name.product or "")
    if product is None or fold_name(query) == fold_name(name.family):
        return tuple(relatives)
    if product.memory_bytes is None:
        return tuple(p for p in relatives if p.form_factor == product.form_factor)
    return (product,)


def find_family(query: str) -> str | None:
    """The family of an exact name ("NVIDIA H100 PCIe" is of "H100"), or ``None``."""
    name = load_tables().names.get(fold_name(query))
    return name.family if name else None


def gpu_names() -> tuple[str, ...]:
    """Every folded name that resolves, sorted: what a suggestion may be drawn from."""
    return tuple(sorted(load_tables().names))


def _why_not(text: str, not_names: Mapping[str, str]) -> str:
    if not text.strip():
        return "no GPU is named"
    return not_names.get(fold_name(text), "not in the table of GPU names")


def _match_of(text: str, name: Name, family: Family) -> GpuMatch:
    product = load_products().get(name.product or "")
    return GpuMatch(
        text=text,
        reason=name.reason or ("exact name" if product else "form factor not stated"),
        product=product,
        family=family.id,
        vendor=family.vendor,
        architecture=family.architecture,
        form_factor=product.form_factor if product else None,
        memory_bytes=product.memory_bytes if product else None,
        virtual=name.virtual,
        power_limit_watts=name.power_limit_watts,
    )


def _as_slice(parent: GpuMatch, text: str, profile: str) -> GpuMatch:
    if parent.family is None:
        return replace(parent, text=text)
    reason = f"a MIG slice ({profile}) of {parent.family}: the whole device's peaks do not apply"
    return replace(parent, text=text, product=None, memory_bytes=None, mig=profile, reason=reason)


def _complete(
    match: GpuMatch, family: Family, form_factor: str, memory_bytes: int | None
) -> GpuMatch:
    """Fill form factor and memory that the name leaves open from what else is stated."""
    if match.product is not None and match.product.memory_bytes is not None:
        return match
    stated = load_products().get(family.form_factors.get(fold_name(form_factor), ""))
    if match.product is not None and stated and stated.form_factor != match.form_factor:
        return match
    product = stated or match.product
    if memory_bytes is not None:
        product = _of_size(family, product, memory_bytes) or product
    if product is None or product is match.product:
        return match
    return replace(
        match,
        product=product,
        form_factor=product.form_factor,
        memory_bytes=product.memory_bytes,
        reason="name completed by the stated form factor or memory",
    )


def _of_size(family: Family, like: Product | None, memory_bytes: int) -> Product | None:
    """The one product of the family (and form factor of ``like``) with this memory."""
    sized = [
        product
        for product in load_products().values()
        if product.family == family.id
        and (like is None or product.form_factor == like.form_factor)
        and product.memory_bytes is not None
        and abs(memory_bytes / product.memory_bytes - 1) <= MEMORY_TOLERANCE
    ]
    return sized[0] if len(sized) == 1 else None


PRODUCTS: Mapping[str, Product]
"""``load_products()``, read on first use."""


def __getattr__(name: str) -> object:
    if name == "PRODUCTS":
        return load_products()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
