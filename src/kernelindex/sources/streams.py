"""Bytes from outside, read as bounded lines: plain or zstd, never more than was allowed."""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from kernelindex.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["DEFAULT_LIMITS", "Limits", "Line", "fingerprint", "lines", "opened"]

_CHUNK = 1 << 18
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_WINDOW = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a source may make us read.

    ``expansion`` bounds decompressed to compressed bytes once ``expansion_floor_bytes``
    are out: the public export expands 16 times, a bomb some 30,000 times.
    """

    line_bytes: int = 4 << 20
    total_bytes: int = 16 << 30
    expansion: int = 500
    expansion_floor_bytes: int = 64 << 20


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; ``data`` is None where it was longer than allowed."""

    number: int
    data: bytes | None
    size_bytes: int


def fingerprint(source: Path | bytes) -> tuple[str, int]:
    """The digest ``sha256:<hex>`` of the raw bytes, and how many there are.

    Raises ``SourceError`` (``source.unreadable``) where the file cannot be opened.
    """
    if isinstance(source, bytes):
        return f"sha256:{hashlib.sha256(source).hexdigest()}", len(source)
    hasher = hashlib.sha256()
    size = 0
    with _raw(source) as stream:
        while chunk := stream.read(_CHUNK):
            hasher.update(chunk)
            size += len(chunk)
    return f"sha256:{hasher.hexdigest()}", size


@contextmanager
def opened(source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> Iterator[Iterator[bytes]]:
    """Chunks of the text, decompressed where the bytes begin with the zstd magic.

    Raises ``SourceError``: ``source.unreadable``, ``source.too_large``,
    ``source.expansion`` (a bomb), ``source.compression`` (damaged or cut short).
    """
    with _raw(source) as stream:
        magic = stream.read(len(_ZSTD_MAGIC))
        stream.seek(0)
        chunks = _zstd(stream) if magic == _ZSTD_MAGIC else iter(lambda: stream.read(_CHUNK), b"")
        yield _bounded(chunks, stream, limits)


def lines(source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> Iterator[Line]:
    """Every line in order, numbered from 1; an overlong one keeps only its size."""
    splitter = _Splitter(limits.line_bytes)
    with opened(source, limits) as chunks:
        for chunk in chunks:
            yield from splitter.feed(chunk)
        yield from splitter.rest()


class _Splitter:
    """Cuts chunks into lines while holding at most one line of the allowed length."""

    def __init__(self, line_bytes: int) -> None:
        self._limit = line_bytes
        self._number = 0
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Line]:
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            self._add(piece)
            yield self._line()
        self._add(pieces[-1])

    def rest(self) -> Iterator[Line]:
        if self._size:
            yield self._line()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._parts.clear()
        elif piece:
            self._parts.append(piece)

    def _line(self) -> Line:
        self._number += 1
        data = b"".join(self._parts) if self._size <= self._limit else None
        line = Line(self._number, data, self._size)
        self._parts, self._size = [], 0
        return line


@contextmanager
def _raw(source: Path | bytes) -> Iterator[IO[bytes]]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    if source.exists() and not source.is_file():
        # A source is read twice, and a device or pipe may never end.
        raise SourceError(
            f"{source} is no regular file; save it to one and give its path", path=str(source)
        )
    try:
        stream = source.open("rb")
    except OSError as error:
        raise SourceError(
            f"{source}: {error.strerror or error}; give the path of a readable file",
            path=str(source),
        ) from error
    with stream:
        yield stream


def _zstd(stream: IO[bytes]) -> Iterator[bytes]:
    import zstandard

    produced = 0
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    try:
        declared = zstandard.frame_content_size(stream.read(18))
        stream.seek(0)
        with decompressor.stream_reader(stream, read_across_frames=True, closefd=False) as reader:
            while chunk := reader.read(_CHUNK):
                produced += len(chunk)
                yield chunk
    except zstandard.ZstdError as error:
        raise SourceError(f"damaged zstd data: {error}", code="source.compression") from error
    if produced < declared:
        raise SourceError(
            f"zstd data ends after {produced} of {declared} bytes; fetch the file again",
            code="source.compression",
        )


def _bounded(chunks: Iterator[bytes], stream: IO[bytes], limits: Limits) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limits.total_bytes:
            raise SourceError(
                f"more than {limits.total_bytes} bytes of text; import it in parts",
                code="source.too_large",
            )
        consumed = max(stream.tell(), 1)
        if total > max(limits.expansion_floor_bytes, limits.expansion * consumed):
            raise SourceError(
                f"{consumed} compressed bytes became {total}: refused as a decompression bomb",
                code="source.expansion",
            )
        yield chunk
