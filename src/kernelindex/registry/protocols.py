"""Which pass a known v1alpha1 protocol timed; such protocols have no field to say it.

An entry needs evidence in the source's own words. Without it the pass is unstated, never
assumed to be forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from kernelindex.registry.resources import load_data

Pass = Literal["forward", "backward", "full", "inference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolInfo:
    """What is known of one protocol; ``evidence`` is why ``timed_pass`` is set or not."""

    digest: str
    name: str
    source: str
    timed_pass: Pass | None
    evidence: str
    timer: str
    """How the harness takes its times, where its documentation says so, else empty."""


def pass_of(protocol_digest: str) -> str | None:
    """The pass that the protocol of this digest timed, or ``None`` where it is unstated."""
    info = load_protocols().get(protocol_digest)
    return info.timed_pass if info else None


@cache
def load_protocols() -> dict[str, ProtocolInfo]:
    """Every known protocol by digest."""
    rows = load_data("protocols.json")["protocols"]
    return {row["digest"]: ProtocolInfo(**row) for row in rows}


PROTOCOLS: dict[str, ProtocolInfo]
"""``load_protocols()``, read on first use."""


def __getattr__(name: str) -> object:
    if name == "PROTOCOLS":
        return load_protocols()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
