"""API keys: issued once, stored as a hash, bounded by scope and time, revocable."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from kernelindex.community import audit, tokens
from kernelindex.community.checks import require_decision, sound_text
from kernelindex.community.database import keys, writing
from kernelindex.community.instants import Clock, before, from_text, to_text, utc_now
from kernelindex.community.refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kernelindex.community.database import Database

DAYS = 365
ADMIN_DAYS = 90
"""How long keys last where nothing else is asked for."""
MAX_DAYS = 1095
MAX_OWNER = 100
USE_NOTED_S = 60.0
"""A key's last use is written at most this often: a read must not become a write."""
_NOBODY = "0" * 64


class Scope(StrEnum):
    """What a key may do; none includes another."""

    ATTEST = "attest"
    REPORT = "report"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it is shown: everything but its secret. ``owner`` is public."""

    id: str
    owner: str
    scopes: tuple[str, ...]
    created_at: str
    expires_at: str
    revoked_at: str | None
    last_used_at: str | None

    def state(self, now: datetime) -> str:
        """``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if to_text(now) < self.expires_at else "expired"

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """The key as JSON."""
        return {
            "id": self.id,
            "owner": self.owner,
            "scopes": list(self.scopes),
            "state": self.state(now),
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "revoked_at": self.revoked_at,
            "last_used_at": self.last_used_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey:
    """A new key with its token, which exists nowhere else and is not in its repr."""

    key: Key
    token: str = field(repr=False)


def issue_key(
    database: Database,
    *,
    owner: str,
    scopes: Iterable[str],
    actor: str,
    days: int | None = None,
    clock: Clock = utc_now,
) -> IssuedKey:
    """Make a key; its token is in the result and never to be had again.

    Raises:
        CommunityError: ``key.request`` for an owner, scope or duration that will not do.
    """
    chosen = _check_request(owner, scopes, days)
    require_decision(actor, "made")
    now = clock()
    lasting = days or (ADMIN_DAYS if Scope.ADMIN in chosen else DAYS)
    token = tokens.make_token()
    key = Key(
        id=tokens.key_id(token) or "",
        owner=owner,
        scopes=chosen,
        created_at=to_text(now),
        expires_at=to_text(now + timedelta(days=lasting)),
        revoked_at=None,
        last_used_at=None,
    )
    row = {
        "id": key.id,
        "owner": owner,
        "scopes": " ".join(chosen),
        "secret_hash": tokens.hash_token(token),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
    }
    with database.writing() as conn:
        conn.execute(insert(keys).values(row))
        told = {"owner": owner, "scopes": list(chosen), "until": key.expires_at[:10]}
        audit.append(conn, now, actor=actor, action="key.issue", subject=key.id, reason="", **told)
    return IssuedKey(key=key, token=token)


def list_keys(database: Database) -> tuple[Key, ...]:
    """All keys, newest first."""
    query = select(keys).order_by(keys.c.created_at.desc(), keys.c.id)
    with database.reading() as conn:
        return tuple(map(_key, conn.execute(query)))


def revoke_key(
    database: Database, ident: str, *, actor: str, reason: str, clock: Clock = utc_now
) -> Key:
    """Make a key useless from now on; a second time changes nothing.

    Raises:
        CommunityError: ``key.not_found``; ``decision.incomplete`` without actor or reason.
    """
    require_decision(actor, reason)
    now = clock()
    with database.writing() as conn:
        named = select(keys).where(keys.c.id == ident)
        row = conn.execute(named).first() if tokens.is_key_id(ident) else None
        if row is None:
            shown = tokens.hide_tokens(ident)[:80]
            raise refusal("key.not_found", f"no key has the id {shown!r}; see: ki keys list")
        if row.revoked_at is None:
            conn.execute(update(keys).where(keys.c.id == ident).values(revoked_at=to_text(now)))
            audit.append(conn, now, actor=actor, action="key.revoke", subject=ident, reason=reason)
        return _key(conn.execute(named).one())


def authenticate(
    database: Database, token: str | None, scope: Scope, *, clock: Clock = utc_now
) -> Key:
    """The key of a token, if it may do what ``scope`` names.

    Only who holds the right secret learns that a key has expired or was revoked.

    Raises:
        CommunityError: ``key.missing``, ``key.invalid``, ``key.revoked``, ``key.expired``,
            ``key.scope``.
    """
    if not token:
        raise refusal("key.missing", "this needs an API key; an operator makes one: ki keys new")
    with database.reading() as conn:
        row = conn.execute(select(keys).where(keys.c.id == tokens.key_id(token))).first()
    if not tokens.is_same(token, row.secret_hash if row is not None else _NOBODY) or row is None:
        raise refusal("key.invalid", "this API key is not known here; check that it is complete")
    key, now = _key(row), clock()
    require_usable(key, scope, now)
    if (key.last_used_at or "") < before(now, USE_NOTED_S):
        with writing(database) as conn:
            conn.execute(update(keys).where(keys.c.id == key.id).values(last_used_at=to_text(now)))
    return key


def require_usable(key: Key, scope: Scope, now: datetime) -> None:
    """Refuse a key that is no longer good, or not for this.

    Raises:
        CommunityError: ``key.revoked``, ``key.expired``, ``key.scope``.
    """
    state = key.state(now)
    if state == "revoked":
        raise refusal("key.revoked", f"the API key {key.id} was revoked; ask for a new one")
    if state == "expired":
        day = from_text(key.expires_at).date()
        raise refusal("key.expired", f"the API key {key.id} expired on {day}; ask for a new one")
    if scope not in key.scopes:
        raise refusal(
            "key.scope",
            f"the API key {key.id} may {', '.join(key.scopes)}; this needs {scope.value}",
            wanted=scope.value,
        )


def find_key(database: Database, ident: str) -> Key | None:
    """A key by its id."""
    with database.reading() as conn:
        row = conn.execute(select(keys).where(keys.c.id == ident)).first()
    return None if row is None else _key(row)


def _check_request(owner: str, scopes: Iterable[str], days: int | None) -> tuple[str, ...]:
    asked = set(scopes)
    chosen = tuple(scope.value for scope in Scope if scope.value in asked)
    if not sound_text(owner, MAX_OWNER):
        raise refusal("key.request", f"an owner is a name of 1 to {MAX_OWNER} characters")
    if not chosen or len(chosen) != len(asked):
        known = ", ".join(Scope)
        raise refusal("key.request", f"scopes are one or more of {known}; seen {sorted(asked)}")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise refusal("key.request", f"a key lasts 1 to {MAX_DAYS} days; seen {days}")
    return chosen


def _key(row: Any) -> Key:
    return Key(
        id=row.id,
        owner=row.owner,
        scopes=tuple(row.scopes.split()),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
