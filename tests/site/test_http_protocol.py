"""A client that takes too long, asks too much or breaks off is refused, and fills no log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.server import ServerState

from kernelindex.site import create_app, http_protocol
from kernelindex.site.http_protocol import MOST_HEAD_BYTES, BoundedHttpProtocol
from tests.support.site import record_runs, starter

MOST_S = 60.0
"""How long a test waits for what takes milliseconds."""
HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n"


async def app(scope, receive, send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Heard(BoundedHttpProtocol):
    """Knows how much reached it and whether the connection is over."""

    heard = 0
    lost = False

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.heard += len(data)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost = True


async def until(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(MOST_S):
        while not what():
            await asyncio.sleep(0.002)


async def answer_to(*parts: bytes, by: ASGIApp = app, leaving: bool = False) -> bytes:
    """What a server says to a client that sends these and then waits for it to hang up.

    Each part has reached the server before the next is sent, and nothing of the server runs
    any more at the end: cut off then, the application would seem to have failed. One who is
    ``leaving`` does not wait.
    """
    config = Config(by, http=BoundedHttpProtocol, ws="none", log_config=None)
    config.load()
    loop, state, said, sent = asyncio.get_running_loop(), ServerState(), b"", 0
    made: list[Heard] = []

    def protocol() -> Heard:
        made.append(Heard(config, state, {}))
        return made[-1]

    async with await loop.create_server(protocol, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for part in parts:
            writer.write(part)
            sent += len(part)
            await until(partial(_has, made, sent))
        if not leaving:
            said = await _until_hung_up(reader)
        writer.close()
        await until(lambda: made[0].lost and not state.tasks)
    return said


def _has(made: list[Heard], count: int) -> bool:
    return any(one.lost or one.heard >= count for one in made)


async def _until_hung_up(reader: asyncio.StreamReader) -> bytes:
    """What is said until then; who is hung up on while still sending may be told by a reset."""
    async with asyncio.timeout(MOST_S):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize("sent", [(), (b"GET / HT",), (HEAD, b"ab")], ids=["none", "head", "body"])
def test_an_unfinished_request_ends(sent: tuple[bytes, ...], monkeypatch) -> None:
    monkeypatch.setattr(http_protocol, "MOST_HEAD_S", 0.2)
    monkeypatch.setattr(http_protocol, "MOST_BODY_S", 0.2)
    assert asyncio.run(answer_to(*sent)) == b""


def test_a_slow_but_whole_request_is_answered(monkeypatch) -> None:
    monkeypatch.setattr(http_protocol, "MOST_HEAD_S", MOST_S)
    said = asyncio.run(answer_to(b"GET / HTTP/1.1\r\n", b"host: x\r\nconnection: close\r\n\r\n"))
    assert said.startswith(b"HTTP/1.1 204")


class Wire(asyncio.Transport):
    """Keeps what is said on it; no socket hands over 100 kB in one piece for certain."""

    def __init__(self) -> None:
        super().__init__()
        self.said = b""
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.said += data

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def answer_at_once(sent: bytes) -> bytes:
    """What the protocol says to bytes that are handed over in one piece."""
    config = Config(app, http=BoundedHttpProtocol, ws="none", log_config=None)
    config.load()
    wire, protocol = Wire(), BoundedHttpProtocol(config, ServerState(), {})
    protocol.connection_made(wire)
    protocol.data_received(sent)
    await asyncio.gather(*protocol.tasks)
    protocol.connection_lost(None)
    return wire.said


def with_head_of(size: int, *, body: bytes = b"") -> bytes:
    start = b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n" % len(body)
    return start + b"x-long: ".ljust(size - len(start) - 4, b"a") + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (with_head_of(70_000), b"400"),
        (with_head_of(MOST_HEAD_BYTES + 1), b"400"),
        (with_head_of(MOST_HEAD_BYTES + 1, body=b"a" * 100_000), b"400"),
        (with_head_of(MOST_HEAD_BYTES), b"204"),
        (with_head_of(MOST_HEAD_BYTES - 1, body=b"a" * 100_000), b"204"),
    ],
    ids=["70kB", "least", "least-and-body", "most", "most-and-body"],
)
def test_a_head_is_bounded_also_where_it_comes_at_once(sent: bytes, status: bytes) -> None:
    said = asyncio.run(answer_at_once(sent))
    assert said.startswith(b"HTTP/1.1 %s " % status)
    assert said.count(b"HTTP/1.1") == 1


def posted(path: str, kind: str) -> bytes:
    """The head of a request with a chunked body, and a first chunk of it."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\n"
    return f"{head}transfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n".encode()


@pytest.mark.parametrize("leaving", [True, False], ids=["leaves", "bad-chunk"])
@pytest.mark.parametrize("by", ["api", "page"])
def test_a_body_that_breaks_off_is_no_bug(
    by: str, leaving: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {
        "api": posted("/api/v1/resolve/kernel", "application/json"),
        "page": posted(
            f"/runs/{record_runs()[1][7:19]}/report", "application/x-www-form-urlencoded"
        ),
    }[by]
    site = create_app(catalog=starter(), cache=tmp_path)
    said = asyncio.run(answer_to(sent, *([] if leaving else [b"ZZ\r\n"]), by=site, leaving=leaving))
    assert said.startswith(b"" if leaving else b"HTTP/1.1 400 ")
    assert [one.getMessage() for one in caplog.records if one.exc_info] == []
    assert len([one for one in caplog.records if one.levelname != "DEBUG"]) <= 1
