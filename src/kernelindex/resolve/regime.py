"""How numbers were timed in words: the one grammar that tells groups of one workload apart.

A controlled group is named by the protocol with its version, then by its load and weights;
cache and execution are said where they are not the usual ones. Any other group is named by
its source's harness. Nothing here is escaped or coloured.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.resolve.answer import CohortHead, ProtocolRef

CONTROLLED = "controlled"
RULES = ("load", "gradients", "cache", "execution")
USUAL = {"cache": "cold", "execution": "eager"}
REGION = "region"
VARIED = ", "
_VERSION = re.compile(r"v?\d+(\.\d+)*")


class Timing(NamedTuple):
    """What must be known of a group to say how it was timed."""

    profile: str
    protocol: ProtocolRef
    timed_pass: str

    @property
    def kind(self) -> str:
        """Groups of one kind differ in version and rules only."""
        return CONTROLLED if self.profile == CONTROLLED else self.protocol.name


def timing_of(cohort: CohortHead) -> Timing:
    """How a group was timed."""
    return Timing(cohort.profile, cohort.protocol, cohort.timed_pass)


def regime_words(profile: str, protocol: ProtocolRef) -> str:
    """``controlled protocol 1, burst, leaf weights``, or a harness such as ``flashinfer-bench``."""
    if profile != CONTROLLED:
        return _harness(protocol)
    rules = protocol.rules
    said = [
        _rule(name, rules[name])
        for name in RULES
        if name in rules and rules[name] != USUAL.get(name)
    ]
    return ", ".join([_protocol(protocol), *said])


def regime_parts(profile: str, protocol: ProtocolRef) -> tuple[str, ...]:
    """The same with cache and execution said always, a part each."""
    if profile != CONTROLLED:
        return (_harness(protocol),)
    order = ("cache", "load", "execution", "gradients")
    rules = protocol.rules
    said = (
        rules[name] if name == "cache" else _rule(name, rules[name])
        for name in order
        if name in rules
    )
    return (_protocol(protocol), *said)


def differing_words(timings: Sequence[Timing], *, with_protocol: bool = True) -> list[str]:
    """For each group what tells it from the others: ``controlled, burst``; empty if nothing."""
    several = len({one.kind for one in timings}) > 1
    found = []
    for one in timings:
        kin = [other for other in timings if other.kind == one.kind]
        protocol = _differing_protocol(one, kin, several=several) if with_protocol else ""
        peers = [other for other in kin if other.timed_pass == one.timed_pass]
        rules = one.protocol.rules
        said = [_rule(name, rules[name]) for name in _differing_rules(peers) if name in rules]
        found.append(", ".join(filter(None, [protocol, *said])))
    return found


def _differing_protocol(one: Timing, kin: Sequence[Timing], *, several: bool) -> str:
    """Kind and version as far as they tell a group from the others."""
    versions = {other.protocol.version or "" for other in kin}
    if one.kind != CONTROLLED:
        name, version = one.protocol.name, one.protocol.version or ""
        return f"{name} {version}".rstrip() if len(versions) > 1 else name if several else ""
    if len({version.partition(VARIED)[0] for version in versions}) > 1:
        return _protocol(one.protocol)
    if not several and len(versions) < 2:
        return ""
    variant = (one.protocol.version or "").partition(VARIED)[2]
    joint = " " if variant.startswith("as ") else VARIED
    return f"{CONTROLLED}{joint}{variant}" if variant else CONTROLLED


def _differing_rules(peers: Sequence[Timing]) -> list[str]:
    """Rules that are not the same in all; what was inside the timed region only where needed."""
    names = dict.fromkeys((*RULES, *(name for one in peers for name in one.protocol.rules)))
    found = [name for name in names if len({one.protocol.rules.get(name) for one in peers}) > 1]
    short = [name for name in found if name != REGION]
    return short if _count(peers, short) == _count(peers, found) else found


def _count(peers: Sequence[Timing], names: Iterable[str]) -> int:
    wanted = list(names)
    return len(
        {
            (one.protocol.version, *(one.protocol.rules.get(name) for name in wanted))
            for one in peers
        }
    )


def _protocol(protocol: ProtocolRef) -> str:
    return f"controlled protocol {protocol.version or ''}".rstrip()


def _harness(protocol: ProtocolRef) -> str:
    """The harness, with a version that reads as one: parsers name theirs otherwise."""
    version = protocol.version or ""
    return f"{protocol.name} {version}" if _VERSION.fullmatch(version) else protocol.name


def _rule(name: str, value: str) -> str:
    if name == "gradients":
        return f"{value.replace('_', '-')} weights"
    if name == "cache":
        return f"{value} cache"
    return value.replace("_", " ").replace(",", " and ")
