"""What an operator decides about the queue; each decision is in the audit log with its change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import update

from kernelindex.community import audit
from kernelindex.community.checks import require_decision
from kernelindex.community.contributions import Contribution, State, find_contribution, locate
from kernelindex.community.database import contributions, writing_alone
from kernelindex.community.instants import Clock, utc_now
from kernelindex.community.refusals import refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kernelindex.community.database import Database


class Verdict(StrEnum):
    """What may be decided about a contribution itself."""

    ACCEPT = "accept"
    REFUSE = "refuse"


BECOMES = {Verdict.ACCEPT: State.ACCEPTED, Verdict.REFUSE: State.REFUSED}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCorrection:
    """That the run a contribution is about is wrong: ``retract`` it, or ``supersede`` it."""

    action: str
    run_digest: str
    actor: str
    reason: str
    by_digest: str | None = None


Corrector = Callable[[RunCorrection], bool]
"""Applies a correction to the catalog; False where it was made before."""


def decide(
    database: Database,
    ident: str,
    verdict: Verdict,
    *,
    actor: str,
    reason: str,
    clock: Clock = utc_now,
) -> Contribution:
    """Accept a contribution, so that it shows, or refuse it; a later decision may undo it.

    Raises:
        CommunityError: ``decision.incomplete``, ``contribution.not_found``,
            ``contribution.decided`` where it is in that state already.
    """
    require_decision(actor, reason)
    with writing_alone(database) as conn:
        found = locate(conn, ident)
        state = BECOMES[verdict]
        if found.state == state:
            raise refusal(
                "contribution.decided", f"contribution {found.id[:15]} is {state.value} already"
            )
        _set_state(conn, found, state)
        told = {"from": found.state, "to": state.value, "run": found.run}
        audit.append(
            conn,
            clock(),
            actor=actor,
            action=verdict.value,
            subject=found.id,
            reason=reason,
            **told,
        )
        return locate(conn, found.id)


def correct_run(
    database: Database,
    ident: str,
    action: str,
    apply: Corrector,
    *,
    actor: str,
    reason: str,
    by_digest: str | None = None,
    clock: Clock = utc_now,
) -> Contribution:
    """Retract or supersede the run a contribution is about, and accept the contribution.

    The correction comes first, in the catalog's own transaction and with the same actor and
    reason; it may be repeated, so a failure between the two is mended by doing it again.

    Raises:
        CommunityError: ``decision.incomplete``, ``contribution.not_found``.
        KernelIndexError: what the catalog's corrections refuse.
    """
    require_decision(actor, reason)
    found = find_contribution(database, ident)
    changed = apply(
        RunCorrection(
            action=action, run_digest=found.run, actor=actor, reason=reason, by_digest=by_digest
        )
    )
    told = {"run": found.run, "by": by_digest, "changed": changed, "to": State.ACCEPTED.value}
    with writing_alone(database) as conn:
        before = locate(conn, found.id).state
        _set_state(conn, found, State.ACCEPTED)
        audit.append(
            conn,
            clock(),
            actor=actor,
            action=action,
            subject=found.id,
            reason=reason,
            **told,
            **{"from": before},
        )
        return locate(conn, found.id)


def _set_state(conn: Connection, found: Contribution, state: State) -> None:
    where = contributions.c.id == found.id
    conn.execute(update(contributions).where(where).values(state=state.value))
