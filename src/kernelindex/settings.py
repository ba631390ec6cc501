"""Where this installation keeps things, resolved explicitly; standard library only.

Order for the database: an explicit URL (``--db``), ``KI_DB``, ``./.ki/ki.db`` when the
working folder is a clone of this repository, the user's data folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASE_NAME = "ki.db"
DEFAULT_RATE = "1800/minute"
UNLIMITED = "off"


def database_url(
    explicit: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """The catalog's URL; a bare path is taken as a SQLite file."""
    env = os.environ if environ is None else environ
    chosen = explicit or env.get("KI_DB")
    if chosen:
        return chosen if "://" in chosen else sqlite_url(Path(chosen))
    here = Path.cwd() if cwd is None else cwd
    if is_clone(here):
        return sqlite_url(here / ".ki" / DATABASE_NAME)
    return sqlite_url(data_folder(env) / DATABASE_NAME)


def public_address(environ: Mapping[str, str] | None = None) -> str:
    """``KI_BASE_URL``: the address that readers know the site by, without a slash at its end.

    Empty where it is not said; links between pages need none.
    """
    return (os.environ if environ is None else environ).get("KI_BASE_URL", "").rstrip("/")


def request_rate(environ: Mapping[str, str] | None = None) -> str | None:
    """``KI_RATE``: what one address may ask, such as ``1800/minute``; None where ``off``."""
    stated = (os.environ if environ is None else environ).get("KI_RATE", "") or DEFAULT_RATE
    return None if stated == UNLIMITED else stated


def sqlite_url(path: Path) -> str:
    """``sqlite:///`` URL of a file, made absolute."""
    return f"sqlite:///{path.expanduser().absolute()}"


def compiled_folder(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Path:
    """Where trials keep compiled code: ``./.ki/compiled`` in a clone, else the user's data."""
    here = Path.cwd() if cwd is None else cwd
    base = (
        here / ".ki" if is_clone(here) else data_folder(os.environ if environ is None else environ)
    )
    return base / "compiled"


def is_clone(folder: Path) -> bool:
    """Whether a folder is a checkout of this package's source."""
    return (folder / "src" / "kernelindex").is_dir() and (folder / "pyproject.toml").is_file()


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The user's data folder for this program, by the rules of the platform."""
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Application Support" / "kernelindex"
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / "kernelindex"
    shared = environ.get("XDG_DATA_HOME")
    root = Path(shared) if shared and Path(shared).is_absolute() else home / ".local" / "share"
    return root / "kernelindex"
