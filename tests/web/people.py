"""A site over a catalog of two runs, and a browser without script that fills forms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog
from kernelindex.community import Quotas
from kernelindex.site import create_app
from tests.community.factories import Clock, filled_copy, filled_switch, make_key
from tests.support.folders import lasting_folder
from tests.support.site import UNHURRIED


class FormReader(HTMLParser):
    """The first posting form of a page: where it goes and what it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self._inside = False
        self._done = False
        self._area: str | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("method") == "post" and not self._done:
            if given["action"].endswith("/logout"):
                return
            self._inside, self.action = True, given["action"]
        if not self._inside:
            return
        if tag == "input":
            self.fields[given["name"]] = given.get("value", "")
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and ("selected" in given or self._select not in self.fields):
            self.fields[self._select] = given["value"]
        elif tag == "textarea":
            self._area = given["name"]
            self.fields[self._area] = ""

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.fields[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            self.fields[self._area] = self.fields[self._area].removeprefix("\n")
            self._area = None
        if tag == "form" and self._inside:
            self._inside, self._done = False, True


@dataclass
class Browser:
    """Asks for pages and sends forms back with their hidden fields and cookies."""

    client: TestClient

    def get(self, path: str) -> httpx2.Response:
        return self.client.get(path)

    def form(self, path: str) -> FormReader:
        return read_form(self.get(path))

    def send(self, path: str, **values: str) -> httpx2.Response:
        """Fill the form of a page and send it."""
        form = self.form(path)
        assert form.action, path
        return self.post(form.action, form.fields | values)

    def post(self, path: str, fields: dict[str, Any]) -> httpx2.Response:
        return self.client.post(path, data=fields)


def read_form(page: httpx2.Response) -> FormReader:
    reader = FormReader()
    reader.feed(page.text)
    return reader


@dataclass
class Site:
    """The whole site with a clock that tests move."""

    catalog: Catalog
    clock: Clock
    app: Starlette
    browser: Browser
    fast: str
    slow: str

    @property
    def run(self) -> str:
        return f"/runs/{self.fast[7:19]}"

    def key(self, *scopes: str, **more: Any) -> str:
        return make_key(self.catalog, self.clock, *scopes, **more).token

    def new_browser(self, base: str = "http://testserver") -> Browser:
        return Browser(TestClient(self.app, base_url=base, follow_redirects=False))


@cache
def _app() -> Starlette:
    """One application for all tests; each puts its own catalog behind it."""
    switch: Any = filled_switch()
    return create_app(catalog=switch, cache=lasting_folder("charts"), rates=UNHURRIED)


@contextmanager
def open_site(folder: Path) -> Iterator[Site]:
    """The site over a catalog of its own in a folder."""
    clock = Clock()
    url, fast, slow = filled_copy(folder)
    with Catalog.open(url) as catalog:
        app = _app()
        app.state.catalog, app.state.clock, app.state.quotas = catalog, clock, Quotas()
        site = Site(catalog, clock, app, None, fast, slow)  # type: ignore[arg-type]
        site.browser = site.new_browser()
        yield site
