"""Levels from stored evidence: what raises one, what lowers it, and that rebuilds agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelindex.catalog import Catalog, check, export_to, import_records, load_export, rebuild
from kernelindex.catalog.approvals import approve, list_approvals, revoke
from kernelindex.catalog.intake import EvidenceFinding
from kernelindex.catalog.verifying import record_verification
from kernelindex.errors import CatalogError, NotFoundError
from kernelindex.evidence.keys import Signer
from kernelindex.registry import runners
from kernelindex.sources import find_source
from kernelindex.sources.evidence import rows_of, verify_stored
from tests.evidence.factories import ALICE, BOB, Batch

TRAINING = ("forward", "backward", "full")
UNSIGNED = "a signature by a runner key this index approved"
CALIBRATION = "a calibration inside its limits"
SPIN = f"{CALIBRATION}: twice_the_spin 1.926, wanted 1.96 to 2.04"
ALONE = "a run of another owner, host and GPU within 3 % through the anchor"


def take(catalog: Catalog, batch: Batch) -> str:
    """Import a batch's bundle; its record's digest."""
    sealed = batch.seal()
    import_records(catalog, *find_source("evidence").read(sealed.data))
    return sealed.record_digest


def trust(catalog: Catalog, signer: Signer = ALICE, **changes: str) -> None:
    who = "alice" if signer is ALICE else "bob"
    said = {"name": f"{who}-runner", "owner": who, "host": f"{who}-box", "actor": "op"}
    approve(catalog, public_key=signer.public.text, **{**said, "reason": "ours", **changes})


def levels(catalog: Catalog) -> set[tuple[str, tuple[str, ...]]]:
    return {(run.evidence, run.evidence_missing) for run in catalog.runs().rows}


def doubts(catalog: Catalog) -> set[str]:
    return {doubt["code"] for run in catalog.runs().rows for doubt in run.doubts}


@pytest.mark.slow
def test_approval_raises_and_revocation_lowers_and_a_rebuild_agrees(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        take(catalog, Batch(passes=TRAINING))
        assert levels(catalog) == {("reproducible", (UNSIGNED,))}
        trust(catalog)
        assert levels(catalog) == {("verified", (ALONE,))}
        cohorts = catalog.cohorts()
        assert all(len(one.best["verified"]["entries"]) == 1 for one in cohorts)
        assert check(catalog) == []
        rebuild(catalog)
        assert levels(catalog) == {("verified", (ALONE,))}
        assert check(catalog) == []
        revoke(catalog, ALICE.public.digest, actor="op", reason="stolen")
        assert levels(catalog) == {("reproducible", (UNSIGNED,))}
        assert check(catalog) == []
        trust(catalog)
        assert levels(catalog) == {("verified", (ALONE,))}


def test_what_was_approved_first_needs_no_second_word(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        trust(catalog)
        take(catalog, Batch())
        assert levels(catalog) == {("verified", (ALONE,))}
        assert check(catalog) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch", "missing"),
    [
        (Batch(within_limits=False), SPIN),
        (
            Batch(run={"correctness": {"comparator": "c", "timedCallsChecked": 1}}),
            "correctness asserted and passed",
        ),
        (Batch(run={"executed": []}), "a trace of what ran"),
        (Batch(protocol={"harness": {"name": "elsewhere"}}), "a complete protocol"),
    ],
)
def test_each_failing_part_is_said(sqlite_url: str, batch: Batch, missing: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        trust(catalog)
        report = import_records(catalog, *find_source("evidence").read(batch.seal().data))
        assert {run.evidence for run in catalog.runs().rows} <= {"reproducible", "reported"}
        lacking = {text for run in catalog.runs().rows for text in run.evidence_missing}
        assert missing in lacking
        if "elsewhere" not in str(batch.protocol):
            assert any(missing in problem for problem in report.problems)


def chained(anchors_ns: list[float]) -> list[bytes]:
    """Bundles of one runner, each following the one before, whose anchors took that long."""
    found: list[bytes] = []
    previous = None
    for number, anchor_ns in enumerate(anchors_ns, start=1):
        batch = Batch(number=number, previous=previous, anchor_ns=anchor_ns, seed=number)
        sealed = batch.but(candidates={"only": 1e5}).seal()
        found.append(sealed.data)
        previous = sealed.record_digest
    return found


def by_batch(catalog: Catalog) -> dict[int, tuple[str, tuple[str, ...]]]:
    rows = catalog.runs().rows
    numbers = {row.digest: catalog.evidence(row.digest)[0].finding["number"] for row in rows}
    return {numbers[row.digest]: (row.evidence, row.evidence_missing) for row in rows}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.slow
def test_a_batch_unlike_the_earlier_ones_of_its_runner_is_not_verified(
    sqlite_url: str, backwards: bool
) -> None:
    bundles = chained([5e5, 5.01e5, 5e5, 4.99e5, 5e5, 6e5, 5e5])
    with Catalog.create(sqlite_url) as catalog:
        trust(catalog)
        for data in reversed(bundles) if backwards else bundles:
            import_records(catalog, *find_source("evidence").read(data))
        found = by_batch(catalog)
        level, (missing,) = found.pop(6)
        assert level == "reproducible"
        assert missing.startswith(
            "a calibration inside its limits: ns of kernelindex/anchor-matmul 5.999e+05, by 5"
            " earlier batches wanted 4.925e+05 to 5.075e+05"
        )
        assert set(found.values()) == {("verified", (ALONE,))}
        assert check(catalog) == []


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"owner": "eve"}, {"host": "other-box"}])
def test_an_approval_is_of_one_owner_and_host(sqlite_url: str, changes: dict[str, str]) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        trust(catalog, **changes)
        assert levels(catalog) == {("reproducible", (UNSIGNED,))}


def test_the_distribution_s_runners_are_approved_until_an_operator_revokes(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = runners.Runner(
        name="alice-runner",
        owner="alice",
        host="alice-box",
        key=ALICE.public.text,
        approved_on="2026-11-30",
        reason="ours",
    )
    monkeypatch.setattr("kernelindex.catalog.approvals.load_runners", lambda: (ours,))
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        assert levels(catalog) == {("verified", (ALONE,))}
        revoke(catalog, ALICE.public.text, actor="op", reason="not here")
        assert levels(catalog) == {("reproducible", (UNSIGNED,))}
        (word,) = list_approvals(catalog)
        assert (word.approved, word.actor, word.reason) == (False, "op", "not here")


def test_every_decision_is_logged_and_none_can_be_changed(catalog_url: str) -> None:
    from sqlalchemy import select

    from kernelindex.catalog.tables import truth

    with Catalog.create(catalog_url) as catalog:
        trust(catalog)
        revoke(catalog, ALICE.public.digest, actor="op", reason="stolen")
        with catalog.reading() as conn:
            query = select(truth.community_audit).order_by(truth.community_audit.c.at)
            log = {(row.action, row.subject, row.actor) for row in conn.execute(query)}
        assert log == {
            ("runner.approve", ALICE.public.digest, "op"),
            ("runner.revoke", ALICE.public.digest, "op"),
        }
        for change in (
            truth.runner_approvals.update().values(action="approve"),
            truth.runner_approvals.delete(),
        ):
            with (
                pytest.raises(Exception, match="approvals are append-only"),
                catalog.writing() as conn,
            ):
                conn.execute(change)


def test_decisions_need_a_key_and_words(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        with pytest.raises(CatalogError, match="owner") as caught:
            trust(catalog, owner=" ")
        assert caught.value.code == "catalog.approval"
        with pytest.raises(NotFoundError):
            revoke(catalog, ALICE.public.digest, actor="op", reason="x")
        trust(catalog)
        with pytest.raises(CatalogError):
            revoke(catalog, ALICE.public.digest, actor="", reason="x")


def test_verdicts_of_one_batch_rest_on_samples(catalog_url: str) -> None:
    close = {"fast": 1e5, "near": 1.001e5, "slow": 1.05e5}
    with Catalog.create(catalog_url) as catalog:
        take(catalog, Batch(candidates=close))
        (cohort,) = catalog.cohorts()
        entries = {
            entry.line["title"]: entry for entry in catalog.entries((cohort.key,))[cohort.key]
        }
        ranks = {name: (one.rank_low, one.rank_high) for name, one in entries.items()}
        assert ranks == {"fast": (1, 2), "near": (1, 2), "slow": (3, 3)}
        verdict = entries["slow"].verdict_to_leader
        assert verdict is not None
        assert verdict["kind"] == "SLOWER"
        assert verdict["reasons"] == ["interval_beyond_margin"]
        assert 1.045 < verdict["low"] < verdict["ratio"] < verdict["high"] < 1.055
        near = entries["near"].verdict_to_leader
        assert near is not None
        assert near["kind"] == "SAME"


def test_passes_of_one_batch_that_disagree_are_doubted(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        take(catalog, Batch(passes=TRAINING))
        assert "PASSES_DISAGREE" not in doubts(catalog)
        take(catalog, Batch(passes=TRAINING, signer=BOB, full_ratio=1.2, seed=9))
        assert "PASSES_DISAGREE" in doubts(catalog)
        assert check(catalog) == []


@pytest.mark.slow
def test_a_missing_batch_is_doubted_until_it_arrives(catalog_url: str) -> None:
    first = Batch()
    record = first.seal().record_digest
    with Catalog.create(catalog_url) as catalog:
        take(catalog, Batch(number=2, previous=record))
        texts = [d["text"] for run in catalog.runs().rows for d in run.doubts]
        assert "batch 1 of alice-runner is not here" in texts
        take(catalog, first)
        assert "BATCH_MISSING" not in doubts(catalog)
        assert "PROVISIONAL_RUNNER" in doubts(catalog)
        assert check(catalog) == []


@pytest.mark.slow
def test_a_batch_that_follows_another_than_is_here_is_doubted(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        take(catalog, Batch(number=2, previous=Batch(seed=8).seal().record_digest))
        texts = {d["text"] for run in catalog.runs().rows for d in run.doubts}
        assert "batch 1 of alice-runner here is not the one it follows" in texts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "level"),
    [
        (Batch(signer=BOB, seed=9), "replicated"),
        (Batch(signer=BOB, seed=9, anchor_ns=6e5), "verified"),
        (Batch(signer=BOB, seed=9, identity={"device": "GPU-alice"}), "verified"),
        (Batch(signer=BOB, seed=9, run={"executed": []}), "verified"),
    ],
)
def test_replicated_takes_another_identity_near_through_the_anchor(
    sqlite_url: str, other: Batch, level: str
) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        take(catalog, other)
        trust(catalog)
        trust(catalog, BOB)
        mine = [run for run in catalog.runs().rows if run.digest in runs_of(Batch())]
        assert {run.evidence for run in mine} == {level}
        revoke(catalog, BOB.public.text, actor="op", reason="left")
        mine = [run for run in catalog.runs().rows if run.digest in runs_of(Batch())]
        assert {run.evidence for run in mine} == {"verified"}
        assert check(catalog) == []


def runs_of(batch: Batch) -> set[str]:
    return {
        finding.run_digest
        for row in rows_of(batch.seal().data, "x")
        for finding in row.findings  # type: ignore[union-attr]
    }


@pytest.mark.slow
def test_neither_approval_nor_findings_travel_but_bundles_do(
    sqlite_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl.zst"
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch(passes=TRAINING))
        trust(catalog)
        export_to(catalog, file)
        assert levels(catalog) == {("verified", (ALONE,))}
    with Catalog.create(f"sqlite:///{tmp_path / 'other.db'}") as other:
        load_export(other, file)
        trust(other)
        unverified = (UNSIGNED, "correctness asserted and passed", CALIBRATION)
        assert levels(other) == {("reproducible", unverified)}
        assert verify_stored(other) == (1, [])
        assert levels(other) == {("verified", (ALONE,))}
        assert check(other) == []
        assert verify_stored(other) == (0, [])


@pytest.mark.slow
def test_what_an_export_says_of_a_bundle_is_not_believed(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        trust(catalog, BOB)
        rows = list(rows_of(Batch().seal().data, "x"))
        bundle = replace(rows[0].bundles[0], key_digest=BOB.public.digest, number=7)  # type: ignore[union-attr]
        with catalog.writing() as conn:
            from kernelindex.catalog.tables import truth

            conn.execute(truth.evidence_findings.delete())
            conn.execute(
                truth.evidence_bundles.update().values(key_digest=bundle.key_digest, number=7)
            )
        assert verify_stored(catalog) == (1, [])
        with catalog.reading() as conn:
            row = conn.execute(truth.evidence_bundles.select()).one()
        assert (row.key_digest, row.number) == (ALICE.public.digest, 1)


@pytest.mark.slow
def test_a_bundle_that_is_none_is_forgotten(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        from kernelindex.catalog.tables import truth

        with catalog.writing() as conn:
            conn.execute(truth.evidence_findings.delete())
            bundles = conn.execute(truth.evidence_bundles.select()).one()
            bodies = truth.artifact_bodies
            conn.execute(
                bodies.update().where(bodies.c.digest == bundles.digest).values(body=b"junk")
            )
        held, (problem,) = verify_stored(catalog)
        assert held == 0
        assert "not a bundle of evidence" in problem
        assert verify_stored(catalog) == (0, [])


@pytest.mark.slow
def test_manifests_that_came_first_take_their_samples_from_the_bundle(catalog_url: str) -> None:
    """The calibration arrives after the run: it is read again, as a rebuild would."""
    batch = Batch(candidates={"fast": 1e5, "slow": 1.03e5})
    sealed = batch.seal()
    rows = [row for row in rows_of(sealed.data, "x") if not isinstance(row, str)]
    bare: list[Any] = [
        replace(row, artifacts=(), findings=(), bundles=())  # type: ignore[arg-type]
        for row in rows
        if row.manifests  # type: ignore[union-attr]
    ]
    with Catalog.create(catalog_url) as catalog:
        snapshot, _ = find_source("evidence").read(sealed.data)
        import_records(catalog, replace(snapshot, digest="sha256:" + "0" * 64), bare)
        (cohort,) = catalog.cohorts()
        assert {one.rank_high for one in catalog.entries((cohort.key,))[cohort.key]} == {2}
        take(catalog, batch)
        (cohort,) = catalog.cohorts()
        ranks = [one.rank_high for one in catalog.entries((cohort.key,))[cohort.key]]
        assert ranks == [1, 2]
        assert check(catalog) == []


@pytest.mark.slow
def test_recording_again_replaces_what_was_found(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        take(catalog, Batch())
        trust(catalog)
        rows = list(rows_of(Batch().seal().data, "x"))
        findings = [one for row in rows for one in row.findings]  # type: ignore[union-attr]
        worse = [
            EvidenceFinding(
                bundle_digest=one.bundle_digest,
                run_digest=one.run_digest,
                key_digest=one.key_digest,
                finding={**one.finding, "lacks": ["a newer check"]},
            )
            for one in findings
        ]
        record_verification(catalog, rows[0].bundles[0], worse)  # type: ignore[union-attr]
        assert levels(catalog) == {("reproducible", ("a newer check",))}
        take(catalog, Batch())
        assert levels(catalog) == {("verified", (ALONE,))}
