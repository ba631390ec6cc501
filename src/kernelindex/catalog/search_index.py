"""Full text over the search documents: FTS5 on SQLite, tsvector on PostgreSQL.

Both see the same tokens: ``words`` is already split by us into plain lower-case words,
and a query is a list of such words, each matched as a prefix.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, text

from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

TOKEN = re.compile(r"[^\W_]+")
CANDIDATES = 300

INDEX = "search_fts"
TRIGGERS = ("search_fts_insert", "search_fts_delete")
VECTOR, VECTOR_INDEX = "vector", "ix_search_documents_vector"
"""What PostgreSQL's index adds to the table of documents."""

_SQLITE = (
    "CREATE VIRTUAL TABLE search_fts USING fts5(words, content='search_documents', "
    "content_rowid='number', tokenize='unicode61 remove_diacritics 0', prefix='2 3 4')",
    "CREATE TRIGGER search_fts_insert AFTER INSERT ON search_documents BEGIN "
    "INSERT INTO search_fts(rowid, words) VALUES (new.number, new.words); END",
    "CREATE TRIGGER search_fts_delete AFTER DELETE ON search_documents BEGIN "
    "INSERT INTO search_fts(search_fts, rowid, words) "
    "VALUES ('delete', old.number, old.words); END",
)
_POSTGRESQL = (
    "ALTER TABLE search_documents ADD COLUMN vector tsvector GENERATED ALWAYS AS "
    "(array_to_tsvector(string_to_array(words, ' '))) STORED",
    "CREATE INDEX ix_search_documents_vector ON search_documents USING gin (vector)",
)


def create(conn: Connection) -> None:
    """Make the index beside the empty table of documents."""
    for statement in _POSTGRESQL if conn.dialect.name == "postgresql" else _SQLITE:
        conn.execute(text(statement))


def drop(conn: Connection) -> None:
    """Drop what ``create`` made, but for PostgreSQL's column, which goes with its table."""
    if conn.dialect.name != "postgresql":
        for name in TRIGGERS:
            conn.execute(text(f"DROP TRIGGER IF EXISTS {name}"))
        conn.execute(text(f"DROP TABLE IF EXISTS {INDEX}"))


def renew(conn: Connection) -> None:
    """Make again what was dropped, of the documents there are."""
    if conn.dialect.name != "postgresql":
        create(conn)
        conn.execute(text(f"INSERT INTO {INDEX}({INDEX}) VALUES ('rebuild')"))


def lost_documents(conn: Connection) -> Iterator[str]:
    """Keys of documents that the index does not find by their own words.

    PostgreSQL computes its words from each row, so that there none can be lost alone.
    """
    if conn.dialect.name == "postgresql":
        return
    table = derived.search_documents
    documents = conn.execute(select(table.c.number, table.c.key, table.c.words).order_by("key"))
    has_index = conn.dialect.has_table(conn, INDEX)
    found = text(f"SELECT 1 FROM {INDEX} WHERE {INDEX} MATCH :words AND rowid = :number")
    for number, key, words in documents:
        every = " ".join(f'"{word}"' for word in words.split())
        if not has_index or not conn.execute(found, {"words": every, "number": number}).first():
            yield key


def tokens_of(words: str) -> list[str]:
    """The plain words of a text, in order: lower case, without diacritics."""
    return TOKEN.findall(_fold(words))


def _fold(words: str) -> str:
    if words.isascii():
        return words.lower()
    parts = unicodedata.normalize("NFKD", words.lower())
    return "".join(part for part in parts if not unicodedata.combining(part))


def indexed_words(texts: Iterable[str]) -> str:
    """What is indexed: every word, and the joined form of every hyphenated name.

    ``rms_norm`` gives ``norm rms rmsnorm``, so that ``rmsnorm`` finds it.
    """
    found: set[str] = set()
    for part in _fold(" ".join(texts)).split():
        words = TOKEN.findall(part)
        found.update(words)
        if 1 < len(words) <= 4:
            found.add("".join(words))
    return " ".join(sorted(found))


def _matching(condition: str) -> Prepared:
    """Documents that meet a condition on the bound ``words``; those with most runs first."""
    table = derived.search_documents
    return Prepared(
        select(
            table.c.kind,
            table.c.slug,
            table.c.title,
            table.c.subtitle,
            table.c.words,
            table.c.run_count,
        )
        .where(text(condition))
        .order_by(table.c.run_count.desc(), table.c.slug)
        .limit(CANDIDATES)
    )


IN_FTS = _matching(
    "search_documents.number IN (SELECT rowid FROM search_fts WHERE search_fts MATCH :words)"
)
IN_VECTOR = _matching("vector @@ to_tsquery('simple', :words)")


def matching(conn: Connection, words: list[str], *, every: bool = True) -> list[Any]:
    """Documents that hold every word (or any), as prefixes; those with most runs first."""
    if conn.dialect.name == "postgresql":
        asked = (" & " if every else " | ").join(f"'{word}':*" for word in words)
        return IN_VECTOR.rows(conn, words=asked)
    asked = (" AND " if every else " OR ").join(f'"{word}"*' for word in words)
    return IN_FTS.rows(conn, words=asked)
