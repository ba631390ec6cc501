"""Reads of lists: operations, implementations, projects, hardware, shapes, facets, search."""

from __future__ import annotations

from difflib import SequenceMatcher
from math import log10
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, select

from kernelindex.catalog import cursors, search_index
from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.rows import (
    FacetCount,
    HardwareRow,
    ImplementationRow,
    OperationRow,
    Page,
    ProjectRow,
    SearchAnswer,
    SearchHit,
    ShapeRow,
)
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from sqlalchemy import Connection

KIND_WEIGHT = {"operation": 3.0, "hardware": 2.0, "project": 2.0, "implementation": 1.0}
LEAST_SIMILAR = 0.7
MOST_SUGGESTIONS = 5
MOST_WORDS = 12
LEAST_LETTERS = 3
KNOWN_WEIGHT = 0.25
"""Per factor of ten in runs: enough to order like names, too little to beat a better one."""


class ListingReads(Database):
    """Lists what the catalog holds."""

    def operations(self, family: str | None = None) -> list[OperationRow]:
        """Every operation, those with most runs first."""
        table = derived.operations
        query = select(table).order_by(table.c.run_count.desc(), table.c.slug)
        if family is not None:
            query = query.where(table.c.family == family)
        with self.reading() as conn:
            return [_operation(row) for row in conn.execute(query)]

    def operation(self, slug: str) -> OperationRow | None:
        """One operation by its slug."""
        table = derived.operations
        query = select(table).where(table.c.slug == slug).execution_options(hot=True)
        with self.reading() as conn:
            row = conn.execute(query).first()
            return None if row is None else _operation(row)

    def operation_of(self, digest: str) -> str | None:
        """The slug of an OperationSpec's digest."""
        with self.reading() as conn:
            rows = SLUG_OF.rows(conn, digest=digest)
        return rows[0].slug if rows else None

    def implementations(
        self,
        *,
        operation: str | None = None,
        project: str | None = None,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
    ) -> Page[ImplementationRow]:
        """Implementation revisions by digest, a page at a time."""
        table, names = derived.implementations, derived.names
        filters = {"list": "implementations", "operation": operation, "project": project}
        after = cursors.decode_cursor(filters, cursor, str)
        query = select(table, names.c.slug).join(names, names.c.digest == table.c.digest)
        for name in ("operation", "project"):
            if filters[name] is not None:
                query = query.where(table.c[name] == filters[name])
        if after is not None:
            query = query.where(table.c.digest > after[0])
        query = query.order_by(table.c.digest).limit(cursors.check_limit(limit) + 1)
        with self.reading() as conn:
            rows = [ImplementationRow(**row._mapping) for row in conn.execute(query)]
        more = len(rows) > limit
        last = cursors.encode_cursor(filters, (rows[limit - 1].digest,)) if more else None
        return Page(tuple(rows[:limit]), last)

    def projects(self) -> list[ProjectRow]:
        """Every project, those with most runs first."""
        table = derived.projects
        query = select(table).order_by(table.c.run_count.desc(), table.c.slug)
        with self.reading() as conn:
            return [ProjectRow(**row._mapping) for row in conn.execute(query)]

    def hardware(self) -> list[HardwareRow]:
        """Every GPU product or unresolved label that has runs, most runs first."""
        table = derived.hardware
        query = select(table).order_by(table.c.run_count.desc(), table.c.id)
        query = query.execution_options(hot=True)
        with self.reading() as conn:
            return [HardwareRow(**row._mapping) for row in conn.execute(query)]

    def shapes(
        self, operation: str, *, device: str | None = None, timed_pass: str | None = None
    ) -> list[ShapeRow]:
        """Measured shapes of an operation; ``device`` is a hardware id, both filters optional."""
        table = derived.shapes
        query = select(table).where(table.c.operation == operation).order_by(table.c.shape_key)
        with self.reading() as conn:
            rows = [_shape(row) for row in conn.execute(query)]
        return [
            row
            for row in rows
            if (device is None or device in row.devices)
            and (timed_pass is None or timed_pass in row.passes)
        ]

    def facets(self) -> list[FacetCount]:
        """Counts of runs by each value of each filter, largest first."""
        table = derived.facets
        query = select(table).order_by(table.c.facet, table.c.count.desc(), table.c.value)
        with self.reading() as conn:
            return [FacetCount(**row._mapping) for row in conn.execute(query)]

    def search_text(self, query: str, limit: int = 20) -> SearchAnswer:
        """Things whose names hold every word of the query; else those that hold half of them.

        Words that nothing holds come with spellings that exist, after those that something
        holds where nothing holds half.
        """
        words = list(dict.fromkeys(search_index.tokens_of(query)))[:MOST_WORDS]
        if not words:
            return SearchAnswer(hits=())
        suggestions: tuple[str, ...] = ()
        with self.reading() as conn:
            rows = search_index.matching(conn, words)
            if not rows:
                rows, suggestions = _next_best(conn, words)
        hits = sorted((_hit(row, words) for row in rows), key=_order)
        return SearchAnswer(hits=tuple(hits[:limit]), suggestions=suggestions)


SPECS = derived.operation_specs
SLUG_OF = Prepared(select(SPECS.c.slug).where(SPECS.c.digest == bindparam("digest")))
KNOWN_WORD = derived.vocabulary.c.word
SIZED_WORDS = Prepared(
    select(KNOWN_WORD).where(func.length(KNOWN_WORD).between(bindparam("least"), bindparam("most")))
)


def _holds(row: Any, word: str) -> bool:
    """Whether a word begins a word of a document."""
    held: bool = row.words.startswith(word) or f" {word}" in row.words
    return held


def _next_best(conn: Connection, words: list[str]) -> tuple[list[Any], tuple[str, ...]]:
    """What holds at least half of the words, and what to search for instead.

    Words of one or two letters begin half of all names and do not count.
    """
    telling = [word for word in words if len(word) >= LEAST_LETTERS]
    found = search_index.matching(conn, telling, every=False) if telling else []
    held = [word for word in telling if any(_holds(row, word) for row in found)]
    spellings = _spellings(conn, [word for word in words if word not in held])
    rows = [row for row in found if 2 * sum(_holds(row, one) for one in held) >= len(telling)]
    return rows, spellings if rows else (*held, *spellings)[:MOST_SUGGESTIONS]


def _operation(row: Any) -> OperationRow:
    values = dict(row._mapping)
    for name in ("aliases", "digests"):
        values[name] = tuple(orjson.loads(values[name]))
    return OperationRow(**values)


def _shape(row: Any) -> ShapeRow:
    values = dict(row._mapping)
    for name in ("axes", "dtypes", "devices", "passes"):
        values[name] = orjson.loads(values[name])
    return ShapeRow(**values)


def _hit(row: Any, words: list[str]) -> SearchHit:
    """Whole words count more than beginnings of words, and names of few words more."""
    have = set(row.words.split())
    whole = sum(word in have for word in words) / len(words)
    name = set(search_index.tokens_of(f"{row.slug} {row.title}"))
    share = len(name & set(words)) / max(len(name), 1)
    held = sum(_holds(row, word) for word in words) / len(words)
    known = KNOWN_WEIGHT * log10(1 + row.run_count)
    score = held * (KIND_WEIGHT[row.kind] * (0.5 + whole) + 2.0 * share + known)
    return SearchHit(
        kind=row.kind,
        slug=row.slug,
        title=row.title,
        score=round(score, 4),
        run_count=row.run_count,
        subtitle=row.subtitle,
    )


def _order(hit: SearchHit) -> tuple[float, int, str, str]:
    return -hit.score, -hit.run_count, hit.kind, hit.slug


def _spellings(conn: Connection, words: list[str]) -> tuple[str, ...]:
    """Known words that look like the unknown ones, the most alike first."""
    found: dict[str, float] = {}
    for word in words:
        for row in SIZED_WORDS.rows(conn, least=len(word) - 2, most=len(word) + 2):
            known = row.word
            if known != word and _may_be_similar(word, known):
                ratio = SequenceMatcher(None, word, known).ratio()
                if ratio >= LEAST_SIMILAR:
                    found[known] = max(ratio, found.get(known, 0.0))
    ordered = sorted(found, key=lambda known: (-found[known], known))
    return tuple(ordered[:MOST_SUGGESTIONS])


def _may_be_similar(word: str, known: str) -> bool:
    """Whether enough letters are the same in any order; ``ratio`` is never above their share."""
    common = sum(min(word.count(one), known.count(one)) for one in set(word))
    return 2 * common >= LEAST_SIMILAR * (len(word) + len(known))
