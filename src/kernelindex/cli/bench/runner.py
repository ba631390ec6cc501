"""The runner that plans and signs here: its folder, its key, its ledger of batches."""

from __future__ import annotations

import os
import platform
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.errors import RequestError
from kernelindex.evidence import ledger
from kernelindex.runner.batch_files import digest
from kernelindex.settings import data_folder, is_clone

if TYPE_CHECKING:
    from kernelindex.evidence.keys import Signer
    from kernelindex.runner.ingest import Signing

FOLDER = "runners"
KEY, LEDGER, OWNER, HOST = "key.pem", "ledger.jsonl", "owner", "host"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRunner:
    """A runner of this machine, by its folder."""

    name: str
    folder: Path

    @property
    def ledger(self) -> Path:
        """Its ledger of batches."""
        return self.folder / LEDGER

    @property
    def number(self) -> int:
        """The number of its next batch."""
        return ledger.next_number(self.ledger)

    def batch_folder(self, number: int) -> Path:
        """Where a batch measured here is kept."""
        return self.folder / "batches" / f"{number:05d}"

    def reserve(self, plan: bytes) -> None:
        """Note a plan under its number, before anything of it runs."""
        ledger.plan(self.ledger, self.number, digest(plan))

    @property
    def owner(self) -> str:
        """Who runs it, as stated when its key was made."""
        return (self.folder / OWNER).read_text().strip()

    @property
    def host(self) -> str:
        """The machine it measures on, by the name stated when its key was made."""
        return (self.folder / HOST).read_text().strip()

    def signing(self, version: str) -> Signing:
        """What signing a batch needs of it."""
        from kernelindex.runner.ingest import Signing

        return Signing(
            name=self.name,
            owner=self.owner,
            host=self.host,
            signer=self.signer(),
            ledger=self.ledger,
            version=version,
        )

    def signer(self) -> Signer:
        """Its private key; raises EvidenceError ``evidence.key``."""
        from kernelindex.evidence.keys import Signer

        path = self.folder / KEY
        return Signer.from_pem(path.read_bytes(), str(path))


def local_runner(name: str | None = None) -> LocalRunner:
    """The runner of that name, else the one there is, else one named ``local``.

    Raises RequestError ``runner.name`` for a name that no folder can have.
    """
    folder = runners_folder()
    names = sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    chosen = name or (names[0] if len(names) == 1 else "local")
    if not NAME.fullmatch(chosen):
        raise RequestError(
            f"{chosen!r} is no name of a runner; wanted letters, digits, . _ -", code="runner.name"
        )
    return LocalRunner(name=chosen, folder=folder / chosen)


def plan_number(name: str | None = None) -> LocalRunner:
    """The runner whose next number a plan takes."""
    return local_runner(name)


def ensure_key(runner: LocalRunner) -> str | None:
    """Make the runner's key where it has none; a sentence that says so, or None."""
    from kernelindex.evidence.keys import Signer

    path = runner.folder / KEY
    if path.exists():
        return None
    runner.folder.mkdir(parents=True, exist_ok=True)
    signer = Signer.new()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(signer.to_pem())
    (runner.folder / OWNER).write_text(f"{os.environ.get('USER') or 'operator'}\n")
    (runner.folder / HOST).write_text(f"{host_name()}\n")
    return f"made a key for runner {runner.name}: {signer.public.text}, kept in {path}"


def host_name() -> str:
    """What this machine calls itself."""
    return socket.gethostname() or platform.node() or "unnamed"


def runners_folder() -> Path:
    """Where runners are kept: ``./.ki/runners`` in a clone, else the user's data folder."""
    here = Path.cwd()
    if stated := os.environ.get("KI_RUNNERS"):
        return Path(stated)
    base = here / ".ki" if is_clone(here) else data_folder(os.environ)
    return base / FOLDER
