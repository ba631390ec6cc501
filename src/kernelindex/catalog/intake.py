"""What a source hands to the catalog: one outcome for every row it read.

A source is a generator of ``Row`` and ``Skipped``. One source row gives exactly one of
them, so that added + existing + superseding + skipped equals the rows read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.manifests import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One fetched state of a source; ``digest`` is over its raw bytes."""

    source: str
    name: str
    digest: str
    size_bytes: int
    fetched_at: str
    parser_version: int
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """That a source says a run happened, with its own row kept verbatim.

    ``row_key`` is the source's own key for sources that overwrite rows, compared by
    ``row_stamp`` text: a later stamp supersedes. Without it the design's observation key
    (source, benchmark, externalId, implementation, workload, protocol, environment) holds.
    ``bound`` names facts our reviewed table supplied (``dtype``), with where they rest.
    """

    run_digest: str
    source: str
    row: Mapping[str, Any]
    row_key: str | None = None
    row_stamp: str | None = None
    published_at: str | None = None
    bound: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A foreign identifier of an object here."""

    alias: str
    kind: str
    digest: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLink:
    """That an implementation belongs to a project (projects are mutable, named by slug)."""

    implementation_digest: str
    project: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A body or a pointer to one, named by the digest of its bytes."""

    digest: str
    kind: str
    media_type: str
    size_bytes: int
    uri: str | None = None
    license: str | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceBundle:
    """A signed bundle; its bytes are the body of the artifact of the same digest.

    ``record_digest`` is of the signed statement, ``key_digest`` of the key that signed it.
    """

    digest: str
    statement_type: str
    record_digest: str
    key_digest: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFinding:
    """What verifying a bundle found of one run, as ``catalog.findings`` reads it."""

    bundle_digest: str
    run_digest: str
    key_digest: str
    finding: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Supersede or retract a run, with who says so and why."""

    action: str
    run_digest: str
    actor: str
    reason: str
    by_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One source row and everything it becomes.

    It counts as existing when its observation (or, without one, its first manifest,
    alias, artifact or correction) is already in the catalog. ``notes`` name what the
    source's own derived columns say otherwise than its manifests; the row is still taken.
    """

    where: str
    manifests: tuple[Manifest, ...] = ()
    observation: Observation | None = None
    aliases: tuple[Alias, ...] = ()
    links: tuple[ProjectLink, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    corrections: tuple[Correction, ...] = ()
    bundles: tuple[EvidenceBundle, ...] = ()
    findings: tuple[EvidenceFinding, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A row that became nothing, counted under a stable reason code."""

    where: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did; the counts add up to ``read``.

    ``corrections`` counts those that travel with the source, applied now or before; empty
    for a source that brings none.
    """

    source: str
    snapshot: str
    dry_run: bool
    read: int
    added: int
    existing: int
    superseding: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    becomes: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    corrections: Mapping[str, int] = field(default_factory=dict)

    @property
    def took_nothing(self) -> bool:
        """Whether there was something to read, and every row of it was refused."""
        return self.read > 0 and sum(self.skipped.values()) == self.read

    @property
    def refused_bundles(self) -> int:
        """Bundles of evidence with a fault: changed, or signed by nobody."""
        return sum(count for why, count in self.skipped.items() if why.startswith("evidence."))

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON of ``ki import --json``."""
        return {
            "source": self.source,
            "snapshot": self.snapshot,
            "dryRun": self.dry_run,
            "read": self.read,
            "added": self.added,
            "existing": self.existing,
            "superseding": self.superseding,
            "skipped": dict(sorted(self.skipped.items())),
            "becomes": dict(sorted(self.becomes.items())),
            "problems": list(self.problems),
            "corrections": dict(sorted(self.corrections.items())),
        }
