"""Elsewhere -> manifests: one module a source, and this one list of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

from kernelindex.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import Row, Skipped, Snapshot

__all__ = ["SOURCES", "SourceSpec", "find_source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """One source; its module is imported when it is read, not before.

    ``takes`` says what ``read`` wants: one ``file`` (a path or its bytes), a file or a
    ``folder``, or ``nothing`` because the data is in the package. One that ``corrects``
    comes with corrections of what it brings.
    """

    slug: str
    title: str
    help: str
    module: str
    takes: Literal["file", "folder", "nothing"] = "file"
    corrects: bool = False

    def read(self, path: Path | bytes | None = None) -> tuple[Snapshot, Iterator[Row | Skipped]]:
        """The snapshot of ``path`` and one outcome for each of its rows, as a stream.

        Raises ``SourceError``: ``source.path_needed`` without a path where one is wanted,
        ``source.path_not_taken`` with one where none is, ``source.unreadable`` and its kin.
        """
        if self.takes == "nothing":
            if path is not None:
                raise SourceError(
                    f"{self.slug} is in the package and takes no path; leave it out",
                    code="source.path_not_taken",
                )
        elif path is None:
            raise SourceError(f"{self.slug} needs a path: {self.help}", code="source.path_needed")
        reader = cast(
            "Callable[[Path | bytes | None], tuple[Snapshot, Iterator[Row | Skipped]]]",
            import_module(self.module).read,
        )
        return reader(path)

    def correct(self, catalog: Database, *, dry_run: bool = False) -> dict[str, int]:
        """Apply what corrects the source's runs, once they are in; how many, by outcome.

        Nothing where the source does not correct. Raises RegistryError
        ``registry.correction``, CatalogError.
        """
        if not self.corrects:
            return {}
        apply = cast("Callable[..., dict[str, int]]", import_module(self.module).correct)
        return apply(catalog, dry_run=dry_run)


SOURCES: tuple[SourceSpec, ...] = (
    SourceSpec(
        slug="liger",
        title="Liger-Kernel benchmark CSV",
        help="a CSV such as benchmark/data/all_benchmark_data.csv of linkedin/Liger-Kernel",
        module="kernelindex.sources.liger",
    ),
    SourceSpec(
        slug="kernelindex-export",
        title="Public export of a KernelIndex",
        help="a catalog export, .jsonl or .jsonl.zst",
        module="kernelindex.sources.export",
    ),
    SourceSpec(
        slug="manifests",
        title="Manifests",
        help="a manifest (.json, .yaml), a .jsonl of manifests, or a folder of such files",
        module="kernelindex.sources.manifests",
        takes="folder",
    ),
    SourceSpec(
        slug="evidence",
        title="Signed evidence of the runner",
        help="a bundle (*.evidence.zip) of `ki bench`, or a folder of them",
        module="kernelindex.sources.evidence",
        takes="folder",
    ),
    SourceSpec(
        slug="records",
        title="Our own verified records",
        help="the signed bundles that travel in the package",
        module="kernelindex.sources.records",
        takes="nothing",
        corrects=True,
    ),
    SourceSpec(
        slug="starter",
        title="Starter evidence",
        help="the measurements that travel in the package",
        module="kernelindex.sources.starter",
        takes="nothing",
    ),
)


def find_source(slug: str) -> SourceSpec:
    """The source of that slug.

    Raises ``SourceError`` (``source.unknown``) with the slugs there are.
    """
    for spec in SOURCES:
        if spec.slug == slug:
            return spec
    known = ", ".join(spec.slug for spec in SOURCES)
    raise SourceError(f"no source is called {slug!r}; there are {known}", code="source.unknown")
