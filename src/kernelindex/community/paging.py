"""Pages of rows, newest first, continued by a cursor: the last row, and of which list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import and_, or_

from kernelindex.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection, Select

T = TypeVar("T")
SEPARATOR = "~"
MAX_CURSOR = 200


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows, and where the next ones begin (None at the end)."""

    items: tuple[T, ...]
    cursor: str | None


def page_of(
    conn: Connection,
    query: Select[Any],
    at: ColumnElement[Any],
    ident: ColumnElement[Any],
    read: Callable[[Any], T],
    *,
    filters: object,
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """The rows of ``query`` after ``cursor``, ordered by time then id, newest first.

    ``filters`` tell the list from others; a cursor is good for the same ones only.

    Raises:
        RequestError: ``request.cursor`` for text that is no cursor of this list.
    """
    name = hashlib.sha256(repr(filters).encode()).hexdigest()[:12]
    if cursor is not None:
        last_at, last_id = _parse(cursor, name)
        query = query.where(or_(at < last_at, and_(at == last_at, ident < last_id)))
    rows = conn.execute(query.order_by(at.desc(), ident.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    more = len(rows) > limit
    last = (getattr(shown[-1], str(at.key)), shown[-1].id, name) if more else ()
    return Page(tuple(map(read, shown)), SEPARATOR.join(last) or None)


def _parse(cursor: str, name: str) -> tuple[str, str]:
    parts = cursor.split(SEPARATOR)
    sound = len(cursor) <= MAX_CURSOR and cursor.isascii() and cursor.isprintable()
    if not sound or len(parts) != 3 or parts[2] != name:
        raise RequestError(
            "the cursor is not one of this list with these filters; start again without it",
            code="request.cursor",
        )
    return parts[0], parts[1]
