"""Which runners' keys this catalog approves: those of the distribution, and its operators' word.

Approval is local. It is never exported, and it fixes owner and host: evidence by an
approved key that names others does not count.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from kernelindex.catalog import publishing
from kernelindex.catalog.rejudging import judge_again
from kernelindex.catalog.tables import derived, truth
from kernelindex.errors import CatalogError, NotFoundError
from kernelindex.registry.runners import key_digest, load_runners

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database

APPROVE, REVOKE = "approve", "revoke"
DISTRIBUTION = "the distribution"
INSTANT = "%Y-%m-%dT%H:%M:%S.%fZ"
TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What is decided of one key, by whom, when and why; ``approved`` is the last word."""

    key_digest: str
    public_key: str
    name: str
    owner: str
    host: str
    approved: bool
    actor: str
    at: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON of ``ki evidence keys list --json``."""
        return asdict(self)


def approve(
    catalog: Database,
    *,
    public_key: str,
    name: str,
    owner: str,
    host: str,
    actor: str,
    reason: str,
) -> Approval:
    """Approve a runner's key with its owner and host; what it signed is judged again.

    Raises:
        CatalogError: ``catalog.approval`` where a part is missing or no public key.
    """
    digest = key_digest(public_key)
    values = {"name": name, "owner": owner, "host": host, "actor": actor, "reason": reason}
    missing = [field for field, value in values.items() if not value.strip()]
    if digest is None or missing:
        wanted = ", ".join(missing) or "a key as ed25519:<64 hex digits>"
        raise CatalogError(
            f"An approval needs {wanted}; seen {public_key[:80]!r}", code="catalog.approval"
        )
    return _decide(catalog, APPROVE, digest, public_key, values)


def revoke(catalog: Database, key: str, *, actor: str, reason: str) -> Approval:
    """Take an approval back; what the key signed falls to the level it has without.

    ``key`` is a public key or its digest.

    Raises:
        CatalogError: ``catalog.approval`` where actor or reason is missing.
        NotFoundError: where no such key was ever approved here.
    """
    digest = key_digest(key) or key
    with catalog.reading() as conn:
        known = read_approvals(conn).get(digest)
    if known is None:
        raise NotFoundError(f"No key {key} was approved here; see: ki evidence keys list")
    if not actor.strip() or not reason.strip():
        raise CatalogError("A revocation needs actor and reason", code="catalog.approval")
    values = {"name": known.name, "owner": known.owner, "host": known.host}
    said = {**values, "actor": actor, "reason": reason}
    return _decide(catalog, REVOKE, digest, known.public_key, said)


def list_approvals(catalog: Database) -> tuple[Approval, ...]:
    """Every key a word was said of, approved ones first, then by name."""
    with catalog.reading() as conn:
        found = read_approvals(conn).values()
    return tuple(sorted(found, key=lambda one: (not one.approved, one.name, one.key_digest)))


def read_approvals(conn: Connection) -> dict[str, Approval]:
    """The last word on every key, by its digest; an operator's counts before ours."""
    found = {one.key_digest: one for one in _of_distribution()}
    table = truth.runner_approvals
    query = select(table).order_by(table.c.at, table.c.id)
    found.update({row.key_digest: _approval(row) for row in conn.execute(query)})
    return found


def _of_distribution() -> list[Approval]:
    return [
        Approval(
            key_digest=key_digest(runner.key) or "",
            public_key=runner.key,
            name=runner.name,
            owner=runner.owner,
            host=runner.host,
            approved=True,
            actor=DISTRIBUTION,
            at=runner.approved_on,
            reason=runner.reason,
        )
        for runner in load_runners()
    ]


def _approval(row: Any) -> Approval:
    return Approval(
        key_digest=row.key_digest,
        public_key=row.public_key,
        name=row.name,
        owner=row.owner,
        host=row.host,
        approved=row.action == APPROVE,
        actor=row.actor,
        at=row.at,
        reason=row.reason,
    )


def _decide(
    catalog: Database, action: str, digest: str, public_key: str, said: dict[str, str]
) -> Approval:
    """Write the decision down and judge again whatever the key signed, in one transaction."""
    with catalog.writing() as conn:
        publishing.read_generation(conn, lock=True)
        row = {
            "at": _after_all(conn),
            "action": action,
            "key_digest": digest,
            "public_key": public_key,
            **said,
        }
        named = json.dumps([*row.values(), secrets.token_hex(8)]).encode()
        ident = f"sha256:{hashlib.sha256(named).hexdigest()}"
        conn.execute(insert(truth.runner_approvals).values(id=ident, **row))
        _audit(conn, action, row)
        judge_again(conn, cohorts_of_key(conn, digest), action=action, detail=digest)
        publishing.raise_generation(conn)
        return read_approvals(conn)[digest]


def _after_all(conn: Connection) -> str:
    """Now, to the microsecond; just behind the last decision where the clock went back."""
    before = conn.execute(select(func.max(truth.runner_approvals.c.at))).scalar_one_or_none()
    now = datetime.now(UTC)
    if before is not None:
        now = max(now, datetime.strptime(before, INSTANT).replace(tzinfo=UTC) + TICK)
    return now.strftime(INSTANT)


def _audit(conn: Connection, action: str, row: dict[str, str]) -> None:
    """The same in the log of everything that operators decide."""
    detail = {name: row[name] for name in ("public_key", "name", "owner", "host")}
    values = {
        "at": row["at"],
        "actor": row["actor"],
        "action": f"runner.{action}",
        "subject": row["key_digest"],
        "reason": row["reason"],
        "detail": json.dumps(detail, sort_keys=True, ensure_ascii=False),
    }
    named = json.dumps([*values.values(), secrets.token_hex(8)]).encode()
    ident = f"sha256:{hashlib.sha256(named).hexdigest()}"
    conn.execute(insert(truth.community_audit).values(id=ident, **values))


def cohorts_of_key(conn: Connection, digest: str) -> list[str]:
    """Cohorts that hold a run the key signed."""
    runs, table = derived.runs, truth.evidence_findings
    query = (
        select(runs.c.cohort_key)
        .join(table, table.c.run_digest == runs.c.digest)
        .where(table.c.key_digest == digest, runs.c.cohort_key.is_not(None))
        .distinct()
        .order_by(runs.c.cohort_key)
    )
    return list(conn.execute(query).scalars())
