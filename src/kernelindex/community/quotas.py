"""How much one key, one address and all anonymous reporters may send, counted in the tables.

Counting what is stored needs no other memory: it holds for every process of a site and
over restarts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from kernelindex.community.database import contributions
from kernelindex.community.instants import before, from_text
from kernelindex.community.refusals import refusal

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

ANONYMOUS = "anonymous:"
AFTER_ANONYMOUS = "anonymous;"
"""The first text that does not begin with ``ANONYMOUS``."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most ``count`` within any ``seconds``."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """What an index takes; the defaults suit a public one."""

    key: tuple[Quota, ...] = (Quota(60, 3600), Quota(300, 86_400))
    address: tuple[Quota, ...] = (Quota(3, 600), Quota(10, 86_400))
    anonymous: tuple[Quota, ...] = (Quota(120, 3600), Quota(600, 86_400))
    pending: int = 5_000


DEFAULT_QUOTAS = Quotas()


def require_quota(conn: Connection, author: str, now: datetime, quotas: Quotas) -> None:
    """Refuse one more contribution of ``author`` where it would be too many.

    Raises:
        CommunityError: ``contribution.rate_limited`` with ``retry_after_s``;
            ``contribution.queue_full``.
    """
    table = contributions
    is_anonymous = author.startswith(ANONYMOUS)
    for quota in quotas.address if is_anonymous else quotas.key:
        _require(conn, table.c.author == author, quota, now, "you sent")
    if is_anonymous:
        everyone = (table.c.author >= ANONYMOUS) & (table.c.author < AFTER_ANONYMOUS)
        for quota in quotas.anonymous:
            _require(conn, everyone, quota, now, "anonymous readers sent")
    waiting = select(func.count()).select_from(table).where(table.c.state == "pending")
    if conn.execute(waiting).scalar_one() >= quotas.pending:
        raise refusal(
            "contribution.queue_full",
            "too many contributions wait for review; try again in a day",
            retry_after_s=86_400,
        )


def _require(
    conn: Connection, whose: ColumnElement[bool], quota: Quota, now: datetime, who: str
) -> None:
    at = contributions.c.created_at
    recent = select(at).where(whose, at > before(now, quota.seconds))
    times = conn.execute(recent.order_by(at.desc()).limit(quota.count)).scalars().all()
    if len(times) < quota.count:
        return
    free_again = from_text(times[-1]) + timedelta(seconds=quota.seconds)
    wait_s = max(1, ceil((free_again - now).total_seconds()))
    raise refusal(
        "contribution.rate_limited",
        f"{who} {quota.count} within {_span(quota.seconds)}, which is the most;"
        f" try again in {_span(wait_s)}",
        retry_after_s=wait_s,
    )


def _span(seconds: int) -> str:
    for size, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = ceil(seconds / size)
            return f"{count} {word}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"
