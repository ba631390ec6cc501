"""Controlled groups that differ in the harness's variant and in nothing else.

A variant is a way of measuring that took another's place: its groups are never ranked with
those before it, and where both measured the same thing the newer one is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kernelindex.policy.facts import Profile
from kernelindex.resolve.regime import RULES, VARIED

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kernelindex.catalog.rows import CohortRow

VARIANTS = ("", "gaps worked")
"""Oldest first; one that is not named here is newer than all of them."""

FIRST = {"load": "sustained", "gradients": "leaf", "cache": "cold", "execution": "eager"}
"""What is told first of groups that are equally like a source's own protocol."""

_AS = "as "


class Harness(NamedTuple):
    """A harness's version in parts: ``1, gaps worked``, or ``1, as do-bench-10``."""

    base: str
    followed: str
    variant: str


def read_harness(version: str | None) -> Harness:
    """The base version, the source's protocol that was followed, and the variant."""
    base, *ways = (version or "").split(VARIED)
    followed = [way.removeprefix(_AS) for way in ways if way.startswith(_AS)]
    variant = [way for way in ways if not way.startswith(_AS)]
    return Harness(base, VARIED.join(followed), VARIED.join(variant))


def harness_of(row: CohortRow) -> Harness:
    """The version of a group's harness in parts."""
    return read_harness(row.protocol.get("version"))


def age_of(row: CohortRow) -> int:
    """How many known variants are newer than a group's; -1 where it is newer than all."""
    variant = harness_of(row).variant
    known = VARIANTS.index(variant) if variant in VARIANTS else len(VARIANTS)
    return len(VARIANTS) - 1 - known


def setting_of(row: CohortRow) -> Hashable:
    """Equal for controlled groups that differ in nothing but the variant; else a group's own."""
    if row.profile != Profile.CONTROLLED:
        return row.key
    harness = harness_of(row)
    return (
        *(row.shape_key, row.timed_pass, row.correctness, row.metric, row.statistic, row.unit),
        *(row.protocol.get("name"), harness.base, harness.followed),
        _pairs(row.protocol.get("rules") or {}),
        _pairs(row.device),
    )


def newest_variants(rows: Iterable[CohortRow]) -> dict[Hashable, CohortRow]:
    """Of each setting the group of the newest variant."""
    found: dict[Hashable, CohortRow] = {}
    for row in rows:
        setting = setting_of(row)
        if setting not in found or age_of(row) < age_of(found[setting]):
            found[setting] = row
    return found


def meaning_of(row: CohortRow) -> tuple[Any, ...]:
    """Orders groups by how they were timed: the usual rules, our own protocol, newest variant."""
    rules = row.protocol.get("rules") or {}
    said = ((name, str(rules.get(name, ""))) for name in RULES)
    usual = ((bool(value) and value != FIRST[name], value) for name, value in said)
    return (*usual, harness_of(row).followed, age_of(row))


def _pairs(fields: object) -> tuple[tuple[str, str], ...]:
    pairs = fields.items() if isinstance(fields, dict) else ()
    return tuple(sorted((str(name), str(value)) for name, value in pairs))
