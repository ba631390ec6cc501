"""A client that takes too long over its request is hung up on."""

from __future__ import annotations

import asyncio

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from kernelindex.site import http_protocol
from kernelindex.site.http_protocol import BoundedHttpProtocol

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n"


async def app(scope, receive, send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def answer_to(*parts: bytes) -> bytes:
    """What a server says to a client that sends these and then waits for it to hang up."""
    config = Config(app, http=BoundedHttpProtocol, ws="none", log_level="critical")
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: BoundedHttpProtocol(config, ServerState(), {}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.1)
        said = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    return said


@pytest.mark.parametrize("sent", [(), (b"GET / HT",), (HEAD, b"ab")], ids=["none", "head", "body"])
def test_an_unfinished_request_ends(sent: tuple[bytes, ...], monkeypatch) -> None:
    monkeypatch.setattr(http_protocol, "MOST_HEAD_S", 0.2)
    monkeypatch.setattr(http_protocol, "MOST_BODY_S", 0.2)
    assert asyncio.run(answer_to(*sent)) == b""


def test_a_slow_but_whole_request_is_answered(monkeypatch) -> None:
    monkeypatch.setattr(http_protocol, "MOST_HEAD_S", 5.0)
    said = asyncio.run(answer_to(b"GET / HTTP/1.1\r\n", b"host: x\r\nconnection: close\r\n\r\n"))
    assert said.startswith(b"HTTP/1.1 204")
