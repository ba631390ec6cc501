"""What text search looks through: operations, implementations, projects and hardware."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from kernelindex.catalog import bulk
from kernelindex.catalog.search_index import indexed_words
from kernelindex.catalog.tables import derived
from kernelindex.registry.hardware import load_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from kernelindex.catalog.touched import Touched

OPERATION, IMPLEMENTATION, PROJECT, HARDWARE = "operation", "implementation", "project", "hardware"
SPELLED = (OPERATION, PROJECT, HARDWARE)
"""Kinds whose words are worth suggesting; implementation names are mostly numbers."""
SHORTEST_WORD = 3


def finish_search(conn: Connection, touched: Touched) -> None:
    """Have publishing replace the documents written; count the vocabulary."""
    touched.replace_rows(derived.search_documents, "key")
    _add_gone(touched)
    vocabulary = derived.LISTINGS[derived.vocabulary]
    bulk.insert_rows(conn, vocabulary, sorted(_vocabulary(conn, touched).items()))
    touched.add_from(derived.vocabulary.name, derived.vocabulary.c.word)
    touched.replace_rows(derived.vocabulary, "word")


def _add_gone(touched: Touched) -> None:
    """Touched keys whose list row is gone, or has another slug now, lose their document."""
    renamed = select(derived.work_keys.c.key).where(derived.work_keys.c.listing == "names")
    old = select((f"{IMPLEMENTATION}:" + derived.names.c.slug).label("key"))
    old = old.where(derived.names.c.digest.in_(renamed))
    touched.add_from(derived.search_documents.name, old.subquery("old_keys").c.key)
    for kind, listing in ((OPERATION, "operations"), (PROJECT, "projects"), (HARDWARE, "hardware")):
        keys = derived.work_keys
        key = select((f"{kind}:" + keys.c.key).label("key")).where(keys.c.listing == listing)
        touched.add_from(derived.search_documents.name, key.subquery(f"{listing}_keys").c.key)


def list_documents(conn: Connection, touched: Touched) -> Iterator[tuple[Any, ...]]:
    """Documents of every row that the other lists' twins hold."""
    lists = derived.LISTINGS
    for row in conn.execute(select(lists[derived.operations])).all():
        yield _operation(row)
    for row in conn.execute(_implementations(touched)).all():
        yield _document(
            IMPLEMENTATION, row.slug, row.title, row.project, row.run_count, row.line_id
        )
    for row in conn.execute(select(lists[derived.projects])).all():
        yield _document(PROJECT, row.slug, row.title, "", row.run_count)
    for row in conn.execute(select(lists[derived.hardware])).all():
        product = load_products().get(row.product_id or "")
        extra = (row.family, row.vendor, row.architecture, product.name if product else "")
        yield _document(HARDWARE, row.id, row.label, row.architecture, row.run_count, *extra)


def _operation(row: Any) -> tuple[Any, ...]:
    aliases = orjson.loads(row.aliases)
    return _document(OPERATION, row.slug, row.title, row.family, row.run_count, *aliases)


def _implementations(touched: Touched) -> Any:
    twin = derived.LISTINGS[derived.implementations]
    names = touched.current(derived.names, "digest", "slug")
    return select(twin, names.c.slug).join(names, names.c.digest == twin.c.digest)


def _document(
    kind: str, slug: str, title: str, subtitle: str, run_count: int, *more: str
) -> tuple[Any, ...]:
    shown_slug = "" if slug.startswith("sha256:") else slug
    words = indexed_words((shown_slug, title, subtitle, *more))
    return (f"{kind}:{slug}", kind, slug, title, subtitle, words, run_count)


def _vocabulary(conn: Connection, touched: Touched) -> Counter[str]:
    """Every word of what has a name worth spelling, with in how many documents it is."""
    documents = touched.current(derived.search_documents, "kind", "words", key="key")
    query = select(documents.c.words).where(documents.c.kind.in_(SPELLED))
    found: Counter[str] = Counter()
    for words in conn.execute(query).scalars():
        found.update(w for w in words.split() if len(w) >= SHORTEST_WORD and not w.isdigit())
    return found
