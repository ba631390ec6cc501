"""Signing a batch with the local runner's key, and taking its bundle into the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.catalog import Catalog
    from kernelindex.catalog.approvals import Approval
    from kernelindex.catalog.intake import ImportReport
    from kernelindex.evidence.keystore import LocalRunner
    from kernelindex.runner.ingest import Ingested


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A signed batch in the catalog; ``said`` are sentences for people."""

    ingested: Ingested
    bundle: Path
    report: ImportReport
    approved: bool
    said: tuple[str, ...]


def publish(catalog: Catalog, folder: Path, runner: LocalRunner, *, actor: str | None) -> Published:
    """Sign a batch folder and import its bundle.

    ``actor`` approves the runner's key in this catalog, where somebody is named. Raises
    BatchError, EvidenceError, CatalogError.
    """
    from kernelindex.catalog import import_records
    from kernelindex.cli.bench.runner import bundle_folder, signing_of
    from kernelindex.runner.ingest import ingest
    from kernelindex.sources import find_source

    target = bundle_folder(runner)
    ingested = ingest(folder, signing_of(runner), target)
    said: list[str] = list(ingested.said)
    if actor:
        said += _approve(catalog, runner, actor)
    path = target / ingested.name
    snapshot, records = find_source("evidence").read(path)
    report = import_records(catalog, snapshot, records)
    approved = is_approved(catalog, runner)
    if not approved:
        said.append(
            f"this index does not approve {runner.name}'s key, so its runs are not verified;"
            " its operator may: --approve NAME"
        )
    return Published(
        ingested=ingested, bundle=path, report=report, approved=approved, said=tuple(said)
    )


def is_approved(catalog: Catalog, runner: LocalRunner) -> bool:
    """Whether this catalog approves the runner's key."""
    word = _word_on(catalog, runner)
    return word is not None and word.approved


def _word_on(catalog: Catalog, runner: LocalRunner) -> Approval | None:
    """The last word that this catalog has on the runner's key."""
    from kernelindex.catalog.approvals import list_approvals

    digest = runner.public.digest
    return next((one for one in list_approvals(catalog) if one.key_digest == digest), None)


def _approve(catalog: Catalog, runner: LocalRunner, actor: str) -> list[str]:
    from kernelindex.catalog.approvals import approve

    word = _word_on(catalog, runner)
    if word is not None and word.approved:
        return []
    if word is not None:
        return [
            f"{word.actor} revoked {runner.name}'s key in this index ({word.reason}), and --approve"
            f" takes no such word back: ki evidence keys approve {word.public_key} does"
        ]
    approve(
        catalog,
        public_key=runner.public.text,
        name=runner.name,
        owner=runner.owner,
        host=runner.host,
        actor=actor,
        reason="a runner of this machine, approved on the command line",
    )
    return [f"{actor} approved {runner.name}'s key in this index"]
