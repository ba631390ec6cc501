"""The same pages over either database."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.site import create_app
from tests.catalog.factories import World, make_snapshot
from tests.web.pages.reading import links_of

PAGES = (
    "/operations?sort=name&family=test",
    "/operations?q=scale",
    "/implementations?sort=name",
    "/implementations?sort=runs",
    "/projects?sort=implementations",
    "/hardware?measured=yes",
    "/hardware/h100-sxm5-80gb",
    "/runs?gpu=h100-sxm5-80gb&status=passed",
    "/runs?sort=oldest",
    "/records",
    "/records?sort=oldest",
    "/sources",
    "/implementations/fast",
)


def test_every_page_answers(catalog_url: str, tmp_path: Path) -> None:
    world = World()
    rows = [world.row("slow", 3000), world.row("fast", 1000)]
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        family = catalog.operations()[0].family
        app = create_app(catalog=catalog, cache=tmp_path / "charts")
        with TestClient(app, follow_redirects=False) as client:
            for path in PAGES:
                answer = client.get(path.replace("family=test", f"family={family}"))
                assert answer.status_code == 200, path
            listed = links_of(client.get("/runs").text)
            runs = [href[6:] for href in listed.values() if href.startswith("/runs/")]
            page = client.get(f"/compare?run={runs[0]}&run={runs[1]}").text
            assert "1.00 µs against 3.00 µs, 3.0" in page or "3.00 µs against 1.00 µs, 3.0" in page
            operation = links_of(client.get("/operations").text)["scale"]
            assert "fast leads (only 2 measured), 1.00 µs" in client.get(operation).text
