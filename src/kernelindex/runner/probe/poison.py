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
_M_MMAP_MAX = -4
_MMAP_MAX_DEFAULT = 65_536
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
    """While open, malloc keeps freed memory to itself, and blocks of these sizes are filled.

    Without that, blocks of 128 KiB and more come from the system as zeros.
    """
    library = ctypes.CDLL(None)
    mallopt = getattr(library, "mallopt", None)
    if mallopt is None:
        yield
        return
    mallopt(_M_MMAP_MAX, 0)
    try:
        _fill_heap(library, sizes)
        yield
    finally:
        mallopt(_M_MMAP_MAX, _MMAP_MAX_DEFAULT)


def _fill_heap(library: ctypes.CDLL, sizes: list[int]) -> None:
    """Allocate twice each size, fill, and free in reverse; a guard block keeps the heap's top."""
    malloc, free, memset = library.malloc, library.free, library.memset
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    free.argtypes = [ctypes.c_void_p]
    memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    memset.restype = ctypes.c_void_p
    blocks = []
    for size in sizes:
        for _ in range(2):
            block = malloc(size + 128)
            if block:
                memset(block, POISON_BYTE, size + 128)
                blocks.append(block)
    guard = malloc(64)
    for block in reversed(blocks):
        free(block)
    free(guard)
