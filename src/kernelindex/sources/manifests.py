"""Manifests as files: one (.json, .yaml), many in a .jsonl, or a folder of such files.

Symlinks are never followed and hidden entries are passed over, so that a folder from
elsewhere cannot name a file outside itself.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kernelindex.catalog.intake import Observation, Row, Skipped, Snapshot
from kernelindex.errors import CanonicalError, ManifestError, SourceError
from kernelindex.manifests import Manifest, canonical, digest_of, load
from kernelindex.sources import streams
from kernelindex.sources.snapshots import now, snapshot_of
from kernelindex.sources.streams import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["PARSER_VERSION", "SOURCE", "read"]

SOURCE = "manifests"
PARSER_VERSION = 1

_MAX_DEPTH = 32
_RUN_KINDS = ("BenchmarkRun", "ServingRun")
_LINE_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.zst", ".ndjson.zst")
_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml"} | dict.fromkeys(
    _LINE_SUFFIXES, "lines"
)
# A document marker of YAML stands at the start of a line, even inside a block of text.
_YAML_DOCUMENT = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)

Form = Literal["json", "yaml", "lines"]


def read(
    path: Path | bytes, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of a file or folder and one outcome for each manifest in it.

    Raises ``SourceError`` (``source.unreadable``) for a path that is neither.
    """
    if isinstance(path, bytes):
        return snapshot_of(path, SOURCE, PARSER_VERSION), _text(path, "", _sniff(path), limits)
    if path.is_dir():
        if next(_entries(path), None) is None:
            raise SourceError(f"{path} holds no file; give a folder of manifests, or a manifest")
        return _folder_snapshot(path), _folder(path, limits)
    form = _form_of(path)
    if form is None:
        wanted = ", ".join(sorted(_SUFFIXES))
        raise SourceError(
            f"{path.name}: not a kind of file this source reads; name it {wanted}, or give a folder"
        )
    return snapshot_of(path, SOURCE, PARSER_VERSION), _text(path, path.name, form, limits)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One file of a folder, or why it is left out."""

    path: Path
    name: str
    form: Form | None
    refusal: str | None


def _entries(root: Path) -> Iterator[_Entry]:
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        for path in sorted(folder.iterdir()):
            name = path.relative_to(root).as_posix()
            mode = path.lstat().st_mode
            if path.name.startswith("."):
                continue
            if stat.S_ISDIR(mode) and depth < _MAX_DEPTH:
                pending.append((path, depth + 1))
            else:
                form = _form_of(path)
                yield _Entry(path, name, form, _refusal(mode, form))


def _refusal(mode: int, form: Form | None) -> str | None:
    if stat.S_ISLNK(mode):
        return "symlink_refused"
    if stat.S_ISDIR(mode):
        return "folder_too_deep"
    if not stat.S_ISREG(mode):
        return "not_a_regular_file"
    return None if form else "not_a_manifest_file"


def _folder_snapshot(root: Path) -> Snapshot:
    files = {e.name: streams.fingerprint(e.path) for e in _entries(root) if e.refusal is None}
    return Snapshot(
        source=SOURCE,
        name=root.resolve().name,
        digest=digest_of({name: digest for name, (digest, _) in files.items()}),
        size_bytes=sum(size for _, size in files.values()),
        fetched_at=now(),
        parser_version=PARSER_VERSION,
    )


def _folder(root: Path, limits: Limits) -> Iterator[Row | Skipped]:
    for entry in _entries(root):
        if entry.refusal is not None or entry.form is None:
            yield Skipped(where=entry.name, reason=str(entry.refusal))
        else:
            yield from _text(entry.path, entry.name, entry.form, limits)


def _form_of(path: Path) -> Form | None:
    name = path.name.lower()
    for suffix, form in _SUFFIXES.items():
        if name.endswith(suffix):
            return form  # type: ignore[return-value]
    return None


def _sniff(data: bytes) -> Form:
    """Bytes without a name: one JSON manifest if they are one JSON value, else lines."""
    try:
        canonical.loads(data)
    except CanonicalError as error:
        return "lines" if error.code in {"canonical.syntax", "canonical.too_large"} else "json"
    return "json"


def _text(source: Path | bytes, name: str, form: Form, limits: Limits) -> Iterator[Row | Skipped]:
    if form == "lines":
        for line in streams.lines(source, limits):
            where = f"{name}:{line.number}"
            if line.data is None:
                yield Skipped(
                    where=where, reason="line_too_long", detail=f"{line.size_bytes} bytes"
                )
            elif not line.data.strip():
                yield Skipped(where=where, reason="blank_line")
            else:
                yield _manifest(line.data, where, "json")
        return
    data = _whole(source)
    if data is None:
        yield Skipped(where=name, reason="canonical.too_large")
    elif form == "yaml":
        yield from _yaml(data, name)
    else:
        yield _manifest(data, name, "json")


def _whole(source: Path | bytes) -> bytes | None:
    """All bytes of a file of single manifests, or None where no such file is that long."""
    if isinstance(source, bytes):
        return source
    with source.open("rb") as stream:
        data = stream.read(canonical.MAX_BYTES + 1)
    return data if len(data) <= canonical.MAX_BYTES else None


def _yaml(data: bytes, name: str) -> Iterator[Row | Skipped]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Skipped(where=name, reason="canonical.encoding", detail=str(error))
        return
    documents = [part for part in _YAML_DOCUMENT.split(text) if _says_something(part)]
    for number, document in enumerate(documents, start=1):
        where = name if len(documents) == 1 else f"{name}#{number}"
        yield _manifest(document, where, "yaml")


def _says_something(document: str) -> bool:
    lines = (line.strip() for line in document.splitlines())
    return any(line and not line.startswith(("#", "%")) and line != "..." for line in lines)


def _manifest(data: bytes | str, where: str, form: Literal["json", "yaml"]) -> Row | Skipped:
    try:
        manifest = load(data, form=form)
    except (CanonicalError, ManifestError) as error:
        return Skipped(where=where, reason=error.code, detail=error.message)
    return Row(where=where, manifests=(manifest,), observation=_observation(manifest))


def _observation(manifest: Manifest) -> Observation | None:
    if manifest.kind not in _RUN_KINDS:
        return None
    native = manifest.document["spec"].get("sourceNative") or {}
    return Observation(run_digest=manifest.digest, source=native.get("source", SOURCE), row={})
