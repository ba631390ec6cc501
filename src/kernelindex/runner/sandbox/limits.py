"""Resource limits of a process, set before a candidate's code is loaded."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one process and its children may take.

    Address space is not limited: CUDA reserves more of it than any machine has. Resident
    memory is watched by the worker instead.
    """

    file_bytes: int = 32 << 30
    open_files: int = 65536
    processes: int = 16384


def apply_limits(limits: Limits) -> None:
    """Set the limits of this process as far as the machine's own maxima allow."""
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_NOFILE, limits.open_files)
    _lower(resource.RLIMIT_NPROC, limits.processes)
    _lower(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _lower(which: int, wanted: int) -> None:
    _, hard = resource.getrlimit(which)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))
