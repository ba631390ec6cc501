"""Pages of rows, newest first, continued by a cursor that names the last row."""

from __future__ import annotations

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
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """The rows of ``query`` after ``cursor``, ordered by time then id, newest first.

    Raises:
        RequestError: ``request.cursor`` for text that is no cursor.
    """
    if cursor is not None:
        last_at, last_id = _parse(cursor)
        query = query.where(or_(at < last_at, and_(at == last_at, ident < last_id)))
    rows = conn.execute(query.order_by(at.desc(), ident.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    more = len(rows) > limit
    end = getattr(shown[-1], str(at.key)) + SEPARATOR + shown[-1].id if more else None
    return Page(tuple(map(read, shown)), end)


def _parse(cursor: str) -> tuple[str, str]:
    at, separator, ident = cursor.partition(SEPARATOR)
    if not separator or len(cursor) > MAX_CURSOR or not cursor.isascii() or "\x00" in cursor:
        raise RequestError(
            "the cursor is not one of this list; start again without it", code="request.cursor"
        )
    return at, ident
