"""The server's secret: 256 random bits in a file that only its user can read."""

from __future__ import annotations

import os
import secrets
import stat
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.community.database import READ_ONLY
from kernelindex.community.refusals import refusal
from kernelindex.settings import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET_BYTES = 32
SECRET_NAME = "server-secret"
SQLITE = "sqlite:///"


def secret_path(database_url: str, environ: Mapping[str, str] | None = None) -> Path:
    """Where the secret lies: ``KI_SECRET_FILE``, beside a SQLite file, or the data folder.

    Several machines that serve one PostgreSQL need the same content in each one's file.
    """
    env = os.environ if environ is None else environ
    if stated := env.get("KI_SECRET_FILE"):
        return Path(stated)
    if database_url.startswith(SQLITE):
        return Path(database_url.removeprefix(SQLITE)).absolute().parent / SECRET_NAME
    return data_folder(env) / SECRET_NAME


def load_secret(path: Path) -> bytes:
    """The secret in a file, made with mode 0600 where there is none.

    Several processes that start at once get the same one: the first to link its file wins.

    Raises:
        CommunityError: ``secret.unusable`` for a file that others can read, or is too short;
            ``contribution.read_only`` where none can be made.
    """
    if not path.exists():
        try:
            _make(path)
        except OSError as error:
            raise refusal("contribution.read_only", READ_ONLY) from error
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise refusal(
            "secret.unusable", f"{path} has mode {mode:04o}; make it private: chmod 600 {path}"
        )
    try:
        found = bytes.fromhex(path.read_text().strip())
    except ValueError:
        found = b""
    if len(found) < SECRET_BYTES:
        raise refusal(
            "secret.unusable",
            f"{path} holds no secret of {SECRET_BYTES} bytes in hex; remove it to have one made",
        )
    return found


@cache
def server_secret(database_url: str) -> bytes:
    """The secret of the server of a database, read once.

    Raises:
        CommunityError: ``secret.unusable``.
    """
    return load_secret(secret_path(database_url))


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES) + "\n")
        os.link(mine, path)
    except FileExistsError:
        pass
    finally:
        mine.unlink()
