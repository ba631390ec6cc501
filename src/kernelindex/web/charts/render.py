"""Charts to SVG and PNG in a child process that can be stopped when it takes too long."""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import escape, unescape

from kernelindex.errors import KernelIndexError
from kernelindex.web.charts.looks import LOOKS, LookName
from kernelindex.web.charts.text import has_known_width, text_width

if TYPE_CHECKING:
    from types import TracebackType

    from kernelindex.web.charts.chart import Chart

Form = Literal["svg", "png"]

VEGA_LITE = "6.4"
TIME_LIMIT_S = 10.0
MAX_IMAGE_BYTES = 8 * 2**20
PNG_SCALE = 2.0
_TEXT = re.compile(r"<text(?P<attributes>[^<>]*)>(?P<said>[^<>]*)</text>")
_FULL = re.compile(r' aria-label="(?P<full>[^"]*)" role="[^"]*" aria-roledescription="[^"]*"')
_SIZE = re.compile(r'font-size="([0-9.]+)px"')
_WORKER = Path(__file__).with_name("worker.py")
_TRIES = 2


class RenderError(KernelIndexError):
    """Raised when a chart could not be drawn in time, or at all.

    Codes ``chart.render_timeout``, ``chart.render_failed`` and ``chart.render_busy``.
    """

    code = "chart.render_failed"


class _Refused(RenderError):
    """Raised when vl-convert itself says that a chart is wrong."""


def library_version() -> str:
    """What decides the bytes besides the chart: the renderer's versions."""
    return f"vl-convert {version('vl-convert-python')}, vega-lite {VEGA_LITE}"


class Renderer:
    """One child process with vl-convert, started on first use and again when it died.

    Safe to share between threads: they take turns. ``close`` ends the child.
    """

    def __init__(self, *, time_limit_s: float = TIME_LIMIT_S) -> None:
        self._time_limit_s = time_limit_s
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def draw(self, chart: Chart, look: LookName = "light", form: Form = "svg") -> bytes:
        """The image of a chart; the same chart, look and versions give the same bytes.

        Raises RenderError ``chart.render_timeout``, ``chart.render_failed``.
        """
        painted = LOOKS[look].paint(chart.spec)
        config = painted.pop("config")
        request = {"what": form, "spec": painted, "config": config, "vl_version": VEGA_LITE}
        body = self.ask({**request, "scale": PNG_SCALE})
        return (
            describe_svg(settle_texts(body.decode()), chart.title, chart.alt, chart.digest)
            if (form == "svg")
            else body
        )

    def rasterise(self, svg: str, scale: float = 1.0) -> bytes:
        """A PNG of our own SVG (a social card).

        Raises RenderError ``chart.render_timeout``, ``chart.render_failed``.
        """
        return self.ask({"what": "card", "svg": svg, "scale": scale})

    def ask(self, request: dict[str, Any]) -> bytes:
        """The worker's answer to one request; the child is ended when it is late.

        Raises RenderError ``chart.render_timeout``, ``chart.render_failed``.
        """
        line = json.dumps(request).encode() + b"\n"
        deadline = time.monotonic() + self._time_limit_s
        if not self._lock.acquire(timeout=self._time_limit_s):
            raise RenderError(_late(self._time_limit_s), code="chart.render_timeout")
        try:
            for _ in range(_TRIES):
                body = self._try(line, deadline)
                if body is not None:
                    return body
            raise RenderError("the drawing process ended twice before it answered")
        except _Refused:  # the child said so itself and is well
            raise
        except RenderError:
            self._end()
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            self._end()
        atexit.unregister(self.close)

    def _try(self, line: bytes, deadline: float) -> bytes | None:
        """One answer; None where the child had ended, as it does after an idle minute."""
        child = self._started()
        assert child.stdin is not None
        try:
            child.stdin.write(line)
            child.stdin.flush()
            head = json.loads(self._read_line(child, deadline))
            if not head["ok"]:
                raise _Refused(f"vl-convert refused the chart: {head['error']}")
            return self._read(child, int(head["bytes"]), deadline)
        except (BrokenPipeError, EOFError):
            self._end()
            return None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._end()
            self._child = subprocess.Popen(
                [sys.executable, "-I", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()

    def _read_line(self, child: subprocess.Popen[bytes], deadline: float) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            found += self._read(child, 1, deadline)
        return found

    def _read(self, child: subprocess.Popen[bytes], count: int, deadline: float) -> bytes:
        """Exactly ``count`` bytes before the deadline."""
        assert child.stdout is not None
        if count > MAX_IMAGE_BYTES:
            raise RenderError(f"the image has {count:,} bytes; at most {MAX_IMAGE_BYTES:,}")
        parts: list[bytes] = []
        with selectors.DefaultSelector() as waiting:
            waiting.register(child.stdout, selectors.EVENT_READ)
            while count:
                left = deadline - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    raise RenderError(_late(self._time_limit_s), code="chart.render_timeout")
                part = os.read(child.stdout.fileno(), count)
                if not part:
                    raise EOFError
                parts.append(part)
                count -= len(part)
        return b"".join(parts)


def _late(limit_s: float) -> str:
    return f"the chart was not drawn within {limit_s:g} s; ask again later or read its data as CSV"


def settle_texts(svg: str) -> str:
    """Texts told how wide they are, so that a reader's other font moves nothing.

    Letters of a wider font are drawn narrower; closer together they would run into each other.
    Only those whose every character has a known width. A text that was cut, which the
    renderer describes in an attribute, gets its whole as a title, which viewers show.
    """
    return _TEXT.sub(_settled, svg)


def _settled(match: re.Match[str]) -> str:
    attributes = match["attributes"]
    full = _FULL.search(attributes)
    title = f"<title>{full['full']}</title>" if full else ""
    attributes = _FULL.sub("", attributes)
    return f"<text{attributes}{_length(match)}>{match['said']}{title}</text>"


def _length(match: re.Match[str]) -> str:
    """The attributes that state how wide a text is, where that is known."""
    said, attributes = unescape(match["said"]), match["attributes"]
    size = _SIZE.search(attributes)
    if size is None or not said or not has_known_width(said):
        return ""
    width = text_width(said, float(size[1]), bold='font-weight="bold"' in attributes)
    return f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'


def describe_svg(svg: str, title: str, alt: str, digest: str) -> bytes:
    """The SVG as one image with a title and a description for those who do not see it."""
    head, closing, rest = svg.partition(">")
    names = f"t-{digest[:12]}", f"d-{digest[:12]}"
    words = (
        f'<title id="{names[0]}">{escape(title)}</title><desc id="{names[1]}">{escape(alt)}</desc>'
    )
    return (
        f'{head} role="img" aria-labelledby="{names[0]} {names[1]}"{closing}{words}{rest}'.encode()
    )
