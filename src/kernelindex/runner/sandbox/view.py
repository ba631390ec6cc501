"""What an enclosed process sees of the file system: what is covered, and shown again beneath it.

Everything can be read but what is covered: the user's home, where keys lie, the places of other
processes. What Python and the candidate need there is shown again, read-only.
"""

from __future__ import annotations

import os
import site
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_CLONE = ".ki"
_PATH_LISTS = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "LIBRARY_PATH", "C_INCLUDE_PATH")
_FOLDERS = ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")


@dataclass(frozen=True, slots=True)
class View:
    """Folders that look empty, and folders beneath them that can be read again."""

    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


def make_view(hidden: Iterable[Path], readable: Iterable[Path]) -> View:
    """What is there of both; nothing is shown again that is not covered, and no cover whole.

    A folder to be read is shown by the name it was asked for and by its real one.
    """
    covered = {real for path in hidden if (real := _real(path)) is not None}
    shown = {
        name
        for path in readable
        if (real := _real(path)) is not None
        for name in (Path(os.path.abspath(path)), real)  # noqa: PTH100 - links stay
    }
    beneath = (one for one in shown if any(cover in one.parents for cover in covered))
    return View(tuple(sorted(covered)), tuple(sorted(beneath)))


def private_folders(environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Where a user keeps secrets, and where runners may: home, user's data, a clone's own."""
    with suppress(RuntimeError):  # a user without a home has nothing there
        yield Path.home()
    if environ.get("XDG_DATA_HOME"):
        yield Path(environ["XDG_DATA_HOME"]) / "kernelindex"
    if environ.get("KI_RUNNERS"):
        yield Path(environ["KI_RUNNERS"])
    yield Path.cwd() / _CLONE
    yield Path(__file__).resolve().parents[4] / _CLONE


def python_folders(environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Where the running Python, its packages and the programs that it calls are found."""
    yield from map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix))
    yield from _interpreter_folders()
    if site.ENABLE_USER_SITE:
        yield Path(site.getuserbase())
    here = Path.cwd()
    yield from (Path(one) for one in sys.path if one and Path(one) != here)
    for name in _PATH_LISTS:
        yield from (Path(one) for one in environ.get(name, "").split(os.pathsep) if one)
    yield from (Path(environ[name]) for name in _FOLDERS if environ.get(name))


def _interpreter_folders() -> Iterator[Path]:
    """The folder of each link on the way to the interpreter."""
    path = Path(sys.executable)
    while path.is_symlink():
        yield path.parent
        path = path.parent / path.readlink()
    yield path.parent


def _real(path: Path) -> Path | None:
    """A folder by its real name; None where there is none, or where it is the root."""
    try:
        found = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return found if found.is_dir() and found != Path(found.anchor) else None
