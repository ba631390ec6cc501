"""Signed bundles of our runner, as a source: one bundle, or a folder of them.

A bundle is verified before anything of it is taken, by the key that it names itself;
whether this index approves that key decides the level of its runs, not whether they are
taken. Nothing is taken of a bundle with a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.catalog.intake import (
    Artifact,
    EvidenceBundle,
    EvidenceFinding,
    Observation,
    ProjectLink,
    Row,
    Skipped,
    Snapshot,
)
from kernelindex.catalog.verifying import (
    forget_bundle,
    read_artifact_body,
    record_verification,
    unverified_bundles,
)
from kernelindex.errors import SourceError
from kernelindex.evidence import bundle
from kernelindex.evidence.findings import findings_of, read_links
from kernelindex.evidence.statement import PREDICATE_TYPE
from kernelindex.evidence.verify import open_bundle
from kernelindex.manifests import digest_of, references
from kernelindex.sources import streams
from kernelindex.sources.snapshots import now, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kernelindex.catalog.database import Database
    from kernelindex.evidence.report import VerifyReport
    from kernelindex.evidence.runs import Contents
    from kernelindex.manifests import Manifest

__all__ = ["PARSER_VERSION", "SOURCE", "read", "rows_of", "verify_stored"]

SOURCE = "kernelindex-runner"
PARSER_VERSION = 1
GZIP, JSON = "application/gzip", "application/json"
KINDS = {
    bundle.CALIBRATION: "calibration",
    bundle.TELEMETRY: "telemetry",
    bundle.FACTS: "environment_facts",
}
"""Files that are kept as artifacts of their own, beside the samples; the bundle has all."""


def read(path: Path | bytes) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of a bundle or of a folder of ``*.evidence.zip``, and a row for each run.

    A bundle gives one row more, for itself. Raises ``SourceError`` (``source.unreadable``)
    for a path that is neither.
    """
    if isinstance(path, bytes):
        return snapshot_of(path, SOURCE, PARSER_VERSION), rows_of(path, "bundle")
    if path.is_dir():
        files = sorted(one for one in path.rglob(f"*{bundle.SUFFIX}") if _is_plain(one))
        if not files:
            raise SourceError(f"{path} holds no file *{bundle.SUFFIX}; give a bundle or a folder")
        return _folder_snapshot(path, files), _files(path, files)
    if not path.is_file():
        raise SourceError(f"{path} is no regular file; give a bundle or a folder of them")
    return snapshot_of(path, SOURCE, PARSER_VERSION), _files(path.parent, [path])


def rows_of(data: bytes, where: str) -> Iterator[Row | Skipped]:
    """What one bundle becomes: itself and its runs, or why nothing of it is taken."""
    report, contents = open_bundle(data, None)
    if contents is None:
        fault = report.faults[0]
        more = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
        detail = f"{fault.where}: {fault.text}{more}"
        yield Skipped(where=where, reason=f"evidence.{fault.code}", detail=detail)
        return
    yield _bundle_row(data, where, contents, report)
    for digest, finding in findings_of(contents, report).items():
        yield _run_row(f"{where}#{digest[7:19]}", contents, report, digest, finding)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _folder_snapshot(folder: Path, files: list[Path]) -> Snapshot:
    prints = {path.relative_to(folder).as_posix(): streams.fingerprint(path) for path in files}
    return Snapshot(
        source=SOURCE,
        name=folder.resolve().name,
        digest=digest_of({name: digest for name, (digest, _) in prints.items()}),
        size_bytes=sum(size for _, size in prints.values()),
        fetched_at=now(),
        parser_version=PARSER_VERSION,
    )


def _files(folder: Path, files: list[Path]) -> Iterator[Row | Skipped]:
    for path in files:
        where = path.relative_to(folder).as_posix()
        if path.stat().st_size > bundle.MAX_BYTES:
            yield Skipped(where=where, reason="evidence.archive", detail="it is too large")
        else:
            yield from rows_of(path.read_bytes(), where)


def _bundle_row(data: bytes, where: str, contents: Contents, report: VerifyReport) -> Row:
    """The bundle itself, with the artifacts that all its runs share."""
    assert report.statement is not None
    assert report.key is not None
    return Row(
        where=where,
        bundles=(
            EvidenceBundle(
                digest=report.digest,
                statement_type=PREDICATE_TYPE,
                record_digest=report.statement.digest,
                key_digest=report.key.digest,
                number=report.statement.batch.number,
            ),
        ),
        artifacts=(
            Artifact(
                digest=report.digest,
                kind="evidence_bundle",
                media_type=bundle.MEDIA_TYPE,
                size_bytes=len(data),
                body=data,
            ),
            *_batch_artifacts(contents),
        ),
    )


def _run_row(
    where: str, contents: Contents, report: VerifyReport, digest: str, finding: Mapping[str, Any]
) -> Row:
    assert report.key is not None
    run = contents.manifests[digest]
    implementation = run.document["spec"]["implementationDigest"]
    project = read_links(contents).get(implementation)
    links: tuple[ProjectLink, ...] = ()
    if project is not None:
        links = (ProjectLink(implementation_digest=implementation, project=project, source=SOURCE),)
    return Row(
        where=where,
        manifests=_parts(contents, run, project),
        observation=Observation(run_digest=run.digest, source=SOURCE, row={}),
        links=links,
        artifacts=tuple(_samples(contents, run)),
        findings=(
            EvidenceFinding(
                bundle_digest=report.digest,
                run_digest=run.digest,
                key_digest=report.key.digest,
                finding=finding,
            ),
        ),
    )


def _parts(contents: Contents, run: Manifest, project: str | None) -> tuple[Manifest, ...]:
    """The run and everything it names, those that others name first."""
    found: dict[str, Manifest] = {}

    def add(manifest: Manifest) -> None:
        for reference in references(manifest):
            add(contents.manifests[reference.digest])
        found[manifest.digest] = manifest

    for manifest in contents.manifests.values():
        if manifest.kind == "SoftwareProject" and manifest.name == project:
            add(manifest)
    add(run)
    return tuple(found.values())


def _batch_artifacts(contents: Contents) -> Iterator[Artifact]:
    """What the whole batch measured beside its samples."""
    for name, kind in sorted(KINDS.items()):
        if name in contents.files:
            yield _artifact(contents, name, kind)


def _samples(contents: Contents, run: Manifest) -> Iterator[Artifact]:
    """The samples that a run names."""
    samples = (run.document["spec"].get("samples") or {}).get("digest")
    if samples is not None:
        yield _artifact(contents, contents.by_digest[samples], "samples")


def _artifact(contents: Contents, name: str, kind: str) -> Artifact:
    data = contents.files[name]
    return Artifact(
        digest=bundle.sha256(data),
        kind=kind,
        media_type=GZIP if name.endswith(".gz") else JSON,
        size_bytes=len(data),
        body=data,
    )


def verify_stored(catalog: Database) -> tuple[int, list[str]]:
    """Verify bundles that an export brought; how many hold, and in words what does not."""
    held, problems = 0, []
    for digest in unverified_bundles(catalog):
        data = read_artifact_body(catalog, digest)
        rows = list(rows_of(data, digest)) if data is not None else []
        taken = [row for row in rows if isinstance(row, Row)]
        bundles = [one for row in taken for one in row.bundles]
        if not bundles or bundles[0].digest != digest:
            why = next((one.detail for one in rows if isinstance(one, Skipped)), "its bytes miss")
            problems.append(f"bundle {digest}: {why}")
            forget_bundle(catalog, digest)
            continue
        record_verification(catalog, bundles[0], [one for row in taken for one in row.findings])
        held += 1
    return held, problems
