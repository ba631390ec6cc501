"""Sites to ask: one over the workload of record, one over hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.intake import ProjectLink
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.catalog.factories import World, make_snapshot, skipped
from tests.support.shared import shared_path
from tests.support.site import UNHURRIED
from tests.web.pages.reading import HOSTILE

LIGER = "data/liger/all_benchmark_data.csv"


def _import(catalog: Catalog, source: str, path: Path | None = None) -> None:
    snapshot, records = find_source(source).read(path)
    import_records(catalog, snapshot, records)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The starter evidence and every fused MoE row of Liger's file, over HTTP."""
    lines = shared_path(LIGER).read_text().splitlines(keepends=True)
    folder = tmp_path_factory.mktemp("pages")
    rows = folder / "liger.csv"
    rows.write_text(lines[0] + "".join(line for line in lines if line.startswith("fused_moe,")))
    with Catalog.create(f"sqlite:///{folder / 'ki.db'}") as catalog:
        _import(catalog, "starter")
        _import(catalog, "liger", rows)
        app = create_app(catalog=catalog, cache=folder / "charts", rates=UNHURRIED)
        with TestClient(app, follow_redirects=False) as client:
            yield client


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Two entries whose names are markup, formulas and marks of direction."""
    folder = tmp_path_factory.mktemp("hostile")
    world = World()
    rows = []
    for place, (name, title) in enumerate(HOSTILE.items()):
        made = world.implementation(name)
        link = ProjectLink(implementation_digest=made.digest, project=name, source="test")
        row = world.row(name, 1000 * (place + 1), links=(link,))
        rows.append(_titled(row, title))
    with Catalog.create(f"sqlite:///{folder / 'ki.db'}") as catalog:
        import_records(catalog, make_snapshot(), [*rows, skipped("blank_row")])
        app = create_app(catalog=catalog, cache=folder / "charts", rates=UNHURRIED)
        with TestClient(app, follow_redirects=False) as client:
            yield client


def _titled(row: object, title: str) -> object:
    """The row with another title on its implementation; titles are not part of a digest."""
    from dataclasses import replace

    from kernelindex.manifests import parse

    manifests = []
    for manifest in row.manifests:  # type: ignore[attr-defined]
        document = dict(manifest.document)
        if manifest.kind == "ImplementationRevision":
            document["metadata"] = {**document["metadata"], "title": title}
        manifests.append(parse(document))
    return replace(row, manifests=tuple(manifests))  # type: ignore[type-var]
