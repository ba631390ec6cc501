"""The host's cold cache regime: a buffer larger than the last level cache, written, then read."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_DEFAULT_LLC_BYTES = 32 << 20
_LARGEST_BYTES = 512 << 20
_MULTIPLE = 2
_CPU0_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class HostCache:
    """Evicts what is cached by going through twice the last level cache.

    The read is a comparison of two equal halves: loads only, so that the lines are clean and
    nothing is written back while a call is timed. (A large ``memset`` alone may bypass caches.)
    """

    def __init__(self, llc_bytes: int | None = None) -> None:
        self.llc_bytes = llc_bytes or last_level_cache_bytes()
        half = min(_LARGEST_BYTES, _MULTIPLE * self.llc_bytes) // 2
        self.flush_bytes = 2 * half
        self._buffer: ctypes.Array[ctypes.c_char] | None = None
        self._memset, self._compare = ctypes.memset, ctypes.CDLL(None).memcmp
        self._compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self._half, self._fill = half, 0

    def flush(self) -> None:
        """Write the buffer, then read it."""
        if self._buffer is None:
            self._buffer = ctypes.create_string_buffer(self.flush_bytes)
        start = ctypes.addressof(self._buffer)
        self._fill = (self._fill + 1) % 256
        self._memset(start, self._fill, self.flush_bytes)
        self._compare(start, start + self._half, self._half)


def last_level_cache_bytes(folder: Path = _CPU0_CACHES) -> int:
    """Size of the largest cache this system describes, else of ``sysconf``, else 32 MiB."""
    sizes = [_size(one) for one in sorted(folder.glob("index*/size"))]
    for name in ("SC_LEVEL4_CACHE_SIZE", "SC_LEVEL3_CACHE_SIZE", "SC_LEVEL2_CACHE_SIZE"):
        if name in os.sysconf_names:
            sizes.append(max(0, os.sysconf(name)))
    return max([*sizes, 0]) or _DEFAULT_LLC_BYTES


def _size(path: Path) -> int:
    text = path.read_text(encoding="ascii").strip()
    unit = _UNITS.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0
