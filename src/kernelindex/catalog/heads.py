"""Which of several tellings of one event counts, and what corrections say.

Of several digests with one observation key the head is the newest stamp text, then the
highest parser version, then the smallest digest; the others are superseded. A run
that is not the head of any one of its keys is superseded. Nothing here depends on the
order of arrival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import String, case, func, insert, literal, select, union, union_all

from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from sqlalchemy import Connection, Subquery, Table

SUPERSEDE = "supersede"
RETRACT = "retract"

STAGED_OBSERVATIONS = truth.STAGED["observations"]
STAGED_CORRECTIONS = truth.STAGED["corrections"]


def told(name: str, *, staged: bool = True) -> Subquery:
    """Observations that are published or (else without) staged; a row may come twice."""
    columns = ("key", "run_digest", "stamp", "parser_version", "source", "bound")
    tables = (truth.observations, STAGED_OBSERVATIONS) if staged else (truth.observations,)
    return union_all(*(select(*(t.c[c] for c in columns)) for t in tables)).subquery(name)


def corrected(name: str, *, staged: bool = True) -> Subquery:
    """One row a run: what all corrections say of it together."""
    tables = (truth.corrections, STAGED_CORRECTIONS) if staged else (truth.corrections,)
    rows = union_all(*(_corrections_of(t) for t in tables))
    each = rows.subquery("each_correction")
    return (
        select(
            each.c.run_digest,
            func.min(each.c.by_digest).label("by_digest"),
            func.min(each.c.retracted).label("retracted"),
        )
        .group_by(each.c.run_digest)
        .subquery(name)
    )


def _corrections_of(table: Table) -> Any:
    return select(
        table.c.run_digest,
        case((table.c.action == SUPERSEDE, table.c.by_digest)).label("by_digest"),
        case((table.c.action == RETRACT, table.c.reason)).label("retracted"),
    )


def find_standing(conn: Connection, *, everything: bool = False) -> None:
    """Fill ``work_runs`` with every run whose standing this change may decide.

    These are the runs of observation keys that the change touches and that have several
    runs, all corrected runs and those read again; ``everything`` looks at all keys, and at
    every run that is marked, rightly or not.
    """
    conn.execute(derived.work_runs.delete())
    affected = union(
        _contested_runs(everything=everything),
        select(corrected("c").c.run_digest),
        _marked() if everything else _waiting(),
    )
    chosen = affected.subquery("chosen")
    superseded = _superseded_among(select(chosen.c.run_digest)).subquery("superseded")
    said = corrected("said")
    rows = (
        select(
            chosen.c.run_digest,
            func.coalesce(said.c.by_digest, superseded.c.head),
            said.c.retracted,
        )
        .select_from(chosen)
        .join(superseded, superseded.c.run_digest == chosen.c.run_digest, isouter=True)
        .join(said, said.c.run_digest == chosen.c.run_digest, isouter=True)
    )
    columns = ["digest", "superseded_by", "retracted"]
    conn.execute(insert(derived.work_runs).from_select(columns, rows))


def _waiting() -> Any:
    return select(derived.pending_runs.c.digest.label("run_digest"))


def _marked() -> Any:
    """Runs whose row has a standing; a new row of ``pending_runs`` has none yet."""
    runs = derived.runs
    marked = runs.c.superseded_by.is_not(None) | runs.c.retracted.is_not(None)
    return select(runs.c.digest.label("run_digest")).where(marked)


def contested_digests(conn: Connection) -> set[str]:
    """Published runs whose standing other runs or corrections decide."""
    contested = conn.execute(_contested_runs(everything=True, staged=False)).scalars()
    said = corrected("said", staged=False)
    return {*contested, *conn.execute(select(said.c.run_digest)).scalars()}


def _contested_runs(*, everything: bool, staged: bool = True) -> Any:
    """Runs of the keys that several runs share."""
    obs = told("contested", staged=staged)
    keys = select(obs.c.key).group_by(obs.c.key)
    if not everything:
        keys = keys.where(obs.c.key.in_(select(STAGED_OBSERVATIONS.c.key)))
    several = keys.having(func.count(obs.c.run_digest.distinct()) > 1)
    rows = told("of_contested", staged=staged)
    return select(rows.c.run_digest).where(rows.c.key.in_(several))


def standing_of(conn: Connection, digest: str) -> tuple[str | None, str | None]:
    """(superseded_by, retracted) of one run by what is published, nothing staged."""
    said = corrected("said", staged=False)
    correction = conn.execute(select(said).where(said.c.run_digest == digest)).first()
    one = select(literal(digest, String()))
    head = conn.execute(_superseded_among(one, staged=False)).all()
    replaced = next((row.head for row in head if row.run_digest == digest), None)
    if correction is None:
        return replaced, None
    return correction.by_digest or replaced, correction.retracted


def _superseded_among(digests: Any, *, staged: bool = True) -> Any:
    """Runs of the given ones' keys that are not the head of one, with the smallest such head."""
    mine, obs = told("mine", staged=staged), told("ranked", staged=staged)
    keys = select(mine.c.key).where(mine.c.run_digest.in_(digests))
    head = (
        func.first_value(obs.c.run_digest)
        .over(
            partition_by=obs.c.key,
            order_by=(obs.c.stamp.desc(), obs.c.parser_version.desc(), obs.c.run_digest),
        )
        .label("head")
    )
    ranked = select(obs.c.run_digest, head).where(obs.c.key.in_(keys)).subquery("heads")
    return (
        select(ranked.c.run_digest, func.min(ranked.c.head).label("head"))
        .where(ranked.c.head != ranked.c.run_digest)
        .group_by(ranked.c.run_digest)
    )


def count_superseding(conn: Connection) -> int:
    """How many new runs of this import take the place of another under some key."""
    obs = told("counted")
    keys = select(obs.c.key).where(obs.c.key.in_(select(STAGED_OBSERVATIONS.c.key)))
    several = keys.group_by(obs.c.key).having(func.count(obs.c.run_digest.distinct()) > 1)
    published = select(truth.observations.c.run_digest).where(
        truth.observations.c.run_digest == STAGED_OBSERVATIONS.c.run_digest,
        truth.observations.c.source == STAGED_OBSERVATIONS.c.source,
    )
    superseded = select(derived.work_runs.c.digest).where(
        derived.work_runs.c.digest == STAGED_OBSERVATIONS.c.run_digest,
        derived.work_runs.c.superseded_by.is_not(None),
    )
    query = select(func.count(STAGED_OBSERVATIONS.c.run_digest.distinct())).where(
        STAGED_OBSERVATIONS.c.key.in_(several),
        ~superseded.exists(),
        ~published.exists(),
    )
    return int(conn.execute(query).scalar_one())
