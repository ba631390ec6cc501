"""Attestations and reports: taken as pending, shown once accepted, never part of a rank.

A contribution is named by the digest of what it says, by whom and about which run, so
sending it twice is sending it once. Its state alone ever changes, and only by a decision.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from kernelindex.community.content import content_text, parse_attestation, parse_report
from kernelindex.community.database import contributions, writing_alone
from kernelindex.community.instants import Clock, to_text, utc_now
from kernelindex.community.keys import Scope, authenticate
from kernelindex.community.paging import Page, page_of
from kernelindex.community.quotas import ANONYMOUS, DEFAULT_QUOTAS, Quotas, require_quota
from kernelindex.community.refusals import refusal
from kernelindex.ids import parse_prefix

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from kernelindex.community.database import Database

KINDS = ("reproduction", "note", "report")
NO_EFFECT = (
    "What people write stands beside a run once an operator has read it; it never changes the"
    " run's evidence level, value or rank."
)
"""The sentence that every view of contributions shows."""
ANYBODY = "anonymous"
_IPV6_NETWORK = 64


class State(StrEnum):
    """Where a contribution is; only accepted ones are shown."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What somebody said of a run. ``by`` is public; ``author`` (key or address hash) is not."""

    id: str
    kind: str
    run: str
    author: str
    by: str
    created_at: str
    state: str
    content: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The contribution as readers get it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "run": self.run,
            "by": self.by,
            "created_at": self.created_at,
            "state": self.state,
            **self.content,
        }


def submit_attestation(
    database: Database,
    run: str,
    document: object,
    token: str | None,
    *,
    quotas: Quotas = DEFAULT_QUOTAS,
    clock: Clock = utc_now,
) -> Contribution:
    """Put a reproduction or note on the run of digest ``run`` in the queue, by a key.

    Raises:
        CommunityError: what ``authenticate``, ``parse_attestation`` and the quotas refuse.
    """
    key = authenticate(database, token, Scope.ATTEST, clock=clock)
    kind, content = parse_attestation(document)
    made = _build(kind, run, key.id, key.owner, content.stored(), clock())
    return _store(database, made, clock(), quotas)


def submit_report(
    database: Database,
    run: str,
    document: object,
    *,
    reporter: str,
    quotas: Quotas = DEFAULT_QUOTAS,
    clock: Clock = utc_now,
) -> Contribution:
    """Put a report on a run in the queue; ``reporter`` is what ``anonymous_author`` gives.

    Raises:
        CommunityError: what ``parse_report`` and the quotas refuse.
    """
    content = parse_report(document)
    made = _build("report", run, reporter, ANYBODY, content.stored(), clock())
    return _store(database, made, clock(), quotas)


def submit_signed_report(
    database: Database,
    run: str,
    document: object,
    token: str,
    *,
    quotas: Quotas = DEFAULT_QUOTAS,
    clock: Clock = utc_now,
) -> Contribution:
    """Put a report in the queue in the name of a key.

    Raises:
        CommunityError: what ``authenticate``, ``parse_report`` and the quotas refuse.
    """
    key = authenticate(database, token, Scope.REPORT, clock=clock)
    content = parse_report(document)
    made = _build("report", run, key.id, key.owner, content.stored(), clock())
    return _store(database, made, clock(), quotas)


def anonymous_author(secret: bytes, address: str, now: datetime) -> str:
    """Who an anonymous reporter is for a day: a keyed hash that tells nobody the address.

    An IPv6 address counts with its network of 64 bits.
    """
    named = f"{now.date()}|{_network(address)}".encode()
    return ANONYMOUS + hmac.new(secret, named, hashlib.sha256).hexdigest()[:16]


def list_contributions(
    database: Database,
    *,
    state: str | None = None,
    kinds: Collection[str] = (),
    run: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Contribution]:
    """Contributions newest first, by state, kinds and digest of the run where given."""
    table = contributions
    query = select(table)
    for column, wanted in ((table.c.state, state), (table.c.subject_digest, run)):
        if wanted is not None:
            query = query.where(column == wanted)
    if kinds:
        query = query.where(table.c.kind.in_(kinds))
    with database.reading() as conn:
        return page_of(
            conn,
            query,
            table.c.created_at,
            table.c.id,
            read_row,
            filters=(state and str(state), sorted(kinds), run),
            cursor=cursor,
            limit=limit,
        )


def accepted_on(
    database: Database, run: str, *, cursor: str | None = None, limit: int = 50
) -> Page[Contribution]:
    """What a run's page shows of people: the accepted contributions, newest first."""
    return list_contributions(database, state=State.ACCEPTED, run=run, cursor=cursor, limit=limit)


def find_contribution(database: Database, ident: str) -> Contribution:
    """One contribution by its id, or 8 or more hex digits of it.

    Raises:
        CommunityError: ``contribution.not_found``, ``contribution.ambiguous``.
    """
    with database.reading() as conn:
        return locate(conn, ident)


def locate(conn: Connection, ident: str) -> Contribution:
    """``find_contribution`` within a transaction."""
    prefix = parse_prefix(ident)
    if prefix is None:
        raise _unknown(ident)
    column = contributions.c.id
    starts = (column >= f"sha256:{prefix}") & (column < f"sha256:{prefix}g")
    rows = conn.execute(select(contributions).where(starts).order_by(column).limit(2)).all()
    if not rows:
        raise _unknown(ident)
    if len(rows) > 1:
        raise refusal(
            "contribution.ambiguous", f"{ident!r} begins several contributions; give more digits"
        )
    return read_row(rows[0])


def read_row(row: Any) -> Contribution:
    """A row as a contribution."""
    body = json.loads(row.body)
    return Contribution(
        id=row.id,
        kind=row.kind,
        run=row.subject_digest,
        author=row.author,
        by=body["by"],
        created_at=row.created_at,
        state=row.state,
        content=body["content"],
    )


def _unknown(ident: str) -> Exception:
    shown = ident[:80]
    return refusal("contribution.not_found", f"no contribution is called {shown!r} here")


def _build(
    kind: str, run: str, author: str, by: str, content: dict[str, Any], now: datetime
) -> Contribution:
    named = content_text({"kind": kind, "run": run, "author": author, "content": content})
    return Contribution(
        id="sha256:" + hashlib.sha256(named.encode()).hexdigest(),
        kind=kind,
        run=run,
        author=author,
        by=by,
        created_at=to_text(now),
        state=State.PENDING,
        content=content,
    )


def _store(database: Database, made: Contribution, now: datetime, quotas: Quotas) -> Contribution:
    """Insert, or return the one that says the same."""
    with writing_alone(database) as conn:
        same = conn.execute(select(contributions).where(contributions.c.id == made.id)).first()
        if same is not None:
            return read_row(same)
        require_quota(conn, made.author, now, quotas)
        row = {
            "id": made.id,
            "kind": made.kind,
            "subject_digest": made.run,
            "author": made.author,
            "created_at": made.created_at,
            "state": made.state,
            "body": content_text({"by": made.by, "content": made.content}),
        }
        conn.execute(insert(contributions).values(row))
    return made


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
