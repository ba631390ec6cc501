"""One file that holds many: a zip archive of which there is exactly one form.

Entries are stored (not deflated: what is large is compressed already, and no two builds
of zlib agree), sorted by name, dated 1980-01-01. Any unzip reads it. Reading takes
nothing but this form, so no byte of an archive can be changed and pass.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING

from kernelindex.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 256 << 20
MAX_ENTRIES = 20_000
MAX_NAME = 200
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_END = struct.Struct("<4sHHHHIIH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_VERSION, _MADE_BY_UNIX, _DATE = 20, 3 << 8 | 20, 0x21
_FILE_MODE = 0o100644 << 16


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files; equal files give equal bytes everywhere.

    Raises ``EvidenceError`` (``evidence.archive``) for names or sizes it does not take.
    """
    _check(files)
    body, directory = bytearray(), bytearray()
    for name, data in sorted(files.items()):
        at, path = len(body), name.encode()
        sizes = (zlib.crc32(data), len(data), len(data))
        body += _LOCAL.pack(_LOCAL_MARK, _VERSION, 0, 0, 0, _DATE, *sizes, len(path), 0)
        body += path + data
        directory += _CENTRAL.pack(
            *(_CENTRAL_MARK, _MADE_BY_UNIX, _VERSION, 0, 0, 0, _DATE),
            *(*sizes, len(path), 0, 0, 0, 0, _FILE_MODE, at),
        )
        directory += path
    count = len(files)
    end = _END.pack(_END_MARK, 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end)


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive that ``pack`` made.

    Raises ``EvidenceError`` (``evidence.archive``) for anything else, and for more than
    256 MiB, 20,000 entries or names of 200 letters.
    """
    if len(data) > MAX_BYTES:
        raise _refusal(f"it has {len(data)} bytes, at most {MAX_BYTES} are read")
    files: dict[str, bytes] = {}
    at = 0
    while data[at : at + 4] == _LOCAL_MARK and len(files) <= MAX_ENTRIES:
        name, content, at = _entry(data, at)
        files[name] = content
    if pack(files) != data:
        raise _refusal("its bytes are not those of an archive with these files; it was changed")
    return files


def _entry(data: bytes, at: int) -> tuple[str, bytes, int]:
    start = at + _LOCAL.size
    if start > len(data):
        raise _refusal("it is cut short")
    *_, size, path, _extra = _LOCAL.unpack_from(data, at)
    begin = start + path
    if path > MAX_NAME or begin + size > len(data):
        raise _refusal(f"the entry at byte {at} is longer than the file")
    name = data[start:begin].decode("ascii", "replace")
    return name, data[begin : begin + size], begin + size


def _check(files: Mapping[str, bytes]) -> None:
    if not files:
        raise _refusal(f"it has no entries, wanted 1 to {MAX_ENTRIES}")
    if len(files) > MAX_ENTRIES:
        raise _refusal(f"it has more than {MAX_ENTRIES} entries, which is the most that is taken")
    for name in files:
        if len(name) > MAX_NAME or not NAME.fullmatch(name):
            raise _refusal(
                f"the name {name[:80]!r} is not taken; wanted letters, digits, . _ - and / "
                "between parts"
            )
    total = sum(map(len, files.values()))
    if total > MAX_BYTES:
        raise _refusal(f"its files have {total} bytes, at most {MAX_BYTES} are taken")


def _refusal(why: str) -> EvidenceError:
    return EvidenceError(f"not a bundle of evidence: {why}", code="evidence.archive")
