"""Rows that hold one manifest each, and the small tables that hang on them."""

from __future__ import annotations

from kernelindex.catalog.intake import Alias, Artifact, ProjectLink, Row, Skipped
from kernelindex.ids import is_digest
from kernelindex.manifests import Manifest, canonical
from kernelindex.sources.export.entry import SOURCE, Entry, aliases_of, refuse

__all__ = [
    "configuration",
    "described_source",
    "implementation",
    "model",
    "operation",
    "operation_alias",
    "project",
    "serving_workload",
    "stack",
    "stored_artifact",
    "workload",
]

_KEY_PARTS = ("operationSpecDigest", "correctness", "aggregation")


def described_source(entry: Entry) -> Row | Skipped:
    """A source is described in our registry; its row only tells what its id means."""
    from kernelindex.registry.sources_info import SOURCES

    slug = entry.row["slug"]
    entry.ledger.remember(entry.row["id"], slug)
    known = "source_in_registry" if slug in SOURCES else "source_not_in_registry"
    return refuse(entry, known, slug)


def project(entry: Entry) -> Row | Skipped:
    """A software project, also known by its display name."""
    manifest = entry.parse()
    if isinstance(manifest, Skipped):
        return manifest
    entry.ledger.remember(entry.row["id"], manifest.name)
    return _row(entry, manifest, entry.row["id"], entry.row["slug"], entry.row.get("name"))


def operation(entry: Entry) -> Row | Skipped:
    """An OperationSpec; its upstream names come in a table of their own."""
    manifest = _claimed(entry, "semanticDigest")
    if isinstance(manifest, Skipped):
        return manifest
    return _row(entry, manifest, entry.row["id"], entry.row["slug"])


def operation_alias(entry: Entry) -> Row | Skipped:
    """Another name of an operation."""
    known = entry.found["operationId"]
    if known is None:
        return refuse(entry, "reference_not_in_file", f"operationId of {entry.row['alias']}")
    alias = Alias(alias=entry.row["alias"], kind="OperationSpec", digest=known.name, source=SOURCE)
    return Row(where=entry.where, aliases=(alias,))


def workload(entry: Entry) -> Row | Skipped:
    """A WorkloadCase or WorkloadSuite; what a comparison key needs of it is remembered."""
    manifest = entry.parse()
    if isinstance(manifest, Skipped):
        return manifest
    other = _other_digest(entry, manifest, "workloadDigest")
    if other is not None:
        return other
    spec = manifest.document["spec"]
    kept = {key: spec[key] for key in _KEY_PARTS if key in spec}
    entry.ledger.remember(entry.row["id"], manifest.digest, canonical.dumps(kept).decode())
    expected = {"operationId": spec["operationSpecDigest"]}
    return _row(entry, manifest, entry.row["id"], notes=entry.differing(expected))


def implementation(entry: Entry) -> Row | Skipped:
    """An ImplementationRevision and the project it belongs to."""
    manifest = _claimed(entry, "implementationDigest")
    if isinstance(manifest, Skipped):
        return manifest
    expected = {"operationId": manifest.document["spec"]["operation"]["specDigest"]}
    notes = entry.differing(expected)
    owner = entry.found["projectId"]
    if owner is None:
        notes += ("reference_not_in_file: projectId names no row of this file",)
    link = owner and ProjectLink(
        implementation_digest=manifest.digest, project=owner.name, source=SOURCE
    )
    return Row(
        where=entry.where,
        manifests=(manifest,),
        aliases=aliases_of(manifest, entry.row["id"], entry.row["slug"]),
        links=(link,) if link else (),
        notes=notes,
    )


def stored_artifact(entry: Entry) -> Row | Skipped:
    """What is known of an artifact; the export carries no bodies."""
    row = entry.row
    digest = row["contentDigest"]
    size = row.get("sizeBytes")
    if not is_digest(digest) or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        return refuse(entry, "bad_column", "contentDigest or sizeBytes")
    if any(not isinstance(row.get(column), str | None) for column in ("uri", "license")):
        return refuse(entry, "bad_column", "uri or license")
    artifact = Artifact(
        digest=digest,
        kind=row["kind"],
        media_type=row["mediaType"],
        size_bytes=size,
        uri=row.get("uri"),
        license=row.get("license"),
    )
    alias = Alias(alias=row["id"], kind="Artifact", digest=digest, source=SOURCE)
    return Row(where=entry.where, artifacts=(artifact,), aliases=(alias,))


def model(entry: Entry) -> Row | Skipped:
    """A ModelRevision."""
    return _serving_object(entry, "modelDigest")


def stack(entry: Entry) -> Row | Skipped:
    """A ServingStackRevision."""
    return _serving_object(entry, "stackDigest")


def configuration(entry: Entry) -> Row | Skipped:
    """A ServingConfiguration."""
    manifest = _claimed(entry, "configurationDigest")
    if isinstance(manifest, Skipped):
        return manifest
    expected = {"stackRevisionId": manifest.document["spec"]["stackDigest"]}
    return _row(entry, manifest, entry.row["id"], notes=entry.differing(expected))


def serving_workload(entry: Entry) -> Row | Skipped:
    """A ServingWorkload."""
    return _serving_object(entry, "workloadDigest")


def _serving_object(entry: Entry, column: str) -> Row | Skipped:
    manifest = _claimed(entry, column)
    if isinstance(manifest, Skipped):
        return manifest
    return _row(entry, manifest, entry.row["id"], entry.row.get("slug"))


def _claimed(entry: Entry, column: str) -> Manifest | Skipped:
    """The row's manifest if it has the digest that ``column`` claims; its id is remembered."""
    manifest = entry.parse()
    if isinstance(manifest, Skipped):
        return manifest
    other = _other_digest(entry, manifest, column)
    if other is not None:
        return other
    entry.ledger.remember(entry.row["id"], manifest.digest)
    return manifest


def _other_digest(entry: Entry, manifest: Manifest, column: str) -> Skipped | None:
    claimed = entry.row[column]
    if claimed == manifest.digest:
        return None
    return refuse(entry, "digest_differs", f"{column} says {claimed}, ours is {manifest.digest}")


def _row(entry: Entry, manifest: Manifest, *names: object, notes: tuple[str, ...] = ()) -> Row:
    return Row(
        where=entry.where,
        manifests=(manifest,),
        aliases=aliases_of(manifest, *names),
        notes=notes,
    )
