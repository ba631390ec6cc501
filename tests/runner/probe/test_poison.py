from __future__ import annotations

import ctypes
import random
import subprocess
import sys

from kernelindex.runner.probe.poison import poisoned_heap
from kernelindex.runner.probe.state import POISON_BYTE

SIZE = 3 << 20
HEAPS = 60


def test_memory_that_is_never_written_shows_however_the_heap_was_cut_up() -> None:
    # In a process of its own: what else lives in this one would decide what is tried.
    ran = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, f"{HEAPS} of {HEAPS}", "")


def test_sizes_beyond_the_heap_are_left_out() -> None:
    with poisoned_heap([0, 1 << 40]):
        pass


def cut_up(library: ctypes.CDLL, draw: random.Random) -> None:
    """Leave free blocks of many sizes, some of them just large enough, between used ones.

    Those that stay are not written: they would be a gigabyte in the end.
    """
    held = []
    for _ in range(draw.randrange(4, 20)):
        size = draw.choice([SIZE + draw.randrange(600), draw.randrange(1 << 10, 8 << 20)])
        held.append((library.malloc(size), size))
    draw.shuffle(held)
    for block, size in held[: len(held) * 2 // 3]:  # the others stay: neighbours do not become one
        library.memset(block, 0x41, size)
        library.free(block)


def shows(library: ctypes.CDLL) -> bool:
    """Whether a block asked for now is full of the poison."""
    with poisoned_heap([SIZE]):
        block = library.malloc(SIZE)
        seen = ctypes.string_at(block + 4096, SIZE - 8192)
        library.free(block)
    return seen.count(bytes([POISON_BYTE])) > 0.99 * len(seen)


def main() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    library.memset.restype = ctypes.c_void_p
    library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    found = 0
    for seed in range(HEAPS):
        cut_up(library, random.Random(seed))
        found += shows(library)
    print(found, "of", HEAPS)


if __name__ == "__main__":
    main()
