"""A GPU's name that means several GPUs, or one that nothing was measured on, is understood."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.site import create_app
from tests.catalog.factories import World, make_environment, make_snapshot
from tests.support.site import UNHURRIED
from tests.web.pages.reading import links_of, read_rows

SXM, PCIE = "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"
LABELS = {"h100-sxm5-80gb": "H100 SXM5 80GB", "h100-pcie-80gb": "H100 PCIe 80GB"}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One kernel on two products of a family, and on a third GPU."""
    with site_of(tmp_path_factory.mktemp("several"), (SXM, PCIE, "NVIDIA H200")) as client:
        yield client


@contextmanager
def site_of(folder: Path, products: tuple[str, ...]) -> Iterator[TestClient]:
    """The site of one kernel's runs on these GPUs."""
    rows = []
    for place, product in enumerate(products, start=1):
        world = World()
        world.environment = make_environment(product)
        rows += [world.row(name, 1000 * place, where=name) for name in ("one", "two")]
    url = f"sqlite:///{folder / 'ki.db'}"
    with Catalog.create(url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        app = create_app(catalog=catalog, cache=folder / "charts", rates=UNHURRIED)
        with TestClient(app, follow_redirects=False) as client:
            yield client


def page_of(client: TestClient) -> str:
    """The path of the one operation."""
    return links_of(client.get("/operations").text)["scale"]


def groups_on(page: str) -> set[str]:
    """The GPUs of the groups that a page lists."""
    listed = [row[1] for row in read_rows(page) if len(row) == 5 and row[0].startswith("n=")]
    return {label for label in (*LABELS.values(), "H200 SXM 141GB") if label in " ".join(listed)}


def test_a_family_shows_each_of_its_gpus_and_how_to_ask_for_one(several: TestClient) -> None:
    path = page_of(several)
    answer = several.get(path, params={"gpu": "H100", "metric": "latency"})
    assert answer.status_code == 200
    assert groups_on(answer.text) == set(LABELS.values())
    assert "means 2 GPUs with results here" in answer.text
    links = links_of(answer.text.split("means 2 GPUs", 1)[1])
    for hardware, label in LABELS.items():
        assert links[label] == f"{path}?gpu={hardware}&metric=latency#groups"
        assert groups_on(several.get(links[label]).text) == {label}
    assert '<option value="H100" selected>' in answer.text


def test_a_name_of_one_gpu_says_nothing_of_others(several: TestClient) -> None:
    answer = several.get(page_of(several), params={"gpu": "H100 PCIe"})
    assert groups_on(answer.text) == {"H100 PCIe 80GB"}
    assert "GPUs with results here" not in answer.text


def test_a_gpu_without_results_is_no_mistake(several: TestClient) -> None:
    answer = several.get(page_of(several), params={"gpu": "MI300X"})
    assert answer.status_code == 200
    assert groups_on(answer.text) == set()
    assert "No group meets every filter" in answer.text


def test_what_names_no_gpu_is_still_refused(several: TestClient) -> None:
    answer = several.get(page_of(several), params={"gpu": "H1O0"})
    assert answer.status_code == 400
    assert "wanted a GPU such as H100" in answer.text


def test_runs_of_one_implementation_on_a_family_are_listed(several: TestClient) -> None:
    path = links_of(several.get("/implementations").text)["one"]
    for name, labels in (("H100", set(LABELS.values())), ("H200", {"H200 SXM 141GB"})):
        answer = several.get(path, params={"gpu": name})
        assert answer.status_code == 200
        runs = [row for row in read_rows(answer.text) if len(row) == 7 and row[0].startswith("n=")]
        assert len(runs) == len(labels)
        assert all(any(label in row[1] for label in labels) for row in runs)


def test_a_name_of_one_measured_gpu_filters_lists(several: TestClient) -> None:
    answer = several.get("/runs", params={"gpu": "H100 SXM"})
    assert answer.status_code == 200
    rows = read_rows(answer.text)[1:]
    assert len(rows) == 2
    assert ["H100 SXM5 80GB" in " ".join(row) for row in rows] == [True, True]


@pytest.mark.parametrize("path", ["/runs?status=passed&gpu=H100+SXM", "/records?gpu=H100+SXM"])
@pytest.mark.slow
def test_a_name_of_some_of_a_family_offers_each_of_them(path: str, tmp_path: Path) -> None:
    with site_of(tmp_path, (SXM, "NVIDIA H100 SXM5", PCIE)) as client:
        answer = client.get(path)
        assert answer.status_code == 400
        assert "h100-sxm5" in answer.text
        links = links_of(answer.text)
        for label in ("H100 SXM5 80GB", "H100 SXM5"):
            assert client.get(links[label]).status_code == 200
        assert links["H100 SXM5"] == path.replace("H100+SXM", "h100-sxm5")
        assert "H100 PCIe 80GB" not in links
        refused = client.get(f"/api/v1{path}")
        assert (refused.status_code, refused.json()["code"]) == (422, "request.several_gpus")
        assert "h100-sxm5-80gb" in refused.json()["problems"][0]["wanted"]
