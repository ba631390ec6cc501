"""Runners whose keys this distribution approves; an operator may revoke or add others.

``key`` is ``ed25519:<64 hex digits>``. Owner and host are part of the approval: evidence
that names others is not this runner's.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache

from kernelindex.registry.resources import load_data

_KEY = re.compile(r"ed25519:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """One runner: its name, who owns it, the host it measures on, and its public key.

    ``between_batch_sd`` is the standard deviation of an anchored log ratio between its
    batches, from a study over ``between_batch_degrees`` + 1 of them; None where none was made.
    """

    name: str
    owner: str
    host: str
    key: str
    approved_on: str
    reason: str
    between_batch_sd: float | None = None
    between_batch_degrees: int = 9


@cache
def load_runners() -> tuple[Runner, ...]:
    """Every runner approved by this distribution, in the order of the file."""
    return tuple(Runner(**row) for row in load_data("runners.json")["runners"])


def key_digest(key: str) -> str | None:
    """``sha256:`` of a public key's 32 bytes, which names it; None for a text that is no key."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    return f"sha256:{hashlib.sha256(bytes.fromhex(match[1])).hexdigest()}"
