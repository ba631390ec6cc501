from __future__ import annotations

import hashlib
import os

import pytest
import zstandard

from kernelindex.errors import SourceError
from kernelindex.sources.streams import Limits, fingerprint, lines

SMALL = Limits(line_bytes=10, total_bytes=1 << 20)


def texts(data: bytes, limits: Limits = SMALL) -> list[bytes | None]:
    return [line.data for line in lines(data, limits)]


def test_lines_are_numbered_and_the_last_needs_no_end() -> None:
    found = list(lines(b"one\n\nthree", SMALL))
    assert [(line.number, line.data) for line in found] == [(1, b"one"), (2, b""), (3, b"three")]


def test_an_overlong_line_keeps_its_size_and_spares_the_next() -> None:
    found = list(lines(b"x" * 5000 + b"\nok\n", SMALL))
    assert [(line.data, line.size_bytes) for line in found] == [(None, 5000), (b"ok", 2)]


def test_a_line_of_exactly_the_limit_is_read() -> None:
    assert texts(b"0123456789\n") == [b"0123456789"]


def test_zstd_is_known_by_its_magic_and_frames_join() -> None:
    packed = zstandard.compress(b"one\ntw") + zstandard.compress(b"o\n")
    assert texts(packed) == [b"one", b"two"]


def test_lines_longer_than_a_chunk_are_joined() -> None:
    long = b"y" * 700_000
    assert texts(long + b"\nz\n", Limits()) == [long, b"z"]


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = zstandard.compress(bytes(200 << 20))
    assert len(bomb) < 10_000
    with pytest.raises(SourceError) as caught:
        list(lines(bomb))
    assert caught.value.code == "source.expansion"


def test_the_total_is_bounded() -> None:
    with pytest.raises(SourceError) as caught:
        list(lines(b"abc\n" * 1000, Limits(total_bytes=100)))
    assert caught.value.code == "source.too_large"


@pytest.mark.parametrize("cut", [3, 30])
def test_cut_zstd_is_refused(cut: int) -> None:
    packed = zstandard.compress(hashlib.sha512(b"noise").digest() * 40)
    with pytest.raises(SourceError) as caught:
        list(lines(packed[:-cut], Limits()))
    assert caught.value.code == "source.compression"


def test_damaged_zstd_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        list(lines(b"\x28\xb5\x2f\xfd" + b"\xff" * 40))
    assert caught.value.code == "source.compression"


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(SourceError, match=r"absent\.jsonl"):
        fingerprint(tmp_path / "absent.jsonl")


@pytest.mark.parametrize("name", ["/dev/zero", "pipe", "."])
def test_what_is_no_regular_file_is_refused_unread(name: str, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="no regular file"):
        fingerprint(tmp_path / name)


def test_the_fingerprint_is_over_the_raw_bytes(tmp_path) -> None:
    packed = zstandard.compress(b"text")
    path = tmp_path / "x.zst"
    path.write_bytes(packed)
    assert fingerprint(path) == (f"sha256:{hashlib.sha256(packed).hexdigest()}", len(packed))
