"""Where the numbers come from: licence, freshness, what was not taken, how far they repeat."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, ClassVar

from kernelindex.registry.sources_info import Dispersion, SourceDoubt, find_source
from kernelindex.resolve.listings import SnapshotLine, SourceLine, list_sources, show_source
from kernelindex.resolve.skip_reasons import reason_words
from kernelindex.web import paths
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.listing import ListPage, Option, choice, list_fields, read_asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog

SORTS = {"runs": "runs", "name": "name", "read": "last read"}
MOST_DOUBTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How new what a source told is."""

    newest: str = field(metadata=told("date of its newest run, empty where it has none"))
    read: str = field(metadata=told("date on which it was last read, empty where it never was"))
    due: str = field(metadata=told("date by which it is expected to have published again"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One source in the list."""

    source: SourceLine = field(metadata=told("its names, licence and counts"))
    fresh: Freshness = field(metadata=told("how new it is"))
    skipped: int = field(metadata=told("rows of its last file that were not taken"))
    shared: bool = field(metadata=told("whether that file holds rows of other sources too"))


@dataclass(frozen=True, slots=True)
class Skip:
    """Rows that were not taken for one reason."""

    reason: str = field(metadata=told("stable token of the reason"))
    words: str = field(metadata=told("the reason in words"))
    count: int = field(metadata=told("how many rows"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One file that was read."""

    file: SnapshotLine = field(metadata=told("its name, size, digest, and when it was read"))
    skips: tuple[Skip, ...] = field(metadata=told("what was not taken of it, most first"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesPage(ListPage):
    """Every source."""

    template: ClassVar[str] = "sources.html"

    sources: tuple[SourceRow, ...] = field(metadata=told("sources in order"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage(Page):
    """One source."""

    template: ClassVar[str] = "source.html"

    source: SourceLine = field(metadata=told("its names, licence and counts"))
    fresh: Freshness = field(metadata=told("how new it is"))
    snapshots: tuple[Snapshot, ...] = field(metadata=told("files that were read, newest first"))
    dispersion: Dispersion | None = field(metadata=told("how far its own repeats lie apart"))
    doubts: tuple[SourceDoubt, ...] = field(metadata=told("what is doubted of its rows"))


def sources(catalog: Catalog, request: Request) -> SourcesPage:
    """Sources, imported or only known."""
    asked = read_asked(request, filters=("imported",), sorts=SORTS)
    options = (Option("yes", "imported here"), Option("no", "known, not imported"))
    filters = (choice(asked, "imported", "State", options),)
    found = list_sources(catalog).sources
    files = Counter(one.snapshots[0].digest for one in found if one.snapshots)
    rows = [_row(catalog, one, files) for one in found]
    wanted = asked.value("imported")
    kept = [row for row in rows if not wanted or bool(row.source.snapshots) == (wanted == "yes")]
    return SourcesPage(
        title="Sources",
        description="Where the benchmark results come from, under which licence, how new they"
        " are and what was not taken.",
        section="Sources",
        json_path="/api/v1/sources",
        sources=tuple(sorted(kept, key=_KEYS[asked.sort])),
        **list_fields(asked, filters, None),
    )


def source(catalog: Catalog, request: Request) -> SourcePage:
    """One source by its slug."""
    found = show_source(catalog, request.path_params["slug"])
    info = find_source(found.slug)
    return SourcePage(
        title=found.title,
        description=f"{found.title}: {found.run_count:,} runs, their licence and attribution,"
        " what was not taken, and what is doubted.",
        path=paths.source(found.slug),
        section="Sources",
        json_path=f"/api/v1{paths.source(found.slug)}",
        source=found,
        fresh=_freshness(catalog, found),
        snapshots=tuple(Snapshot(one, _skips(one)) for one in found.snapshots),
        dispersion=info.dispersion if info else None,
        doubts=info.doubts[:MOST_DOUBTS] if info else (),
    )


def _row(catalog: Catalog, found: SourceLine, files: Mapping[str, int]) -> SourceRow:
    """A row of the list; ``files`` are the last files with how many sources each is of."""
    last = found.snapshots[0] if found.snapshots else None
    return SourceRow(
        source=found,
        fresh=_freshness(catalog, found),
        skipped=sum(last.skipped.values()) if last else 0,
        shared=last is not None and files[last.digest] > 1,
    )


_KEYS = {
    "runs": lambda row: (-row.source.run_count, row.source.title.casefold()),
    "name": lambda row: (row.source.title.casefold(), row.source.slug),
    "read": lambda row: ([-ord(char) for char in row.fresh.read], row.source.slug),
}


def _freshness(catalog: Catalog, found: SourceLine) -> Freshness:
    newest = catalog.runs({"source": found.slug}, limit=1).rows if found.run_count else ()
    read = found.snapshots[0].fetched_at[:10] if found.snapshots else ""
    return Freshness(
        newest=str(newest[0].observed.get("date") or "") if newest else "",
        read=read,
        due=_after(read, found.freshness_days),
    )


def _after(day: str, days: int | None) -> str:
    """The date ``days`` after a date; empty where either is not known."""
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat() if days else ""
    except (ValueError, OverflowError):
        return ""


def _skips(file: SnapshotLine) -> tuple[Skip, ...]:
    ordered = sorted(file.skipped.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Skip(reason, reason_words(reason), count) for reason, count in ordered)


routes = [page_route("/sources", sources), page_route("/sources/{slug}", source)]
