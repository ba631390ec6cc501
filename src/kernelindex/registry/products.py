"""GPU products as sold, and the tables that name them; ``hardware`` asks the questions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RegistryError
from kernelindex.registry.resources import load_data

if TYPE_CHECKING:
    from collections.abc import Mapping

GIB = 2**30
TERA = 1e12

_AUTHORED = frozenset({"names", "reason", "memory_gib", "peaks_teraflops", "checked"})
"""Fields of a row that the loader turns into something else."""
_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attainable:
    """A peak measured on the product: FLOP/s of a dtype, or B/s for ``copy``."""

    value: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A page that was read and prints figures of a product, rounded to within 1 %.

    ``figures``  names as in ``Product.figures``; a sparse rate was halved
    ``via``      how it was read where not at ``url`` itself: transcribed or quoted elsewhere
    """

    url: str
    figures: tuple[str, ...]
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One GPU as sold.

    ``peaks_flops``  dtype id -> nominal dense operations per second (no sparsity; matrix
                     units where they take the dtype; fp16 accumulates in fp32). A dtype
                     that no source states is absent.
    ``bandwidth_bytes_s``, ``l2_bytes``, ``power_watts``  nominal; ``None`` is not known
    ``memory_bytes`` nominal GB as 2^30; ``None`` where the name leaves it open
    ``attainable``   measured peaks: dtype id or ``copy`` -> value with its source
    ``tick_ns``      resolution of device event times seen in data, with ``tick_source``
    ``source``       the vendor's page of the nominal figures where there is one, for a reader
                     to open; which pages were read is in ``checks``
    ``checks``       the pages that were read, each with the figures that it confirms
    ``unchecked``    figures that no page read prints; with ``checks`` it covers ``figures``
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
    checks: tuple[Check, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def figures(self) -> tuple[str, ...]:
        """What is given of it: dtype ids, then ``bandwidth``, ``memory``, ``l2``, ``power``."""
        sizes = {
            "bandwidth": self.bandwidth_bytes_s,
            "memory": self.memory_bytes,
            "l2": self.l2_bytes,
            "power": self.power_watts,
        }
        return (*self.peaks_flops, *(name for name, value in sizes.items() if value is not None))

    @property
    def checked(self) -> str:
        """For people: the pages read, what each confirms, and what no page confirms."""
        told = [
            f"{one.url} ({', '.join(one.figures)}{'; ' if one.via else ''}{one.via})"
            for one in self.checks
        ]
        if self.unchecked:
            told.append(f"confirmed by no page read: {', '.join(self.unchecked)}")
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class Family:
    """What "H100" names; ``form_factors`` maps a stated form factor to a product id."""

    id: str
    vendor: str
    architecture: str
    form_factors: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What one exact name means; without ``product`` it names the family alone."""

    family: str
    product: str | None = None
    reason: str = ""
    virtual: bool = False
    power_limit_watts: float | None = None


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything read from ``hardware.json``; names are folded."""

    products: Mapping[str, Product]
    families: Mapping[str, Family]
    names: Mapping[str, Name]
    not_names: Mapping[str, str]


def fold_name(text: str) -> str:
    """A name as it is looked up: lower case, runs of space, ``_`` and ``-`` as one space."""
    return _SEPARATORS.sub(" ", text).strip().casefold()


def load_products() -> Mapping[str, Product]:
    """Every product by id."""
    return load_tables().products


@cache
def load_tables() -> Tables:
    """The tables, read once.

    Raises RegistryError ``registry.inconsistent`` where one name has two meanings.
    """
    data = load_data("hardware.json")
    products = {row["id"]: _read_product(row) for row in data["products"]}
    families = {row["id"]: _read_family(row) for row in data["families"]}
    not_names = {fold_name(row["text"]): row["reason"] for row in data["not_names"]}
    return Tables(products, families, _read_names(data), not_names)


def _read_product(row: Mapping[str, Any]) -> Product:
    known = {key: row[key] for key in row if key not in _AUTHORED}
    known["peaks_flops"] = {key: value * TERA for key, value in row["peaks_teraflops"].items()}
    known["attainable"] = {k: Attainable(**v) for k, v in row.get("attainable", {}).items()}
    known["checks"] = tuple(_read_check(check) for check in row.get("checked", ()))
    known["unchecked"] = tuple(row.get("unchecked", ()))
    gib = row["memory_gib"]
    return Product(memory_bytes=None if gib is None else gib * GIB, **known)


def _read_check(row: Mapping[str, Any]) -> Check:
    return Check(url=row["url"], figures=tuple(row["figures"]), via=row.get("via", ""))


def _read_family(row: Mapping[str, Any]) -> Family:
    folded = {fold_name(text): product for text, product in row["form_factors"].items()}
    return Family(row["id"], row["vendor"], row["architecture"], folded)


def _read_names(data: Mapping[str, Any]) -> dict[str, Name]:
    names: dict[str, Name] = {}
    for row in data["products"]:
        meaning = Name(family=row["family"], product=row["id"], reason=row.get("reason", ""))
        for text in row["names"]:
            _add(names, text, meaning)
    for row in data["families"]:
        for text in row["aliases"]:
            _add(names, text, Name(family=row["id"]))
    for row in data["variants"]:
        known = {key: value for key, value in row.items() if key != "name"}
        _add(names, row["name"], Name(**known))
    return names


def _add(names: dict[str, Name], text: str, meaning: Name) -> None:
    if names.setdefault(fold_name(text), meaning) != meaning:
        raise RegistryError(
            f"registry/data/hardware.json gives GPU name {text!r} two meanings; keep one",
            file="hardware.json",
            name=text,
        )
