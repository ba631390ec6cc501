"""Static files under names that carry their content, so that they never go stale."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

STATIC = files("kernelindex.web") / "static"
TYPES = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png"}


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file: its public name, bytes, the bytes compressed, and media type."""

    name: str
    body: bytes
    compressed: bytes
    media_type: str


@cache
def load_assets() -> dict[str, Asset]:
    """Every static file by its public name, ``site.3f2a9c1b.css``."""
    return {asset.name: asset for asset in map(_load, _names())}


@cache
def asset_path(name: str) -> str:
    """The path of a static file; KeyError where there is none of this name."""
    if name not in _names():
        raise KeyError(name)
    return f"/static/{_load(name).name}"


@cache
def _load(name: str) -> Asset:
    body = (STATIC / name).read_bytes()
    stem, dot, ending = name.rpartition(".")
    public = f"{stem}.{hashlib.sha256(body).hexdigest()[:8]}{dot}{ending}"
    return Asset(public, body, gzip.compress(body, 9, mtime=0), TYPES[dot + ending])


@cache
def _names() -> tuple[str, ...]:
    found = (item.name for item in STATIC.iterdir() if item.is_file())
    return tuple(sorted(name for name in found if any(map(name.endswith, TYPES))))
