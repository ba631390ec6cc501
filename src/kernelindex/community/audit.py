"""The log of who decided what, when and why; rows are only ever added."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from kernelindex.community.database import audit
from kernelindex.community.instants import to_text
from kernelindex.community.paging import Page, page_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from kernelindex.community.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that somebody did; ``subject`` is a contribution's or a key's id."""

    id: str
    at: str
    actor: str
    action: str
    subject: str
    reason: str
    detail: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON."""
        return asdict(self)


def append(
    conn: Connection,
    now: datetime,
    *,
    actor: str,
    action: str,
    subject: str,
    reason: str,
    **detail: Any,
) -> None:
    """Add one entry within the transaction of what it tells about."""
    values = {
        "at": to_text(now),
        "actor": actor,
        "action": action,
        "subject": subject,
        "reason": reason,
        "detail": json.dumps(detail, sort_keys=True, ensure_ascii=False),
    }
    named = json.dumps([*values.values(), secrets.token_hex(8)]).encode()
    digest = "sha256:" + hashlib.sha256(named).hexdigest()
    conn.execute(insert(audit).values(id=digest, **values))


def read_audit(
    database: Database, *, subject: str | None = None, cursor: str | None = None, limit: int = 50
) -> Page[AuditEntry]:
    """Entries newest first, of one subject or of all."""
    query = select(audit)
    if subject is not None:
        query = query.where(audit.c.subject == subject)
    with database.reading() as conn:
        return page_of(
            conn,
            query,
            audit.c.at,
            audit.c.id,
            _entry,
            filters=subject,
            cursor=cursor,
            limit=limit,
        )


def _entry(row: Any) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        at=row.at,
        actor=row.actor,
        action=row.action,
        subject=row.subject,
        reason=row.reason,
        detail=json.loads(row.detail),
    )
