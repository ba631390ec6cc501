"""Licence texts of sources as SPDX expressions.

Three answers: ``known`` (a valid SPDX expression), ``unknown`` (something is stated but it
is no licence we can name) and ``not_stated``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from kernelindex.registry.resources import load_data

State = Literal["known", "unknown", "not_stated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceMatch:
    """What a licence text means; ``expression`` is set exactly when ``state`` is known."""

    text: str
    expression: str | None
    state: State


def resolve_licence(text: str | None) -> LicenceMatch:
    """The SPDX expression of ``text``, by exact table, else by SPDX's own grammar."""
    shown = (text or "").strip()
    folded = shown.casefold()
    aliases, empty = _load()
    if folded in empty:
        return LicenceMatch(text=shown, expression=None, state="not_stated")
    expression = _canonical(aliases.get(folded, shown))
    if expression is None:
        return LicenceMatch(text=shown, expression=None, state="unknown")
    return LicenceMatch(text=shown, expression=expression, state="known")


def _canonical(text: str) -> str | None:
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return None


@cache
def _load() -> tuple[dict[str, str], frozenset[str]]:
    data = load_data("licences.json")
    aliases = {row["text"].casefold(): row["expression"] for row in data["aliases"]}
    return aliases, frozenset(text.casefold() for text in data["not_stated"])
