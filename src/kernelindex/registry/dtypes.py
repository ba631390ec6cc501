"""Element types and the exact spellings sources use for them.

Encodings that differ are different dtypes (``fp8_e4m3fn`` is not ``fp8_e4m3fnuz``). A
spelling that several encodings share is ambiguous, and a quantisation scheme or a packed
storage type is not an element dtype: both are answers, not errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from kernelindex.errors import RegistryError
from kernelindex.registry.resources import load_data

Family = Literal["float", "int", "uint", "bool", "complex"]

LAYOUTS = {"row": "row_major", "column": "col_major", "col": "col_major"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dtype:
    """One element encoding of ``bits`` bits."""

    id: str
    bits: int
    family: Family
    title: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A packed storage type or quantisation scheme over an element dtype.

    ``element`` is ``None`` where the scheme mixes or does not fix one; ``block`` is the
    number of elements that share a scale.
    """

    id: str
    title: str
    element: str | None
    block: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DtypeMatch:
    """What a spelling means: one dtype, several candidates, a scheme, or nothing known."""

    text: str
    dtype: str | None = None
    ambiguous: tuple[str, ...] = ()
    layout: str | None = None
    scheme: str | None = None

    @property
    def key(self) -> str | None:
        """The dtype or scheme id, for shapes whose tensors are stored in a scheme."""
        return self.dtype or self.scheme


@dataclass(frozen=True, slots=True)
class _Tables:
    dtypes: dict[str, Dtype]
    schemes: dict[str, Scheme]
    exact: dict[str, DtypeMatch]
    dialects: dict[str, dict[str, str]]


def resolve_dtype(text: str, *, dialect: str = "") -> DtypeMatch:
    """The dtype a source means by ``text``, by exact table (case and ``torch.`` aside).

    ``dialect`` is a source slug whose own documented meaning of a spelling is applied
    first. CUTLASS operands carry a layout (``f16:column``), returned beside the dtype.
    """
    word, colon, suffix = text.strip().partition(":")
    folded = word.casefold()
    tables = _load()
    own = tables.dialects.get(dialect, {}).get(folded)
    found = tables.exact.get(own or folded)
    if found is None or (colon and suffix.casefold() not in LAYOUTS):
        return DtypeMatch(text=text)
    layout = LAYOUTS[suffix.casefold()] if colon else None
    return DtypeMatch(
        text=text,
        dtype=found.dtype,
        ambiguous=found.ambiguous,
        layout=layout,
        scheme=found.scheme,
    )


def bits_of(key: str) -> int | None:
    """Bits per element of a dtype id, or of a scheme's element; ``None`` when unknown."""
    tables = _load()
    scheme = tables.schemes.get(key)
    element = scheme.element if scheme else key
    dtype = tables.dtypes.get(element or "")
    return dtype.bits if dtype else None


@cache
def _load() -> _Tables:
    data = load_data("dtypes.json")
    dtypes: dict[str, Dtype] = {}
    schemes: dict[str, Scheme] = {}
    exact: dict[str, DtypeMatch] = {}
    for row in data["dtypes"]:
        aliases = row.pop("aliases")
        dtypes[row["id"]] = Dtype(**row)
        for alias in (row["id"], *aliases):
            _add(exact, alias, DtypeMatch(text=alias, dtype=row["id"]))
    for row in data["schemes"]:
        aliases = row.pop("aliases")
        schemes[row["id"]] = Scheme(**row)
        for alias in (row["id"], *aliases):
            _add(exact, alias, DtypeMatch(text=alias, scheme=row["id"]))
    for row in data["ambiguous"]:
        for alias in row["aliases"]:
            _add(exact, alias, DtypeMatch(text=alias, ambiguous=tuple(row["candidates"])))
    return _Tables(dtypes, schemes, exact, {d: t["means"] for d, t in data["dialects"].items()})


def _add(exact: dict[str, DtypeMatch], alias: str, match: DtypeMatch) -> None:
    folded = alias.casefold()
    if folded in exact:
        raise RegistryError(f"dtype spelling {alias!r} is listed twice", alias=alias)
    exact[folded] = match


DTYPES: dict[str, Dtype]
"""Every element dtype by id, read on first use."""
SCHEMES: dict[str, Scheme]
"""Every scheme by id, read on first use."""


def __getattr__(name: str) -> object:
    if name == "DTYPES":
        return _load().dtypes
    if name == "SCHEMES":
        return _load().schemes
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
