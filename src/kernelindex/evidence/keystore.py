"""Runners of this machine: a folder each, with its key, its owner and its ledger.

<folder>/<name>/key.pem        the private key, mode 0600; it is never printed
                public.key     the public key's one line
                owner, host    who runs it and where, as evidence will state them
                ledger.jsonl   every batch it planned, and what became of each
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.errors import EvidenceError
from kernelindex.evidence.keys import PublicKey, Signer
from kernelindex.settings import data_folder, is_clone

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY, PUBLIC, OWNER, HOST, LEDGER = "key.pem", "public.key", "owner", "host", "ledger.jsonl"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
MODE = 0o600
USUAL = "local"
"""The runner that is meant where several are there and none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRunner:
    """A runner whose private key is on this machine."""

    name: str
    folder: Path
    owner: str
    host: str
    public: PublicKey

    @property
    def ledger(self) -> Path:
        """Its ledger of batches."""
        return self.folder / LEDGER

    def signer(self) -> Signer:
        """Its private key.

        Raises ``EvidenceError``: ``evidence.key`` where it is unreadable or no key,
        ``evidence.key_mode`` where others may read it.
        """
        path = self.folder / KEY
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            data = path.read_bytes()
        except OSError as error:
            raise EvidenceError(f"{path}: {error.strerror}", code="evidence.key") from error
        if mode & 0o077:
            raise EvidenceError(
                f"{path} has mode {mode:04o}, so others may read it; wanted 0600: chmod 600 it, "
                "or make a new key if somebody did",
                code="evidence.key_mode",
            )
        return Signer.from_pem(data, str(path))


def runners_folder(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Path:
    """Where runners are kept: ``KI_RUNNERS``, ``./.ki/runners`` in a clone, the user's data."""
    env = os.environ if environ is None else environ
    here = Path.cwd() if cwd is None else cwd
    if env.get("KI_RUNNERS"):
        return Path(env["KI_RUNNERS"])
    return (here / ".ki" if is_clone(here) else data_folder(env)) / "runners"


def new_runner(name: str, *, owner: str, host: str, folder: Path | None = None) -> LocalRunner:
    """Make a runner with a new key; one that is there is never overwritten.

    Raises ``EvidenceError``: ``evidence.runner`` for a name that no folder can have, without
    owner or host, or where it exists.
    """
    if not NAME.fullmatch(name) or not owner.strip() or not host.strip():
        raise EvidenceError(
            f"a runner has a name of letters, digits, . _ -, an owner and a host; seen {name!r}, "
            f"{owner!r}, {host!r}",
            code="evidence.runner",
        )
    place = (folder or runners_folder()) / name
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    signer = Signer.new()
    texts = {PUBLIC: signer.public.text, OWNER: owner.strip(), HOST: host.strip()}
    # All of it lies on the disk before any of it is in its place: half a key is none.
    with tempfile.TemporaryDirectory(prefix=".new-", dir=place) as made:
        _write_secret(Path(made) / KEY, signer.to_pem())
        for file, text in texts.items():
            (Path(made) / file).write_text(f"{text}\n", encoding="utf-8")
        _put_key(Path(made) / KEY, place / KEY)
        for file in texts:
            (Path(made) / file).replace(place / file)
    return load_runner(name, folder)


def load_runner(name: str | None = None, folder: Path | None = None) -> LocalRunner:
    """The runner of that name; a path leads to its folder or key.

    Unnamed it is the only one there is, else ``local``. Raises ``EvidenceError``
    (``evidence.runner``) where there is none, or several unnamed and none is ``local``.
    """
    base = folder or runners_folder()
    if name is not None and ("/" in name or Path(name).suffix == ".pem"):
        path = Path(name)
        return _load(path if path.is_dir() else path.parent)
    names = [one.name for one in list_runners(base)]
    if name is None and len(names) == 1:
        return _load(base / names[0])
    chosen = name or USUAL
    if chosen not in names:
        known = f"there are {', '.join(names)}" if names else "there is none"
        remedy = "Name one: --runner NAME" if names else "Make one"
        remedy += ", or make one" if names else ""
        raise EvidenceError(
            f"no runner {name or 'is named'} in {base}; {known}. {remedy}: "
            "ki evidence keys new NAME --owner OWNER",
            code="evidence.runner",
        )
    return _load(base / chosen)


def list_runners(folder: Path | None = None) -> tuple[LocalRunner, ...]:
    """Every runner of this machine, by name."""
    base = folder or runners_folder()
    if not base.is_dir():
        return ()
    return tuple(_load(one) for one in sorted(base.iterdir()) if (one / KEY).is_file())


def _load(place: Path) -> LocalRunner:
    public = _text(place / PUBLIC)
    if not public:
        signer = Signer.from_pem(_bytes(place / KEY), str(place / KEY))
        public = signer.public.text
    return LocalRunner(
        name=place.resolve().name,
        folder=place,
        owner=_text(place / OWNER) or "unstated",
        host=_text(place / HOST) or os.uname().nodename or "unstated",
        public=PublicKey.parse(public),
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"{path}: {error.strerror}", code="evidence.key") from error


def _write_secret(path: Path, data: bytes) -> None:
    """A new file that only its owner may read, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(file.fileno(), MODE)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put_key(made: Path, path: Path) -> None:
    """Give a whole key its name, unless that is taken."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise EvidenceError(
            f"{path} exists and is not overwritten: what it signed could not be continued",
            code="evidence.runner",
        ) from None
