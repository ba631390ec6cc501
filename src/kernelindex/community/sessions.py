"""Operators' sessions on the site: short, bound to an admin key, ended by logout or revoking.

The cookie holds 256 random bits and the table their hash, so a copy of the database opens
no session.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from kernelindex.community import audit, tokens
from kernelindex.community.database import sessions, writing
from kernelindex.community.instants import Clock, to_text, utc_now
from kernelindex.community.keys import Key, Scope, authenticate, find_key, require_usable
from kernelindex.errors import CommunityError

if TYPE_CHECKING:
    from kernelindex.community.database import Database

LASTS_S = 30 * 60
MAX_COOKIE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An operator who is logged in; ``cookie`` is what the browser holds."""

    key: Key
    cookie: str = field(repr=False)
    expires_at: str

    @property
    def actor(self) -> str:
        """How the audit log names the operator."""
        return f"{self.key.owner[:80]} (key {self.key.id})"

    def form_token(self, secret: bytes) -> str:
        """What every form of this session carries, and nobody else can know."""
        return hmac.new(secret, b"session form " + self.cookie.encode(), "sha256").hexdigest()

    def sent(self, secret: bytes, form_token: str) -> bool:
        """Whether a form that carries ``form_token`` was made for this session."""
        return hmac.compare_digest(
            self.form_token(secret).encode(), form_token.encode(errors="replace")
        )


def open_session(database: Database, token: str | None, *, clock: Clock = utc_now) -> Session:
    """Log in with an admin key; audited.

    Raises:
        CommunityError: what ``authenticate`` refuses.
    """
    key = authenticate(database, token, Scope.ADMIN, clock=clock)
    now = clock()
    cookie = secrets.token_urlsafe(tokens.SECRET_BYTES)
    ends = to_text(now + timedelta(seconds=LASTS_S))
    made = Session(key=key, cookie=cookie, expires_at=min(ends, key.expires_at))
    row = {
        "token_hash": tokens.hash_token(cookie),
        "key_id": key.id,
        "created_at": to_text(now),
        "expires_at": made.expires_at,
    }
    with writing(database) as conn:
        conn.execute(delete(sessions).where(sessions.c.expires_at <= to_text(now)))
        conn.execute(insert(sessions).values(row))
        audit.append(conn, now, actor=made.actor, action="session.open", subject=key.id, reason="")
    return made


def find_session(
    database: Database, cookie: str | None, *, clock: Clock = utc_now
) -> Session | None:
    """The session of a cookie, if it lasts and its key is still good."""
    if not cookie or len(cookie) > MAX_COOKIE:
        return None
    now = clock()
    wanted = sessions.c.token_hash == tokens.hash_token(cookie)
    with database.reading() as conn:
        row = conn.execute(select(sessions).where(wanted)).first()
    key = find_key(database, row.key_id) if row is not None else None
    if row is None or key is None or row.expires_at <= to_text(now):
        return None
    try:
        require_usable(key, Scope.ADMIN, now)
    except CommunityError:
        return None
    return Session(key=key, cookie=cookie, expires_at=row.expires_at)


def close_session(database: Database, session: Session, *, clock: Clock = utc_now) -> None:
    """Log out; the cookie opens nothing from now on."""
    with writing(database) as conn:
        wanted = sessions.c.token_hash == tokens.hash_token(session.cookie)
        conn.execute(delete(sessions).where(wanted))
        audit.append(
            conn,
            clock(),
            actor=session.actor,
            action="session.close",
            subject=session.key.id,
            reason="",
        )
