"""What several of the commands take: a runner of this machine, public keys, bundles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kernelindex.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kernelindex.evidence.keys import PublicKey
    from kernelindex.evidence.keystore import LocalRunner

F = TypeVar("F", bound="Callable[..., Any]")
MAX_KEY_FILE = 4096

runner_option = click.option(
    "--runner", "runner_name", metavar="NAME",
    help="Which runner of this machine; else the only one, or local of several.",
)  # fmt: skip
key_file_option = click.option(
    "--key", "key_file", metavar="FILE", type=click.Path(path_type=Path, exists=True),
    help="Its private key instead, a file key.pem with the ledger beside it.",
)  # fmt: skip
out_option = click.option(
    "--out", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
    help="Where the bundle is written; else the runner's folder of bundles.",
)  # fmt: skip


def chosen_runner(name: str | None, key_file: Path | None) -> LocalRunner:
    """The runner that the options name; raises EvidenceError ``evidence.runner``."""
    from kernelindex.evidence.keystore import load_runner

    return load_runner(str(key_file) if key_file else name)


def bundle_place(out: Path | None, runner: LocalRunner) -> Path:
    """Where a bundle is written: the folder given, else beside the runner's other bundles."""
    from kernelindex.cli.bench.runner import bundle_folder

    return out or bundle_folder(runner)


def public_keys(given: Sequence[str]) -> list[PublicKey]:
    """The keys given as text or file; without any, ours and those of this machine.

    Raises EvidenceError ``evidence.key``.
    """
    from kernelindex.evidence.keys import PublicKey
    from kernelindex.evidence.keystore import list_runners
    from kernelindex.registry.runners import load_runners

    if given:
        return [PublicKey.parse(_key_text(one)) for one in given]
    ours = [PublicKey.parse(runner.key) for runner in load_runners()]
    return [*ours, *(runner.public for runner in list_runners())]


def bundle_files(places: Sequence[Path]) -> list[Path]:
    """The bundles that paths name, a folder for all below it.

    Raises EvidenceError ``evidence.archive`` where a folder holds none.
    """
    from kernelindex.evidence.bundle import SUFFIX

    found: list[Path] = []
    for place in places:
        files = sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [place]
        if not files:
            raise EvidenceError(f"{place} holds no file *{SUFFIX}", code="evidence.archive")
        found += files
    return found


def read_bundle(path: Path) -> bytes:
    """The bytes of a bundle, of a size that is read at all.

    Raises EvidenceError ``evidence.archive`` for what is no file: a pipe would be waited for.
    """
    from kernelindex.evidence.bundle import MAX_BYTES
    from kernelindex.runner.regular_file import open_regular

    try:
        with open_regular(path.resolve()) as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise EvidenceError(f"{path}: {error.strerror}", code="evidence.archive") from error


def read_bundles(files: Sequence[Path]) -> Iterator[bytes]:
    """The bytes of each, one at a time."""
    for path in files:
        yield read_bundle(path)


def _key_text(text: str) -> str:
    path = Path(text)
    if text.startswith("ed25519:") or not path.is_file():
        return text
    with path.open("rb") as file:
        return file.read(MAX_KEY_FILE).decode("utf-8", "replace")
