"""A client over a local database: the answers that the command line and pages show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from kernelindex.catalog import Catalog
from kernelindex.resolve import Answer, Request, ask, ask_document, ask_text
from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.lists import list_records, list_runs
from kernelindex.resolve.objects import show_object
from kernelindex.resolve.show import show_run
from kernelindex.settings import database_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.resolve.dossier import (
        Comparison,
        ObjectDossier,
        RecordList,
        RunDossier,
        RunList,
    )
    from kernelindex.resolve.reads import Reads


class Client:
    """Asks one catalog; usable as a context manager.

    with Client.local() as index:
        answer = index.resolve("fused-moe T=8192 bf16 gpu:H100 pass:backward")
        print(answer.summary)
    """

    def __init__(self, catalog: Reads) -> None:
        self._catalog = catalog

    @classmethod
    def local(cls, url: str | None = None) -> Self:
        """A client of the database at ``url``, else of the one ``ki`` would use.

        Raises CatalogError ``catalog.missing`` where there is none.
        """
        return cls(Catalog.open(database_url(url)))

    def resolve(self, question: str | Request | Mapping[str, Any]) -> Answer:
        """Answer a text query, a request, or a request as JSON data."""
        if isinstance(question, str):
            return ask_text(self._catalog, question)
        if isinstance(question, Request):
            return ask(self._catalog, question)
        return ask_document(self._catalog, question)

    def run(self, ident: str) -> RunDossier:
        """Everything known of a run, by alias or digest prefix.

        Raises NotFoundError, AmbiguousError.
        """
        return show_run(self._catalog, ident)

    def show(self, kind: str, ident: str) -> ObjectDossier:
        """Everything known of an object that is no run: operation, implementation, workload.

        Raises NotFoundError, AmbiguousError.
        """
        return show_object(self._catalog, kind, ident)

    def compare(self, *runs: str) -> Comparison:
        """Two to eight runs side by side.

        Raises RequestError, NotFoundError, AmbiguousError.
        """
        return compare_runs(self._catalog, runs)

    def runs(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        oldest_first: bool = False,
        **filters: str | None,
    ) -> RunList:
        """A page of runs; those that were aborted or withdrawn where ``status`` asks for them.

        Filters: operation, gpu, source, project, implementation, workload, status (or any).
        """
        return list_runs(
            self._catalog, cursor=cursor, limit=limit, oldest_first=oldest_first, **filters
        )

    def records(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        oldest_first: bool = False,
        **filters: str | None,
    ) -> RecordList:
        """A page of changes of leader; filters: operation, gpu."""
        return list_records(
            self._catalog, cursor=cursor, limit=limit, oldest_first=oldest_first, **filters
        )

    def close(self) -> None:
        """Let go of the database."""
        close = getattr(self._catalog, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
