from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from kernelindex.web.charts.cache import FileCache
from kernelindex.web.charts.chart import NARROW, WIDE, Chart, Frame, Kind, NotDrawn
from kernelindex.web.charts.cohort import cohort_chart
from kernelindex.web.charts.figure import figure_of
from kernelindex.web.charts.gallery import (
    MAX_WAITING,
    Address,
    Gallery,
    Missing,
    Moved,
    Picture,
    address_of,
)
from kernelindex.web.charts.render import Renderer, RenderError
from kernelindex.web.charts.routes import chart_routes
from tests.web.charts.factories import cohort, draw_cohort, entry, record_pair

OLD = draw_cohort(cohort(entry("old")))


class Builder:
    """Draws the record pair for one subject, and counts."""

    def __init__(self) -> None:
        self.asked: list[tuple[Kind, str, Frame]] = []

    def __call__(self, kind: Kind, subject: str, frame: Frame) -> Chart | NotDrawn | None:
        self.asked.append((kind, subject, frame))
        if subject == "empty":
            return cohort_chart(cohort())
        return cohort_chart(record_pair(), frame) if subject == "a834895d9c1b" else None


@pytest.fixture
def builder() -> Builder:
    return Builder()


@pytest.fixture
def gallery(tmp_path: Path, renderer: Renderer, builder: Builder) -> Gallery:
    return Gallery(FileCache(tmp_path), renderer, builder)


def address(chart: Chart, ending: str = "svg") -> Address:
    return address_of(chart, ending=ending)  # type: ignore[arg-type]


def test_an_address_is_read_as_it_is_written() -> None:
    narrow = address_of(draw_cohort(record_pair(), NARROW), "dark", "png")
    path = narrow.path("a834895d9c1b")
    assert path == f"/charts/cohort/{narrow.digest}-narrow-dark.png?of=a834895d9c1b"
    assert Address.parse("cohort", path.split("/")[3].split("?")[0]) == narrow


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pie", "0" * 32 + ".svg"),
        ("cohort", "0" * 31 + ".svg"),
        ("cohort", "0" * 32 + ".gif"),
        ("cohort", "../" + "0" * 32 + ".svg"),
        ("cohort", "0" * 32 + "-blue.svg"),
    ],
)
def test_what_is_no_address_is_none(kind: str, name: str) -> None:
    assert Address.parse(kind, name) is None


def test_a_subject_is_hostile_text_too() -> None:
    assert address_of(OLD).path('x"&<>/y z').endswith("?of=x%22%26%3C%3E/y%20z")


def test_a_chart_is_drawn_once_and_then_kept(gallery: Gallery, builder: Builder) -> None:
    chart = draw_cohort(record_pair())
    first = gallery.fetch(address(chart), "a834895d9c1b")
    assert isinstance(first, Picture)
    assert gallery.fetch(address(chart)) == first
    csv = gallery.fetch(address(chart, "csv"))  # from the kept specification
    assert isinstance(csv, Picture)
    assert b"63962017.0" in csv.body
    assert builder.asked == [("cohort", "a834895d9c1b", WIDE)]


def test_a_chart_of_another_time_leads_to_the_one_of_now(gallery: Gallery) -> None:
    found = gallery.fetch(address(OLD), "a834895d9c1b")
    assert found == Moved(address(draw_cohort(record_pair())).path("a834895d9c1b"))


@pytest.mark.parametrize("subject", ["", "unknown", "empty"])
def test_what_cannot_be_made_again_is_missing(gallery: Gallery, subject: str) -> None:
    assert isinstance(gallery.fetch(address(OLD), subject), Missing)


def test_a_kept_specification_of_another_kind_is_not_served(gallery: Gallery) -> None:
    chart = draw_cohort(record_pair())
    gallery.fetch(address(chart, "csv"), "a834895d9c1b")
    other = Address("sweep", chart.digest, WIDE, "dark", "svg")
    assert isinstance(gallery.fetch(other), Missing)


def test_routes_serve_for_ever_and_safely(gallery: Gallery) -> None:
    chart = draw_cohort(record_pair())
    client = TestClient(Starlette(routes=chart_routes(gallery)))
    svg = client.get(address(chart).path("a834895d9c1b"))
    assert svg.status_code == 200
    assert svg.headers["content-type"].startswith("image/svg+xml")
    assert "immutable" in svg.headers["cache-control"]
    assert svg.headers["content-security-policy"].startswith("default-src 'none'")
    again = client.get(address(chart).path(), headers={"If-None-Match": svg.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    data = client.get(address(chart, "json").path()).json()
    assert data["alt"] == chart.alt
    assert data["table"]["rows"][1][4] == 63_962_017.0


def test_routes_redirect_and_refuse(gallery: Gallery) -> None:
    client = TestClient(Starlette(routes=chart_routes(gallery)), follow_redirects=False)
    moved = client.get(address(OLD).path("a834895d9c1b"))
    assert moved.status_code == 307
    assert moved.headers["location"] == address(draw_cohort(record_pair())).path("a834895d9c1b")
    assert client.get(address(OLD).path()).status_code == 404
    assert client.get("/charts/cohort/nonsense.svg").status_code == 404


def test_a_late_drawing_is_asked_for_again(tmp_path: Path, builder: Builder) -> None:
    with Renderer(time_limit_s=0.01) as slow:
        late = Gallery(FileCache(tmp_path), slow, builder)
        client = TestClient(Starlette(routes=chart_routes(late)))
        answer = client.get(address(draw_cohort(record_pair())).path("a834895d9c1b"))
    assert answer.status_code == 503
    assert answer.json()["code"] == "chart.render_timeout"
    assert answer.headers["retry-after"] == "5"


def test_only_a_few_pictures_wait_at_once(tmp_path: Path, builder: Builder) -> None:
    class Stuck:
        def __init__(self) -> None:
            self.go = threading.Event()

        def draw(self, *_: object) -> bytes:
            assert self.go.wait(60)
            return b"<svg/>"

    stuck = Stuck()
    gallery = Gallery(FileCache(tmp_path), stuck, builder)  # type: ignore[arg-type]
    wanted = address(draw_cohort(record_pair()))
    with ThreadPoolExecutor(MAX_WAITING) as pool:
        waiting = [pool.submit(gallery.fetch, wanted, "a834895d9c1b") for _ in range(MAX_WAITING)]
        while gallery._waiting._value:
            time.sleep(0.001)
        with pytest.raises(RenderError) as caught:
            gallery.fetch(wanted, "a834895d9c1b")
        stuck.go.set()
        pictures = {one.result().body for one in waiting if isinstance(one.result(), Picture)}
    assert caught.value.code == "chart.render_busy"
    assert pictures == {b"<svg/>"}


def test_a_figure_has_an_address_for_each_use() -> None:
    wide, narrow = draw_cohort(record_pair()), draw_cohort(record_pair(), NARROW)
    figure = figure_of(wide, narrow, "a834895d9c1b")
    assert figure.wide == address(wide).path("a834895d9c1b")
    assert figure.narrow_dark == f"/charts/cohort/{narrow.digest}-narrow-dark.svg?of=a834895d9c1b"
    assert figure.csv.startswith(f"/charts/cohort/{wide.digest}.csv")
    assert (figure.width, figure.height) == (720, wide.height)
