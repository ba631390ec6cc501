"""What policy may count of the evidence of some runs, and of their sibling passes.

A finding is what verifying a bundle found of one run; it counts as signed only while this
catalog approves the key, for the owner and host that the approval names.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, select, union_all

from kernelindex.catalog import bulk, facts_codec
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy.cohorts import cohort_key, shape_key
from kernelindex.policy.control_chart import judge_in_order
from kernelindex.policy.facts import Profile
from kernelindex.policy.levels import EvidenceFacts, Replication, missing_for_verified
from kernelindex.policy.siblings import TRAINING, sibling_passes
from kernelindex.stats import paired_log_ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, Table

    from kernelindex.catalog.approvals import Approval
    from kernelindex.policy.doubts import PassTimes
    from kernelindex.policy.facts import RunFacts

Numbers = dict[tuple[str, int], set[str]]
"""(key digest, batch number) -> digests of the records that are here."""
Unlike = dict[str, tuple[str, ...]]
"""Record digest of a batch -> in words, what of it is outside its runner's control chart."""


def load_evidence(
    conn: Connection, runs: Sequence[RunFacts], *, staged: bool
) -> dict[str, EvidenceFacts]:
    """Run digest -> its evidence, published or (with ``staged``) staged.

    Only controlled runs have any.
    """
    controlled = {run.digest: run for run in runs if run.protocol.profile is Profile.CONTROLLED}
    if not controlled:
        return {}
    findings = _findings(conn, list(controlled), staged=staged)
    if not findings:
        return {}
    from kernelindex.catalog.approvals import read_approvals

    approvals = read_approvals(conn)
    keys = {one["key"] for several in findings.values() for one in several}
    numbers = _numbers(conn, keys, staged=staged)
    unlike = _unlike_before(conn, keys, staged=staged)
    found = {
        digest: _strongest(_evidence(one, approvals, numbers, unlike) for one in several)
        for digest, several in findings.items()
    }
    return _with_replications(found, controlled)


def load_passes(
    conn: Connection, runs: Sequence[RunFacts], *, staged: bool
) -> dict[str, PassTimes]:
    """Run digest -> times of the three passes of its batch, for controlled training runs."""
    sampled = [run for run in runs if run.samples is not None and run.timed_pass in TRAINING]
    if not sampled:
        return {}
    wanted = {(shape_key(run.shape), run.implementation_digest) for run in sampled}
    found = _siblings(conn, wanted, staged=staged)
    siblings = [one for one in found if one.samples is not None]
    mine = {run.digest for run in sampled}
    passes = sibling_passes({run.digest: run for run in (*siblings, *sampled)}.values())
    return {digest: times for digest, times in passes.items() if digest in mine}


def _findings(
    conn: Connection, digests: list[str], *, staged: bool
) -> dict[str, list[dict[str, Any]]]:
    """Run digest -> the findings of its bundles, by bundle; a staged one is the newer."""
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for table in _with_twin(truth.evidence_findings, staged):
        columns = (table.c.run_digest, table.c.bundle_digest, table.c.finding)
        for part in bulk.chunks(digests, bulk.IN_CHUNK):
            query = select(*columns).where(table.c.run_digest.in_(part))
            for run, bundle, text in conn.execute(query):
                found[run][bundle] = orjson.loads(text)
    return {run: [one for _, one in sorted(by.items())] for run, by in found.items()}


def _with_twin(table: Table, staged: bool) -> tuple[Table, ...]:
    return (table, truth.STAGED[table.name]) if staged else (table,)


def _numbers(conn: Connection, keys: set[str], *, staged: bool) -> Numbers:
    found: Numbers = defaultdict(set)
    for table in _with_twin(truth.evidence_bundles, staged):
        columns = (table.c.key_digest, table.c.number, table.c.record_digest)
        for part in bulk.chunks(sorted(keys), bulk.IN_CHUNK):
            for key, number, record in conn.execute(
                select(*columns).where(table.c.key_digest.in_(part))
            ):
                found[key, number].add(record)
    return found


def _unlike_before(conn: Connection, keys: set[str], *, staged: bool) -> Unlike:
    """Every batch of these keys against the earlier ones of its runner and device that are here.

    One whose self-checks failed says nothing of the usual, and is held against none.
    """
    bundles: dict[str, dict[str, Any]] = {}
    for table in _with_twin(truth.evidence_findings, staged):
        # All findings of a bundle hold the same of its batch: one of them is enough.
        one = func.min(table.c.finding)
        for part in bulk.chunks(sorted(keys), bulk.IN_CHUNK):
            query = select(table.c.bundle_digest, one).where(table.c.key_digest.in_(part))
            for bundle, text in conn.execute(query.group_by(table.c.bundle_digest)):
                bundles[bundle] = orjson.loads(text)
    series: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for _, finding in sorted(bundles.items()):
        if finding["withinLimits"] and finding.get("chart"):
            series[finding["key"], finding["device"]].append(finding)
    found: Unlike = {}
    for batches in series.values():
        batches.sort(key=lambda finding: finding["number"])
        verdicts = judge_in_order(finding["chart"] for finding in batches)
        for finding, verdict in zip(batches, verdicts, strict=True):
            found[finding["record"]] = tuple(one.text for one in verdict.outside)
    return found


def _evidence(
    finding: Mapping[str, Any],
    approvals: Mapping[str, Approval],
    numbers: Numbers,
    unlike: Unlike,
) -> EvidenceFacts:
    approval = approvals.get(finding["key"])
    identity = (finding["owner"], finding["host"])
    approved = approval is not None and approval.approved
    return EvidenceFacts(
        raw_samples=finding["samples"],
        signed_by_approved_key=bool(
            approved and approval and identity == (approval.owner, approval.host)
        ),
        correctness_passed=finding["correct"],
        calibration_within_limits=finding["withinLimits"],
        calibration_problems=(
            *finding.get("calibration", ()),
            *unlike.get(finding["record"], ()),
        ),
        lacks=tuple(finding["lacks"]),
        owner=finding["owner"],
        host=finding["host"],
        gpu=finding["device"],
        batch_number=finding["number"],
        unproven_batch=_unproven(finding, numbers),
    )


def _unproven(finding: Mapping[str, Any], numbers: Numbers) -> str | None:
    before = finding["number"] - 1
    if before < 1:
        return None
    here = numbers.get((finding["key"], before))
    if not here:
        return f"batch {before} of {finding['runner']} is not here"
    if finding["previous"] not in here or len(here) > 1:
        return f"batch {before} of {finding['runner']} here is not the one it follows"
    return None


def _strongest(several: Iterable[EvidenceFacts]) -> EvidenceFacts:
    """Of several bundles with one run, the one that proves most; the first of equals."""
    return max(
        several,
        key=lambda one: (
            one.signed_by_approved_key,
            one.correctness_passed,
            one.calibrated,
            -len(one.lacks),
            one.unproven_batch is None,
        ),
    )


def _with_replications(
    found: dict[str, EvidenceFacts], runs: Mapping[str, RunFacts]
) -> dict[str, EvidenceFacts]:
    """Each run with those of other identities that measured the same code alike."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for digest in sorted(found):
        run = runs[digest]
        groups[cohort_key(run), run.implementation_digest].append(digest)
    for members in groups.values():
        if len({(found[one].owner, found[one].host) for one in members}) < 2:
            continue
        for digest in members:
            others = [
                _replication(runs[digest], runs[other], found[other])
                for other in members
                if found[other].owner != found[digest].owner
            ]
            found[digest] = replace(found[digest], replications=tuple(others))
    return found


def _replication(run: RunFacts, other: RunFacts, evidence: EvidenceFacts) -> Replication:
    return Replication(
        run_digest=other.digest,
        owner=evidence.owner,
        host=evidence.host,
        gpu=evidence.gpu,
        approved=not missing_for_verified(other, evidence),
        ratio=_anchored_ratio(run, other),
    )


def _anchored_ratio(run: RunFacts, other: RunFacts) -> float:
    """A run over another, each over its batch's anchor; 0.0 where they share none."""
    a, b = run.samples, other.samples
    if a is None or b is None or a.anchor_id is None or a.anchor_id != b.anchor_id:
        return 0.0
    if a.anchor is None or b.anchor is None:
        return 0.0
    if min(len(a.rounds), len(a.anchor), len(b.rounds), len(b.anchor)) < 2:
        return 0.0
    first = paired_log_ratio(a.rounds, a.anchor).log_ratio
    return math.exp(first - paired_log_ratio(b.rounds, b.anchor).log_ratio)


def _siblings(
    conn: Connection, wanted: set[tuple[str, str]], *, staged: bool
) -> Iterable[RunFacts]:
    """Runs of the same code at the same shape; with ``staged`` as they will be."""
    shapes, codes = ({one[at] for one in wanted} for at in (0, 1))
    query = _siblings_query(staged=staged)
    parameters = {"shapes": sorted(shapes), "codes": sorted(codes)}
    rows = conn.execute(query, parameters).all()
    newest = {row.digest: row.facts for row in rows}
    return [facts_codec.decode(packed) for packed in newest.values()]


def _siblings_query(*, staged: bool) -> Any:
    shapes: Any = bindparam("shapes", expanding=True)
    codes: Any = bindparam("codes", expanding=True)
    tables = [(derived.runs, derived.run_facts)]
    if staged:
        tables.append((derived.pending_runs, derived.pending_facts))
    queries = [
        select(runs.c.digest, facts.c.facts)
        .join(facts, facts.c.digest == runs.c.digest)
        .where(
            runs.c.shape_key.in_(shapes),
            runs.c.implementation_digest.in_(codes),
            runs.c.timed_pass.in_([str(one) for one in TRAINING]),
        )
        for runs, facts in tables
    ]
    if not staged:
        manifests = truth.manifests
        queries = [q.join(manifests, manifests.c.digest == q.selected_columns[0]) for q in queries]
    return union_all(*queries)
