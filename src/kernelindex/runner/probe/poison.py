"""Fills free memory before a checked call, so that what is never written shows.

Every byte becomes ``POISON_BYTE``: NaN in floating point. On a device the free blocks of
torch's allocator are filled, on a host the free lists of malloc; a block that is later fetched
fresh from the system (zeros, on a host) is not reached, and no harm follows from that.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kernelindex.runner.probe.state import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_SMALL_BLOCKS = 48
_SMALL_BYTES = 1 << 20
_LARGEST_BYTES = 8 << 30
_LARGEST_HEAP_BYTES = 30 << 20
_SLACK = 256  # an aligned allocation asks for a little more than its size
_LEAST_BLOCKS, _MOST_BLOCKS = 2, 64
_PARTS = (2, 4, 8)


def poison_device(torch_module: Any, device: str, wanted_bytes: int) -> None:
    """Fill what the allocator holds free, and about ``wanted_bytes`` of fresh memory.

    The cache is emptied first, so that what follows is carved from blocks filled here: one of
    half the amount, smaller ones beside it, and blocks of the small pool (1 MiB and less).
    """
    torch_module.cuda.empty_cache()
    free, _ = torch_module.cuda.mem_get_info(device)
    budget = min(_LARGEST_BYTES, max(wanted_bytes, 64 << 20), int(free * 0.5))
    sizes = [budget // part for part in _PARTS] + [_SMALL_BYTES] * _SMALL_BLOCKS
    _fill(torch_module, device, sizes)
    torch_module.cuda.synchronize(device)


def _fill(torch_module: Any, device: str, sizes: list[int]) -> None:
    held: list[torch.Tensor] = []
    with suppress(torch_module.OutOfMemoryError):
        for size in sizes:
            held.append(
                torch_module.full((size,), POISON_BYTE, dtype=torch_module.uint8, device=device)
            )
    held.clear()


@contextmanager
def poisoned_heap(sizes: list[int]) -> Iterator[None]:
    """Fill blocks of these sizes on malloc's heap; while open, a guard keeps them there.

    malloc's own settings stay as they are, since setting one would change how long large
    allocations take. A first block of each size, freed, makes glibc take the next from its
    heap (its threshold follows what is freed, up to 32 MiB); larger ones are left out.
    """
    wanted = {size for size in sizes if 0 < size <= _LARGEST_HEAP_BYTES}
    fitting = sorted(wanted | {size + _SLACK for size in wanted}, reverse=True)
    heap = _Heap(fitting)
    blocks = [block for size in fitting for block in heap.filled(size)]
    guard = heap.malloc(max(fitting, default=_SLACK))
    for block in reversed(blocks):
        heap.free(block)
    try:
        yield
    finally:
        heap.free(guard)


class _Mallinfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc 2.33 and newer."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks")),
        ("keepcost", ctypes.c_size_t),
    ]


class _Heap:
    """malloc, free and memset of the C library of this process."""

    def __init__(self, sizes: list[int]) -> None:
        library = ctypes.CDLL(None)
        self.malloc, self.free, self._memset = library.malloc, library.free, library.memset
        self.malloc.restype, self.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        self.free.restype, self.free.argtypes = None, [ctypes.c_void_p]
        self._memset.restype = ctypes.c_void_p
        self._memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
        for size in sizes:
            self.free(self.malloc(size))
        self._end = _free_end(library)

    def filled(self, size: int) -> Iterator[int]:
        """Blocks full of the poison byte: every free one that fits, two at the least.

        Were some left, what fits best could be one of them: freed blocks join their neighbours.
        """
        for count in range(1, _MOST_BLOCKS + 1):
            block: int | None = self.malloc(size)
            if not block:
                return
            self._memset(block, POISON_BYTE, size)
            yield block
            if block >= self._end and count >= _LEAST_BLOCKS:
                return


def _free_end(library: Any) -> int:
    """Where the free part at the heap's end begins: a block from there is no piece in between.

    glibc 2.33 and newer says how long it is, in microseconds to milliseconds: it walks all that
    is free, so it is asked once. Elsewhere 0, as if every block came from the end.
    """
    mallinfo = getattr(library, "mallinfo2", None)
    if mallinfo is None:
        return 0
    mallinfo.restype, mallinfo.argtypes = _Mallinfo, []
    library.sbrk.restype, library.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    return int(library.sbrk(0) or 0) - int(mallinfo().keepcost)
