"""Runners whose keys this distribution approves; an operator may revoke or add others.

``key`` is ``ed25519:<64 hex digits>``. Owner and host are part of the approval: evidence
that names others is not this runner's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernelindex.registry.resources import load_data


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
