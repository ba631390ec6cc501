"""Fetch a source by URL, within limits of size, time and redirects, from public hosts only.

Each request resolves its host, refuses it if any address is not public, and connects to
the very address that was checked (the name stays in ``Host`` and in the TLS handshake).
No proxy is used: a proxy would resolve names where we cannot see it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from kernelindex.errors import SourceError
from kernelindex.sources.addresses import Address, Resolver, is_public, permitted_address, resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["DEFAULT_FETCH_LIMITS", "FetchLimits", "Fetched", "fetch", "is_url"]

_REDIRECTS = (301, 302, 303, 307, 308)
_ADDRESS = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """``size_bytes`` as sent, ``seconds`` in all, ``silence_seconds`` between two pieces."""

    size_bytes: int = 1 << 30
    seconds: float = 300.0
    silence_seconds: float = 20.0
    redirects: int = 5


DEFAULT_FETCH_LIMITS = FetchLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A fetched file; ``url`` is where the last redirect led."""

    path: Path
    url: str
    size_bytes: int


def is_url(text: str) -> bool:
    """Whether ``text`` is meant as an address to fetch rather than as a path."""
    return _ADDRESS.match(text) is not None


def fetch(
    url: str,
    folder: Path,
    *,
    limits: FetchLimits = DEFAULT_FETCH_LIMITS,
    transport: httpx2.BaseTransport | None = None,
    resolver: Resolver = resolve,
    permit: Callable[[Address], bool] = is_public,
) -> Fetched:
    """Write what ``url`` answers into a new file of ``folder``.

    ``transport``, ``resolver`` and ``permit`` are seams for tests. Raises ``SourceError``:
    ``source.url_refused``, ``source.address_refused``, ``source.too_many_redirects``,
    ``source.http_status``, ``source.too_large``, ``source.too_slow``, ``source.unreachable``.
    """
    deadline = time.monotonic() + limits.seconds
    pinned = _Pinned(transport or _plain_transport(), resolver, permit)
    timeout = httpx2.Timeout(min(limits.silence_seconds, limits.seconds))
    with httpx2.Client(transport=pinned, timeout=timeout, trust_env=False) as client:
        current = _checked_url(url, None)
        for _ in range(limits.redirects + 1):
            answer = _one(client, current, folder, limits, deadline)
            if isinstance(answer, Fetched):
                return answer
            current = _checked_url(str(current.join(answer)), current)
    raise SourceError(
        f"{url}: more than {limits.redirects} redirects; give the last address instead",
        code="source.too_many_redirects",
        url=url,
    )


class _Pinned(httpx2.BaseTransport):
    """Connects each request to an address that was checked a moment before."""

    def __init__(
        self,
        inner: httpx2.BaseTransport,
        resolver: Resolver,
        permit: Callable[[Address], bool],
    ) -> None:
        self._inner = inner
        self._resolver = resolver
        self._permit = permit

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        port = request.url.port or _PORTS[request.url.scheme]
        address = permitted_address(host, port, resolver=self._resolver, permit=self._permit)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=str(address))
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def _plain_transport() -> httpx2.HTTPTransport:
    # A kept connection would be reused for another name on the same address.
    limits = httpx2.Limits(max_connections=1, max_keepalive_connections=0)
    return httpx2.HTTPTransport(trust_env=False, limits=limits)


def _checked_url(text: str, before: httpx2.URL | None) -> httpx2.URL:
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise SourceError(f"{text[:200]}: {error}", code="source.url_refused") from error
    problem = None
    if url.scheme not in _PORTS:
        problem = f"scheme {url.scheme!r}, wanted https or http"
    elif not url.host:
        problem = "no host"
    elif url.userinfo:
        problem = "a user name or password in the address"
    elif before is not None and before.scheme == "https" and url.scheme != "https":
        problem = "a redirect from https to http"
    if problem is not None:
        raise SourceError(f"{text[:200]}: refused for {problem}", code="source.url_refused")
    return url


def _one(
    client: httpx2.Client, url: httpx2.URL, folder: Path, limits: FetchLimits, deadline: float
) -> Fetched | str:
    """The file, or where a redirect points."""
    headers = {"accept-encoding": "identity", "user-agent": "kernelindex"}
    try:
        with client.stream("GET", url, headers=headers, follow_redirects=False) as response:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return str(response.headers["location"])
            _check_answer(response, url, limits)
            path = folder / _file_name(url)
            return Fetched(
                path=path, url=str(url), size_bytes=_save(response, path, limits, deadline)
            )
    except httpx2.TimeoutException as error:
        raise SourceError(f"{url}: no answer in time", code="source.too_slow") from error
    except httpx2.HTTPError as error:
        raise SourceError(f"{url}: {error}", code="source.unreachable") from error


def _check_answer(response: httpx2.Response, url: httpx2.URL, limits: FetchLimits) -> None:
    if response.status_code != 200:
        raise SourceError(
            f"{url}: answered {response.status_code}, wanted 200",
            code="source.http_status",
            status=response.status_code,
        )
    if response.headers.get("content-encoding", "identity") != "identity":
        raise SourceError(
            f"{url}: answered in {response.headers['content-encoding']}, asked for the plain file",
            code="source.http_status",
        )
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.size_bytes:
        raise _too_large(url, limits)


def _save(response: httpx2.Response, path: Path, limits: FetchLimits, deadline: float) -> int:
    size = 0
    with path.open("xb") as file:
        for piece in response.iter_raw():
            size += len(piece)
            if size > limits.size_bytes:
                raise _too_large(response.url, limits)
            if time.monotonic() > deadline:
                raise SourceError(
                    f"{response.url}: not done after {limits.seconds:g} s", code="source.too_slow"
                )
            file.write(piece)
    return size


def _too_large(url: httpx2.URL, limits: FetchLimits) -> SourceError:
    return SourceError(
        f"{url}: more than {limits.size_bytes} bytes; fetch it yourself and give its path",
        code="source.too_large",
    )


def _file_name(url: httpx2.URL) -> str:
    """A harmless file name that keeps the suffix a source goes by."""
    last = url.path.rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".")[-100:] or "download"
