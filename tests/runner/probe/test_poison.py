from __future__ import annotations

import ctypes

from kernelindex.runner.probe.poison import poisoned_heap
from kernelindex.runner.probe.state import POISON_BYTE

SIZE = 3 << 20


def allocate(library: ctypes.CDLL, size: int) -> int:
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    return int(library.malloc(size))


def test_memory_that_is_never_written_shows() -> None:
    library = ctypes.CDLL(None)
    library.free.argtypes = [ctypes.c_void_p]
    with poisoned_heap([SIZE]):
        block = allocate(library, SIZE)
        seen = ctypes.string_at(block + 4096, SIZE - 8192)
        library.free(block)
    assert seen.count(bytes([POISON_BYTE])) > 0.99 * len(seen)


def test_sizes_beyond_the_heap_are_left_out() -> None:
    with poisoned_heap([0, 1 << 40]):
        pass
