"""The child process that draws: Vega-Lite in, SVG or PNG out, until its input ends.

Standard library and vl-convert only, started by path, so that it loads nothing of the
index. One request is a line of JSON; one answer is a line of JSON that gives the number
of bytes, then the bytes.
"""

from __future__ import annotations

import json
import os
import selectors
import sys
from typing import Any

IDLE_SECONDS = 600.0
NICENESS = 5


def draw(request: dict[str, Any]) -> bytes:
    """The image that a request asks for; nothing is ever fetched."""
    import vl_convert

    if request["what"] == "card":
        return bytes(vl_convert.svg_to_png(request["svg"], scale=request["scale"]))
    settings = {
        "vl_version": request["vl_version"],
        "config": request["config"],
        "allowed_base_urls": [],
    }
    if request["what"] == "png":
        return bytes(
            vl_convert.vegalite_to_png(request["spec"], scale=request["scale"], **settings)
        )
    return str(vl_convert.vegalite_to_svg(request["spec"], **settings)).encode()


def answer(line: bytes) -> tuple[dict[str, Any], bytes]:
    """The head and the body of one answer; a failure is told, not raised."""
    try:
        body = draw(json.loads(line))
    except Exception as error:  # the parent turns it into its own error
        return {"ok": False, "error": f"{type(error).__name__}: {error}"[:500], "bytes": 0}, b""
    return {"ok": True, "bytes": len(body)}, body


def main() -> None:
    """Serve requests until the input ends or nothing has come for ten minutes."""
    os.nice(NICENESS)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    waiting = selectors.DefaultSelector()
    waiting.register(source, selectors.EVENT_READ)
    while waiting.select(IDLE_SECONDS):
        line = source.readline()
        if not line:
            return
        head, body = answer(line)
        sink.write(json.dumps(head).encode() + b"\n" + body)
        sink.flush()


if __name__ == "__main__":
    main()
