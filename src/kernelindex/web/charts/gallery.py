"""Charts as files: addresses, pictures from the cache or freshly drawn, data tables."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import orjson

from kernelindex.web.charts.chart import (
    ENCODING_VERSION,
    KINDS,
    NARROW,
    WIDE,
    Chart,
    Frame,
    Kind,
    chart_from_dict,
)
from kernelindex.web.charts.looks import LOOKS
from kernelindex.web.charts.render import PNG_SCALE, RenderError, library_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.web.cards import Card
    from kernelindex.web.charts.cache import FileCache
    from kernelindex.web.charts.chart import NotDrawn
    from kernelindex.web.charts.looks import LookName
    from kernelindex.web.charts.render import Renderer

Ending = Literal["svg", "png", "csv", "json"]

MEDIA_TYPES: dict[str, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
MAX_WAITING = 8
_NAME = re.compile(
    r"(?P<digest>[0-9a-f]{32})(?P<narrow>-narrow)?(?P<dark>-dark)?\.(?P<ending>svg|png|csv|json)"
)


@dataclass(frozen=True, slots=True)
class Address:
    """What a chart's file name asks for."""

    kind: Kind
    digest: str
    frame: Frame
    look: LookName
    ending: Ending

    @classmethod
    def parse(cls, kind: str, name: str) -> Address | None:
        """The address that ``/charts/<kind>/<name>`` is, or None where it is none."""
        match = _NAME.fullmatch(name)
        known = next((one for one in KINDS if one == kind), None)
        if match is None or known is None:
            return None
        ending: Ending = match["ending"]  # type: ignore[assignment]  # the pattern's four
        frame = NARROW if match["narrow"] else WIDE
        return cls(known, match["digest"], frame, "dark" if match["dark"] else "light", ending)

    def path(self, subject: str = "") -> str:
        """The path, with the subject that lets the file be made again."""
        narrow = "-narrow" if self.frame.is_narrow else ""
        dark = "-dark" if self.look == "dark" else ""
        asked = f"?of={quote(subject, safe='/:')}" if subject else ""
        return f"/charts/{self.kind}/{self.digest}{narrow}{dark}.{self.ending}{asked}"


@dataclass(frozen=True, slots=True)
class Picture:
    """A file to serve, the same for ever under its address."""

    body: bytes
    media_type: str
    etag: str


@dataclass(frozen=True, slots=True)
class Moved:
    """The subject is drawn differently by now; ``path`` is where."""

    path: str


@dataclass(frozen=True, slots=True)
class Missing:
    """No such chart; ``reason`` in words."""

    reason: str


class Gallery:
    """Finds, draws and keeps the files of charts.

    ``build`` makes the chart of a subject from the catalog as it is now.
    """

    def __init__(
        self,
        cache: FileCache,
        renderer: Renderer,
        build: Callable[[Kind, str, Frame], Chart | NotDrawn | None],
    ) -> None:
        self._cache = cache
        self._renderer = renderer
        self._build = build
        self._turn = threading.Lock()
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)

    def fetch(self, address: Address, subject: str = "") -> Picture | Moved | Missing:
        """The file at an address: from the cache, else drawn from its kept specification,
        else from its subject.

        Raises RenderError ``chart.render_timeout``, ``_failed``, ``_busy``.
        """
        body = self._cache.get(file_name(address))
        if body is None:
            chart = self._kept(address) or self._rebuilt(address, subject)
            if not isinstance(chart, Chart):
                return chart
            body = self.draw(chart, address)
        return Picture(body, MEDIA_TYPES[address.ending], f'"{file_name(address)}"')

    def draw(self, chart: Chart, address: Address) -> bytes:
        """The file of a chart, kept with its specification for the other forms."""
        self._cache.put(_kept_name(chart.digest), orjson.dumps(chart.to_dict()))
        name = file_name(address)
        if address.ending == "csv":
            body = chart.table.to_csv().encode()
        elif address.ending == "json":
            body = orjson.dumps({**chart.to_dict(), "spec": LOOKS[address.look].paint(chart.spec)})
        else:
            look, form = address.look, address.ending
            return self._in_turn(name, lambda: self._renderer.draw(chart, look, form))
        self._cache.put(name, body)
        return body

    def card(self, card: Card) -> bytes:
        """The PNG of a social card, kept by what is drawn.

        Raises RenderError ``chart.render_timeout``, ``_failed``, ``_busy``.
        """
        named = hashlib.sha256(f"{card.digest}|{library_version()}".encode()).hexdigest()[:40]
        kept = self._cache.get(f"{named}.png")
        return kept or self._in_turn(
            f"{named}.png", lambda: self._renderer.rasterise(card.to_svg())
        )

    def _in_turn(self, name: str, draw: Callable[[], bytes]) -> bytes:
        """Draw and keep, one at a time; who waited for the same file finds it kept.

        Only a few may wait, so that pictures never take all threads of the server.
        """
        if not self._waiting.acquire(blocking=False):
            raise RenderError(
                f"{MAX_WAITING} pictures are waiting to be drawn; ask again in some seconds",
                code="chart.render_busy",
            )
        try:
            with self._turn:
                body = self._cache.get(name)
                if body is None:
                    body = draw()
                    self._cache.put(name, body)
                return body
        finally:
            self._waiting.release()

    def _kept(self, address: Address) -> Chart | None:
        data = self._cache.get(_kept_name(address.digest))
        if data is None:
            return None
        try:
            chart = chart_from_dict(orjson.loads(data))
        except (ValueError, KeyError, TypeError):
            return None
        return chart if chart.digest == address.digest and chart.kind == address.kind else None

    def _rebuilt(self, address: Address, subject: str) -> Chart | Moved | Missing:
        if not subject:
            return Missing("This chart is not kept any more; open the page that shows it.")
        chart = self._build(address.kind, subject, address.frame)
        if chart is None:
            return Missing("Nothing here has the name that this chart is about.")
        if not isinstance(chart, Chart):
            return Missing(chart.reason)
        if chart.digest != address.digest:
            return Moved(address_of(chart, address.look, address.ending).path(subject))
        return chart


def address_of(chart: Chart, look: LookName = "light", ending: Ending = "svg") -> Address:
    """Where a chart's file is."""
    frame = NARROW if chart.width == NARROW.width else WIDE
    return Address(chart.kind, chart.digest, frame, look, ending)


def file_name(address: Address) -> str:
    """The name in the cache: of what decides the bytes."""
    parts = [address.digest, address.ending, str(ENCODING_VERSION)]
    if address.ending != "csv":
        parts += [str(address.look), library_version(), str(PNG_SCALE)]
    named = hashlib.sha256("|".join(parts).encode()).hexdigest()[:40]
    return f"{named}.{address.ending}"


def _kept_name(digest: str) -> str:
    return f"{digest}.spec"
