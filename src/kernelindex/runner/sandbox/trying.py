"""Which isolation this machine allows, found by trying."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import kernelindex
from kernelindex.runner.sandbox.isolation import FEATURES, Isolation, build_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TRIAL_SECONDS = 60.0


def find_isolation(device: str = "cpu", kinds: Sequence[str] | None = None) -> Isolation:
    """The strongest isolation in which a process keeps its own folder and the device.

    ``kinds`` restricts the choice; its ``features`` are those seen to hold from inside.
    """
    for candidate in candidates(kinds):
        features = try_isolation(candidate, device)
        if features is not None and (features or candidate.kind == "limits"):
            return replace(candidate, features=features)
    return Isolation(kind="limits")


def candidates(kinds: Sequence[str] | None = None) -> Iterator[Isolation]:
    """What to try, strongest first."""
    program = shutil.which("bwrap")
    if program:
        yield from _of(kinds, Isolation(kind="bubblewrap", features=FEATURES, program=program))
    for count in (3, 2, 1):
        for user in (False, True) if os.getuid() == 0 else (True,):
            made = Isolation(kind="namespaces", features=FEATURES[:count], user=user)
            yield from _of(kinds, made)
    yield from _of(kinds, Isolation(kind="limits"))


def _of(kinds: Sequence[str] | None, isolation: Isolation) -> Iterator[Isolation]:
    if kinds is None or isolation.kind in kinds:
        yield isolation


def try_isolation(isolation: Isolation, device: str = "cpu") -> tuple[str, ...] | None:
    """Which features hold, as seen from inside; None where it cannot be used at all."""
    with tempfile.TemporaryDirectory(prefix="kernelindex-trial-") as folder:
        own, forbidden = Path(folder, "own"), Path(folder, "forbidden")
        own.mkdir()
        forbidden.mkdir()
        seen = _look(isolation, own, forbidden, device)
    if seen is None or not (seen["own"] and seen["device"]):
        return None
    return tuple(name for name in isolation.features if seen[name])


def _look(isolation: Isolation, own: Path, forbidden: Path, device: str) -> dict[str, bool] | None:
    trial = [sys.executable, "-S", "-m", "kernelindex.runner.sandbox.trial"]
    outside = str(Path("/proc/self/ns/pid").readlink())
    asked = [*trial, str(own), str(forbidden), outside, device]
    command = build_command(isolation, asked, writable=[own])
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            cwd=own,
            timeout=_TRIAL_SECONDS,
            env={**os.environ, "PYTHONPATH": _source_root()},
            stdin=subprocess.DEVNULL,
        )
        found: dict[str, bool] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return found


def _source_root() -> str:
    return str(Path(kernelindex.__file__).resolve().parent.parent)
