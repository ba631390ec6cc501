"""A client of the API over a catalog, and catalogs that misbehave."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from kernelindex.api import create_api, feeds
from kernelindex.catalog.rows import Found

BASE = "/api/v1"


def make_app(catalog: Any, **options: Any) -> Starlette:
    """The API mounted as the site mounts it, and the feeds; no rates unless asked for."""
    options.setdefault("rates", None)
    api = Mount(BASE, create_api(catalog, **options))
    return Starlette(routes=[*feeds.routes(catalog), api])


def make_client(catalog: Any, **options: Any) -> TestClient:
    """A client of such an application."""
    app = make_app(catalog, **options)
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


class Stand:
    """Stands in for a catalog, with some of its reads replaced."""

    def __init__(self, catalog: Any, **reads: Any) -> None:
        self._catalog = catalog
        self._reads = reads

    def __getattr__(self, name: str) -> Any:
        return self._reads[name] if name in self._reads else getattr(self._catalog, name)


def raising(error: Exception) -> Any:
    """A read that fails."""

    def read(*_: Any, **__: Any) -> Any:
        raise error

    return read


def two_of_each(ident: str, *asked: str) -> list[Found]:
    """Two objects of every kind under one name."""
    kinds = (
        "BenchmarkRun",
        "OperationSpec",
        "ImplementationRevision",
        "WorkloadCase",
        "BenchmarkProtocol",
        "ExecutionEnvironment",
        "SoftwareProject",
    )
    return [
        Found(kind=name, digest=f"sha256:{digit * 64}", title="twin", via="name", slug=None)
        for name in kinds
        if not asked or name in asked
        for digit in "12"
    ]
