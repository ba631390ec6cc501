"""Whole catalogs as files, made by an operator with ``ki catalog export``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import FileResponse

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES, ident_of
from kernelindex.api.parameters import read_query
from kernelindex.api.replies import IMMUTABLE, REVALIDATE, is_known, not_modified, reply
from kernelindex.errors import NotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

MEDIA_TYPES = {".zst": "application/zstd", ".parquet": "application/vnd.apache.parquet"}
BLOCK = 1 << 20


class ExportLine(BaseModel):
    """One file."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="its name: `/exports/{name}` has it")
    digest: str = Field(description="sha256 of its bytes; `/exports/{digest}` has it too")
    size_bytes: int = Field(description="its size")
    media_type: str = Field(description="what it is")


class ExportList(BaseModel):
    """The files that the operator of this index made."""

    model_config = ConfigDict(extra="forbid")

    exports: list[ExportLine] = Field(description="by name, newest names last")


@dataclass(frozen=True, slots=True)
class Export:
    """A file to hand out."""

    path: Path
    digest: str
    size_bytes: int

    def line(self) -> ExportLine:
        """The file in the list."""
        return ExportLine(
            name=self.path.name,
            digest=self.digest,
            size_bytes=self.size_bytes,
            media_type=MEDIA_TYPES[self.path.suffix],
        )


def exports(_catalog: Catalog, request: Request) -> Response:
    """Exports of the whole catalog, which `ki import` reads; empty where none was made."""
    read_query(request, ())
    lines = [one.line() for one in find_exports(_folder(request))]
    return reply(request, ExportList(exports=lines).model_dump(mode="json"))


def export(_catalog: Catalog, request: Request) -> Response:
    """One file by its name or digest; parts of it by Range."""
    read_query(request, ())
    ident = ident_of(request)
    found = next(
        (one for one in find_exports(_folder(request)) if ident in (one.path.name, one.digest)),
        None,
    )
    if found is None:
        raise NotFoundError(f"no export is called {ident!r} here", code="export.not_found")
    cache = IMMUTABLE if ident == found.digest else REVALIDATE
    tag = f'"{found.digest}"'
    if is_known(request, tag):
        return not_modified(tag, cache)
    return FileResponse(
        found.path,
        media_type=MEDIA_TYPES[found.path.suffix],
        headers={"ETag": tag, "Cache-Control": cache},
    )


def find_exports(folder: Path | None) -> list[Export]:
    """The files of a folder that are exports, by name."""
    if folder is None or not folder.is_dir():
        return []
    paths = sorted(
        path for path in folder.iterdir() if path.suffix in MEDIA_TYPES and path.is_file()
    )
    found = []
    for path in paths:
        stat = path.stat()
        digest = _digest(path, stat.st_size, stat.st_mtime_ns)
        found.append(Export(path, digest, stat.st_size))
    return found


@lru_cache(maxsize=64)
def _digest(path: Path, _size: int, _changed_ns: int) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            total.update(block)
    return f"sha256:{total.hexdigest()}"


def _folder(request: Request) -> Path | None:
    folder: Path | None = request.app.state.exports
    return folder


ENDPOINTS = (
    Endpoint(
        path="/exports",
        name="list_exports",
        summary="The whole catalog as files",
        tag="formats",
        handler=exports,
        answer=ExportList,
        example=examples.EXPORTED,
        slow=True,
    ),
    Endpoint(
        path="/exports/{ident}",
        name="get_export",
        summary="One export",
        tag="formats",
        handler=export,
        inside={"ident": ("name or digest of the file", "catalog.jsonl.zst")},
        schema={"type": "string", "format": "binary"},
        media_type="application/zstd",
        codes=(*PATH_CODES, "export.not_found"),
        slow=True,
    ),
)
