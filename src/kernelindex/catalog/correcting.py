"""Superseding and retracting a run: a small change, published at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from kernelindex.catalog import bulk, heads, publishing, row_tuples
from kernelindex.catalog.importing import now_text
from kernelindex.catalog.listings import recount_status
from kernelindex.catalog.rejudging import judge_again
from kernelindex.catalog.tables import derived, truth
from kernelindex.errors import CatalogError, NotFoundError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import Correction

ACTIONS = (heads.SUPERSEDE, heads.RETRACT)


def correct(catalog: Database, correction: Correction, *, at: str | None = None) -> bool:
    """Apply one correction; False where it was said before. Append-only: nothing is deleted.

    ``at`` is the instant it is dated with, now where it is None.

    Raises:
        CatalogError: ``catalog.correction`` where actor, reason or successor is missing, or
            the successor is itself retracted or superseded.
        NotFoundError: where the run, or the one that supersedes it, is not here.
    """
    _check(correction)
    row = row_tuples.correction_row(correction, at or now_text())
    with catalog.writing() as conn:
        publishing.read_generation(conn, lock=True)
        _require_runs(conn, correction)
        if bulk.present(conn, [truth.corrections.c.id], [row[0]]):
            return False
        _require_standing(conn, correction)
        bulk.insert_rows(conn, truth.corrections, [row])
        _judge_again(conn, correction.run_digest)
        recount_status(conn)
        publishing.raise_generation(conn)
    return True


def is_corrected(catalog: Database, correction: Correction) -> bool:
    """Whether exactly this was said before."""
    row = row_tuples.correction_row(correction, "")
    with catalog.reading() as conn:
        return bool(bulk.present(conn, [truth.corrections.c.id], [row[0]]))


def _check(correction: Correction) -> None:
    problems = [name for name in ("actor", "reason") if not getattr(correction, name).strip()]
    if correction.action not in ACTIONS:
        problems.append(f"action (one of {', '.join(ACTIONS)})")
    if (correction.action == heads.SUPERSEDE) != (correction.by_digest is not None):
        problems.append("by_digest (for supersede, and only there)")
    if correction.by_digest == correction.run_digest:
        problems.append("by_digest (another run)")
    if problems:
        raise CatalogError(
            f"A correction needs {', '.join(problems)}; seen {correction.action}"
            f" {correction.run_digest}, by {correction.by_digest or 'nothing'}",
            code="catalog.correction",
        )


def _require_runs(conn: Connection, correction: Correction) -> None:
    wanted = [digest for digest in (correction.run_digest, correction.by_digest) if digest]
    found = bulk.present(conn, [truth.manifests.c.digest], wanted)
    for digest in wanted:
        if digest not in found:
            raise NotFoundError(f"No run {digest} is in this catalog.")


def _require_standing(conn: Connection, correction: Correction) -> None:
    """A run that does not stand itself takes no other's place."""
    if correction.by_digest is None:
        return
    superseded_by, retracted = heads.standing_of(conn, correction.by_digest)
    if retracted is None and superseded_by is None:
        return
    why = f"retracted ({retracted})" if superseded_by is None else f"superseded by {superseded_by}"
    raise CatalogError(
        f"{correction.by_digest} cannot supersede {correction.run_digest}: it is itself {why}. "
        "Name a run that stands.",
        code="catalog.correction",
    )


def _judge_again(conn: Connection, digest: str) -> None:
    """Judge the run's cohort anew."""
    query = select(derived.runs.c.cohort_key).where(derived.runs.c.digest == digest)
    key = conn.execute(query).scalar_one_or_none()
    if key is not None:
        standing = {digest: heads.standing_of(conn, digest)}
        judge_again(conn, [key], action="correction", detail=digest, standing=standing)
