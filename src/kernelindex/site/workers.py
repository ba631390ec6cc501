"""Several serving processes of one set of modules: loaded once, then forked.

uvicorn spawns each worker as a fresh interpreter, which loads everything again: two workers
and their parent took 280 MB. Forked ones share what was loaded before: what the site is made
of, its templates and the registry.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
from typing import TYPE_CHECKING

from uvicorn import Server, _subprocess
from uvicorn.supervisors import Multiprocess

if TYPE_CHECKING:
    from socket import socket

    from uvicorn import Config

M_ARENA_MAX = -8
ARENAS = 2
"""Heaps of glibc's allocator a process: by default one a thread, and each keeps free pages."""


def serve(config: Config, sockets: list[socket]) -> None:
    """Serve with ``config.workers`` processes until told to stop; one that dies is replaced."""
    _bound_arenas()
    if config.workers == 1:
        Server(config).run(sockets=sockets)
        return
    if "fork" in multiprocessing.get_all_start_methods():
        _load()
        # uvicorn names the way its workers start in this one place; there is no setting for it.
        _subprocess.spawn = multiprocessing.get_context("fork")  # type: ignore[assignment]
    Multiprocess(config, sockets=sockets).run()


def _bound_arenas() -> None:
    """Bound the heaps, where the C library knows how; forked workers inherit it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENAS)


def _load() -> None:
    """Load what every worker needs, and keep the collector from touching it in each of them."""
    from kernelindex.catalog import versions
    from kernelindex.site import asgi  # noqa: F401 (for what it imports)
    from kernelindex.web import templating

    versions.derived_version()
    templating.load_all()
    gc.collect()
    gc.freeze()
