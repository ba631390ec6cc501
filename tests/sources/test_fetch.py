from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import TYPE_CHECKING

import httpx2
import pytest

from kernelindex.errors import SourceError
from kernelindex.sources.addresses import Address, is_public
from kernelindex.sources.fetch import FetchLimits, fetch, is_url

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = "93.184.216.34"
Answer = Callable[[httpx2.Request], httpx2.Response]


class Recording(httpx2.BaseTransport):
    """Answers in place of the network and keeps what it was asked to connect to."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connected: list[tuple[str, str, object]] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        sni = request.extensions.get("sni_hostname")
        self.connected.append((request.url.host, request.headers["host"], sni))
        return self.answer(request)


def resolver(**hosts: str) -> Callable[[str, int], list[Address]]:
    """A DNS of our own: host with dots as underscores -> addresses, separated by blanks."""
    return lambda host, port: [ip_address(a) for a in hosts[host.replace(".", "_")].split()]


def ok(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, content=iter([b"payload"]))


def refused(code: str, url: str, folder: Path, **seams: object) -> SourceError:
    with pytest.raises(SourceError) as caught:
        fetch(url, folder, **seams)  # type: ignore[arg-type]
    assert caught.value.code == code
    return caught.value


def test_it_connects_to_the_address_it_checked(tmp_path: Path) -> None:
    transport = Recording(ok)
    got = fetch(
        "https://data.example/a/x.csv?v=1",
        tmp_path,
        transport=transport,
        resolver=resolver(data_example=PUBLIC),
    )
    assert transport.connected == [(PUBLIC, "data.example", "data.example")]
    assert got.path == tmp_path / "x.csv"
    assert got.path.read_bytes() == b"payload"
    assert (got.url, got.size_bytes) == ("https://data.example/a/x.csv?v=1", 7)


def test_a_name_is_resolved_once_for_each_request(tmp_path: Path) -> None:
    answers = iter([PUBLIC, "127.0.0.1"])
    transport = Recording(ok)
    fetch(
        "https://rebind.example/f",
        tmp_path,
        transport=transport,
        resolver=lambda host, port: [ip_address(next(answers))],
    )
    assert [host for host, _, _ in transport.connected] == [PUBLIC]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.9",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "198.51.100.7",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
        "2001:0:1::1",
    ],
)
def test_addresses_that_are_not_public_are_refused(tmp_path: Path, address: str) -> None:
    transport = Recording(ok)
    error = refused(
        "source.address_refused",
        "https://inside.example/f",
        tmp_path,
        transport=transport,
        resolver=resolver(inside_example=f"{PUBLIC} {address}"),
    )
    assert transport.connected == []
    assert "inside.example" in error.message


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


def test_a_redirect_is_checked_like_the_first(tmp_path: Path) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(302, headers={"location": "https://metadata.example/latest"})

    transport = Recording(answer)
    refused(
        "source.address_refused",
        "https://data.example/f",
        tmp_path,
        transport=transport,
        resolver=resolver(data_example=PUBLIC, metadata_example="169.254.169.254"),
    )
    assert len(transport.connected) == 1


def test_a_relative_redirect_is_followed(tmp_path: Path) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/old":
            return httpx2.Response(301, headers={"location": "new.jsonl"})
        return httpx2.Response(200, content=iter([b"{}"]))

    dns = resolver(data_example=PUBLIC)
    got = fetch("https://data.example/old", tmp_path, transport=Recording(answer), resolver=dns)
    assert got.url == "https://data.example/new.jsonl"
    assert got.path.name == "new.jsonl"


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://data.example/plain", "source.url_refused"),
        ("file:///etc/passwd", "source.url_refused"),
        ("https://user:secret@data.example/", "source.url_refused"),
        ("https://data.example/f", "source.too_many_redirects"),
    ],
)
def test_redirects_that_are_not_followed(tmp_path: Path, location: str, code: str) -> None:
    transport = Recording(lambda _: httpx2.Response(307, headers={"location": location}))
    dns = resolver(data_example=PUBLIC)
    refused(code, "https://data.example/f", tmp_path, transport=transport, resolver=dns)
    assert len(transport.connected) <= 6


@pytest.mark.parametrize("url", ["ftp://a.example/x", "https://", "https://u@a.example/x"])
def test_urls_that_are_refused_unasked(tmp_path: Path, url: str) -> None:
    refused("source.url_refused", url, tmp_path, transport=Recording(ok))


@pytest.mark.parametrize("headers", [{"content-length": "50"}, {}])
def test_the_size_is_bounded_as_declared_and_as_sent(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(5):
            yield b"0123456789"

    transport = Recording(lambda _: httpx2.Response(200, headers=headers, content=pieces()))
    refused(
        "source.too_large",
        "https://data.example/f",
        tmp_path,
        transport=transport,
        resolver=resolver(data_example=PUBLIC),
        limits=FetchLimits(size_bytes=25),
    )


def test_the_time_is_bounded(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        while True:
            yield b"."

    transport = Recording(lambda _: httpx2.Response(200, content=pieces()))
    refused(
        "source.too_slow",
        "https://data.example/f",
        tmp_path,
        transport=transport,
        resolver=resolver(data_example=PUBLIC),
        limits=FetchLimits(seconds=0.05),
    )


@pytest.mark.parametrize(
    "response", [httpx2.Response(404), httpx2.Response(200, headers={"content-encoding": "x-odd"})]
)
def test_other_answers_are_named(tmp_path: Path, response: httpx2.Response) -> None:
    refused(
        "source.http_status",
        "https://data.example/f",
        tmp_path,
        transport=Recording(lambda _: response),
        resolver=resolver(data_example=PUBLIC),
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/..%2f..%2fetc%2fpasswd", "passwd"), ("/.bashrc", "bashrc"), ("/", "download")],
)
def test_the_file_name_stays_in_the_folder(tmp_path: Path, path: str, name: str) -> None:
    got = fetch(
        f"https://data.example{path}",
        tmp_path,
        transport=Recording(ok),
        resolver=resolver(data_example=PUBLIC),
    )
    assert got.path.parent == tmp_path
    assert got.path.name.endswith(name)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"local")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def loopback() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/results.csv"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_loopback_server_is_refused_unless_permitted(loopback: str, tmp_path: Path) -> None:
    for url in (loopback, loopback.replace("127.0.0.1", "localhost")):
        refused("source.address_refused", url, tmp_path)
    got = fetch(loopback, tmp_path, permit=lambda address: address.is_loopback)
    assert got.path.read_bytes() == b"local"


def test_what_counts_as_a_url() -> None:
    assert is_url("HTTPS://data.example/x")
    assert is_url("ftp://data.example/x")
    assert not is_url("data/x.csv")
    assert not is_url("c:/x://y.csv")
