"""The archive: one form, readable by any unzip, and nothing else is taken."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import archive, bundle

DIGEST = "3b7711c84400c14c2bdd6a04e09ee85e30c4354e645dae8d9898da3b2747d99c"
FILES = {"b/two.json": b"{}", "a.txt": b"hello", "empty": b""}


def test_equal_files_give_equal_bytes_for_ever() -> None:
    data = archive.pack(FILES)
    assert data == archive.pack(dict(reversed(FILES.items())))
    assert hashlib.sha256(data).hexdigest() == DIGEST


def test_it_reads_back_and_any_unzip_reads_it() -> None:
    data = archive.pack(FILES)
    assert archive.unpack(data) == FILES
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert opened.testzip() is None
        assert {name: opened.read(name) for name in opened.namelist()} == FILES
        assert opened.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_every_changed_byte_is_found() -> None:
    """By the checksum where it is of a file; one who mends that is found by the digests."""
    data = archive.pack(FILES)
    for at in range(len(data)):
        changed = bytes((*data[:at], data[at] ^ 1, *data[at + 1 :]))
        with pytest.raises(EvidenceError) as caught:
            archive.unpack(changed)
        assert caught.value.code == "evidence.archive", f"byte {at}"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:40],
        lambda data: b"\0" + data,
        lambda data: b"",
        lambda data: b"PK\x03\x04",
    ],
)
def test_cut_and_padded_archives_are_refused(change) -> None:
    with pytest.raises(EvidenceError, match="not a bundle of evidence"):
        archive.unpack(change(archive.pack(FILES)))


def test_a_foreign_zip_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.txt", b"a" * 1_000_000)
    with pytest.raises(EvidenceError):
        archive.unpack(buffer.getvalue())


@pytest.mark.parametrize("name", ["../up", "/root", "a//b", "a/../b", ".hidden", "a\\b", "é", ""])
def test_names_that_could_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(EvidenceError, match="is not taken"):
        archive.pack({name: b""})


def test_numbers_and_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 100)
    monkeypatch.setattr(archive, "MAX_ENTRIES", 2)
    for files in ({}, {"a": b"x" * 101}, dict.fromkeys("abc", b"")):
        with pytest.raises(EvidenceError):
            archive.pack(files)
    with pytest.raises(EvidenceError, match="at most 100 are read"):
        archive.unpack(b"PK" * 100)


def test_a_bundle_that_cannot_be_put_in_its_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "box-00001.evidence.zip").mkdir()
    with pytest.raises(IsADirectoryError):
        bundle.write(tmp_path / "box-00001.evidence.zip", bundle.Sealed(b"data", "", ""))
    assert [one.name for one in tmp_path.iterdir()] == ["box-00001.evidence.zip"]


def test_of_too_many_entries_no_number_is_made_up() -> None:
    with pytest.raises(EvidenceError, match="more than 20000 entries"):
        archive.pack({f"a{number}": b"" for number in range(archive.MAX_ENTRIES + 3)})
    with pytest.raises(EvidenceError, match="no entries"):
        archive.unpack(b"no archive")
