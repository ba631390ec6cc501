"""A real PostgreSQL for the tests: Debian's server, started once on a free port.

The server refuses to run as root, so as root it is started as the user ``postgres``.
Durability is switched off: the crash tests kill clients, never the server.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

SERVER_USER = "postgres"
START_S = 120.0
TRIES = 3
"""Somebody else may be given a free port before the server takes it."""
OPTIONS = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=100",
)


@dataclass(frozen=True)
class Server:
    """A running server; databases are made from a prepared template."""

    port: int
    folder: Path
    binaries: Path

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of one of its databases."""
        return f"postgresql+psycopg://{SERVER_USER}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """Run a statement outside a transaction, on the maintenance database."""
        import psycopg

        dsn = f"host=127.0.0.1 port={self.port} user={SERVER_USER} dbname=postgres"
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(statement.encode())

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        stop: list[str | Path] = [self.binaries / "pg_ctl", "-D", self.folder / "data", "stop"]
        command = [*stop, "-m", "immediate"]
        _run_as_server_user(command)
        shutil.rmtree(self.folder, ignore_errors=True)


def find_binaries() -> Path | None:
    """The folder of the newest server's programs, wherever Debian or a path has them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def start_server() -> Server | str:
    """A fresh server, or the reason in words why there is none."""
    binaries = find_binaries()
    if binaries is None:
        return "no server: PostgreSQL is not installed"
    if os.geteuid() == 0 and not _server_user_exists():
        return f"no server: running as root without the user {SERVER_USER} or the program runuser"
    said = ""
    for _ in range(TRIES):
        folder = Path(tempfile.mkdtemp(prefix="ki-postgres-"))
        server = Server(port=_free_port(), folder=folder, binaries=binaries)
        try:
            _start(server)
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            said = f"no server: {error}"
        else:
            return server
    return said


def _start(server: Server) -> None:
    if os.geteuid() == 0:
        shutil.chown(server.folder, SERVER_USER)
    data = server.folder / "data"
    words = f"-U {SERVER_USER} -A trust -E UTF8 --locale C.UTF-8 --no-sync".split()
    _run_as_server_user([server.binaries / "initdb", "-D", data, *words])
    with (data / "postgresql.conf").open("a") as config:
        config.write("".join(f"{option}\n" for option in OPTIONS).replace("=", " = "))
        config.write(f"port = {server.port}\nunix_socket_directories = '{server.folder}'\n")
        config.write("listen_addresses = '127.0.0.1'\n")
    log = server.folder / "log"
    _run_as_server_user(
        [server.binaries / "pg_ctl", "-D", data, "-l", log, "-w", "-t", str(int(START_S)), "start"]
    )


def _run_as_server_user(command: list[str | Path]) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = [_runuser() or "runuser", "-u", SERVER_USER, "--", *words]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


def _version(initdb: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in initdb.parent.parent.name.split(".") if part.isdigit())


def _server_user_exists() -> bool:
    try:
        pwd.getpwnam(SERVER_USER)
    except KeyError:
        return False
    return _runuser() is not None


def _runuser() -> str | None:
    """The program; root's path lacks its folder after a plain ``su``."""
    return shutil.which("runuser", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
