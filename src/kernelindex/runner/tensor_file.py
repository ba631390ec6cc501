r"""Tensors in a file: a magic line, a JSON header, raw little-endian bytes; no pickle.

Layout: ``KITENSOR1\n``, eight bytes of header length (little endian), the header
``{"tensors": {name: {"dtype", "shape", "offset", "bytes"}}, "meta": {...}}``, padding, data.
Offsets count from the start of the file and are multiples of 64. Data is contiguous,
row major. What a candidate's process wrote is read with ``read_tensors(mapped=False)``:
a mapped file that shrinks under its reader would kill the reader.
"""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from kernelindex.errors import KernelIndexError
from kernelindex.runner.regular_file import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import torch

_MAGIC = b"KITENSOR1\n"
_ALIGN = 64
_MAX_HEADER = 1 << 20

# Our dtype id: (torch's name, bytes an element).
DTYPES: Mapping[str, tuple[str, int]] = {
    "bool": ("bool", 1),
    "uint8": ("uint8", 1),
    "int8": ("int8", 1),
    "int16": ("int16", 2),
    "int32": ("int32", 4),
    "int64": ("int64", 8),
    "fp8_e4m3": ("float8_e4m3fn", 1),
    "fp8_e5m2": ("float8_e5m2", 1),
    "fp16": ("float16", 2),
    "bf16": ("bfloat16", 2),
    "fp32": ("float32", 4),
    "fp64": ("float64", 8),
}
_ID_OF_TORCH = {name: key for key, (name, _) in DTYPES.items()}


class TensorFileError(KernelIndexError):
    """Raised when a file is not a tensor file, or does not hold what its header says."""

    code = "tensor_file.invalid"


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor's place in a file: dtype id, shape, offset and size in bytes."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a file holds, by name in the order written, and the writer's own remarks."""

    tensors: Mapping[str, Entry]
    meta: Mapping[str, Any]


def write_tensors(
    path: Path, tensors: Mapping[str, torch.Tensor], meta: Mapping[str, Any] | None = None
) -> None:
    """Write tensors (any device, any strides) under their names; replaces the file whole."""
    parts = {name: _bytes_of(one) for name, one in tensors.items()}
    kinds = {name: (_dtype_id(one), tuple(one.shape)) for name, one in tensors.items()}
    write_parts(path, kinds, parts, meta or {})


def write_parts(
    path: Path,
    kinds: Mapping[str, tuple[str, tuple[int, ...]]],
    parts: Mapping[str, memoryview],
    meta: Mapping[str, Any],
) -> None:
    """Write contiguous bytes under their names with dtype id and shape; replaces the file."""
    start = _aligned(len(_MAGIC) + 8 + _MAX_HEADER) if len(kinds) > 2000 else 1 << 16
    entries, offset = {}, start
    for name, (dtype, shape) in kinds.items():
        size = parts[name].nbytes
        entries[name] = {"dtype": dtype, "shape": list(shape), "offset": offset, "bytes": size}
        offset = _aligned(offset + size)
    header = json.dumps({"tensors": entries, "meta": dict(meta)}, allow_nan=False).encode()
    if len(_MAGIC) + 8 + len(header) > start:
        raise TensorFileError(f"{path}: a header of {len(header)} bytes; shorten meta or names")
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
        for name, entry in entries.items():
            file.seek(entry["offset"])  # type: ignore[arg-type]
            file.write(parts[name])
        file.truncate(max(offset, start))
    temporary.replace(path)


def read_header(path: Path) -> Header:
    """What a file says it holds, checked against its size; raises TensorFileError."""
    with _open(path) as file:
        return _header(file, path)


def read_tensors(
    path: Path, device: str = "cpu", *, mapped: bool = False, limit_bytes: int = 1 << 40
) -> dict[str, torch.Tensor]:
    """All tensors of a file on ``device``; raises TensorFileError, also over ``limit_bytes``.

    ``mapped`` maps the file copy-on-write instead of reading it: for trusted writers only.
    """
    parts = read_parts(path, limit_bytes, mapped=mapped)
    return {name: _tensor(data, entry, device) for name, entry, data in parts}


def read_parts(
    path: Path, limit_bytes: int, *, mapped: bool = False
) -> Iterator[tuple[str, Entry, memoryview]]:
    """Every tensor's name, place and bytes in turn; raises as ``read_tensors``."""
    with _open(path) as file:
        header = _header(file, path)
        total = sum(entry.bytes for entry in header.tensors.values())
        if total > limit_bytes:
            raise TensorFileError(f"{path}: {total} bytes of tensors; at most {limit_bytes}")
        whole = _mapped(file) if mapped else None
        for name, entry in header.tensors.items():
            yield name, entry, _slice(file, entry, whole)


def _slice(file: BinaryIO, entry: Entry, whole: memoryview | None) -> memoryview:
    if whole is not None:
        return whole[entry.offset : entry.offset + entry.bytes]
    data = bytearray(entry.bytes)
    file.seek(entry.offset)
    if file.readinto(data) != entry.bytes:  # type: ignore[attr-defined]
        raise TensorFileError("a tensor file shrank while it was read")
    return memoryview(data)


def _mapped(file: BinaryIO) -> memoryview:
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))


def _tensor(data: memoryview, entry: Entry, device: str) -> torch.Tensor:
    import torch

    kind = getattr(torch, DTYPES[entry.dtype][0])
    if not entry.bytes:
        return torch.empty(entry.shape, dtype=kind, device=device)
    flat = torch.frombuffer(data, dtype=torch.uint8)
    return flat.view(kind).reshape(entry.shape).to(device)


def _open(path: Path) -> BinaryIO:
    """Open a regular file only: a candidate may leave a link or a pipe in its place."""
    try:
        return open_regular(path)
    except OSError as error:
        raise TensorFileError(f"{path}: cannot be read: {error.strerror}") from error


def _header(file: BinaryIO, path: Path) -> Header:
    size = os.fstat(file.fileno()).st_size
    if file.read(len(_MAGIC)) != _MAGIC:
        raise TensorFileError(f"{path}: not a tensor file (no {_MAGIC!r} at its start)")
    length = int.from_bytes(file.read(8), "little")
    if length > min(size, _MAX_HEADER):
        raise TensorFileError(f"{path}: a header of {length} bytes in a file of {size}")
    try:
        body = json.loads(file.read(length))
        entries = {name: _entry(one, size) for name, one in body["tensors"].items()}
        return Header(entries, dict(body["meta"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TensorFileError(f"{path}: its header is malformed: {error}") from error


def _entry(body: Mapping[str, Any], file_bytes: int) -> Entry:
    shape = tuple(body["shape"])
    entry = Entry(body["dtype"], shape, body["offset"], body["bytes"])
    if any(type(one) is not int or one < 0 for one in (*shape, entry.offset, entry.bytes)):
        raise ValueError("shape, offset and bytes are whole numbers of 0 or more")
    if len(shape) > 16 or entry.bytes != math.prod(shape) * DTYPES[entry.dtype][1]:
        raise ValueError(f"{entry.bytes} bytes do not fit {entry.dtype} {list(shape)}")
    if entry.offset + entry.bytes > file_bytes:
        raise ValueError(f"a tensor ends at {entry.offset + entry.bytes} of {file_bytes} bytes")
    return entry


def _dtype_id(tensor: torch.Tensor) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _ID_OF_TORCH:
        raise TensorFileError(f"no file form for torch.{name}; known: {', '.join(DTYPES)}")
    return _ID_OF_TORCH[name]


def _bytes_of(tensor: torch.Tensor) -> memoryview:
    flat = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    if not flat.numel():
        return memoryview(b"")
    raw = (ctypes.c_ubyte * flat.nbytes).from_address(flat.data_ptr())
    raw.tensor = flat  # the memory lives as long as its view
    return memoryview(raw).cast("B")


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
