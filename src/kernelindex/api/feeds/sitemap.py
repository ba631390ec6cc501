"""Sitemaps: an index, one of what is named by slugs, and runs by the first digits of digests.

A file may have 50,000 addresses; the digits split runs evenly without counting them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree import ElementTree as ET

from kernelindex.api.feeds.markup import add, to_bytes
from kernelindex.catalog.digest_reads import read_digests
from kernelindex.resolve.listings import list_implementations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernelindex.catalog import Catalog

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MOST = 50_000
WIDE_FROM = 400_000
"""From this many runs on they are split 256 ways in place of 16."""
PAGES = ("/", "/records", "/sources", "/methodology", "/api")
LINK_DIGITS = 12
PAGE_ROWS = 500


def build_index(catalog: Catalog, base: str) -> bytes:
    """The sitemap of sitemaps."""
    root = ET.Element("sitemapindex", {"xmlns": NAMESPACE})
    digits = 2 if catalog.run_count() >= WIDE_FROM else 1
    names = ["objects", "implementations"]
    names += [f"runs-{number:0{digits}x}" for number in range(16**digits)]
    for name in names:
        add(add(root, "sitemap"), "loc", f"{base}/sitemaps/{name}.xml")
    return to_bytes(root)


def build_part(catalog: Catalog, name: str, base: str) -> bytes | None:
    """One of the sitemaps that the index names; None where it names no such one."""
    if name == "objects":
        return _urls(base, _objects(catalog))
    if name == "implementations":
        return _urls(base, _implementations(catalog))
    start, _, prefix = name.partition("-")
    if start != "runs" or len(prefix) not in {1, 2} or set(prefix) - set("0123456789abcdef"):
        return None
    found = read_digests(catalog, "BenchmarkRun", prefix, limit=MOST)
    return _urls(base, (f"/runs/{digest[7 : 7 + LINK_DIGITS]}" for digest in found))


def _urls(base: str, paths: Iterable[str]) -> bytes:
    root = ET.Element("urlset", {"xmlns": NAMESPACE})
    for path in paths:
        add(add(root, "url"), "loc", base + path)
    return to_bytes(root)


def _objects(catalog: Catalog) -> Iterator[str]:
    yield from PAGES
    for operation in catalog.operations():
        yield f"/operations/{_named(operation.slug)}"
    for project in catalog.projects():
        yield f"/projects/{_named(project.slug)}"
    for hardware in catalog.hardware():
        yield f"/hardware/{_named(hardware.id)}"
    for fact in catalog.facets():
        if fact.facet == "source":
            yield f"/sources/{_named(fact.value)}"


def _implementations(catalog: Catalog) -> Iterator[str]:
    """At most as many as a file may have; the others are reached from their operations."""
    cursor: str | None = None
    for _ in range(MOST // PAGE_ROWS):
        page = list_implementations(catalog, cursor=cursor, limit=PAGE_ROWS)
        yield from (f"/implementations/{_named(one.slug)}" for one in page.implementations)
        cursor = page.cursor
        if cursor is None:
            return


def _named(name: str) -> str:
    digest = name.removeprefix("sha256:")
    return quote(name, safe="") if digest == name else digest[:LINK_DIGITS]
