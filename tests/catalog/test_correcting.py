"""Corrections: who says what, and that ranks follow at once and in any order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.catalog import Catalog, check, correct, import_records, rebuild
from kernelindex.catalog.intake import Correction
from kernelindex.errors import CatalogError, NotFoundError
from tests.catalog.factories import World, make_snapshot


def make_retraction(digest: str, reason: str = "wrong card") -> Correction:
    return Correction(action="retract", run_digest=digest, actor="ada", reason=reason)


def test_retracting_the_leader_makes_the_other_the_only_result(catalog_url: str) -> None:
    world = World()
    fast, slow = world.row("fast", 1000), world.row("slow", 3000)
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), [fast, slow])
        said = make_retraction(fast.observation.run_digest)
        assert correct(catalog, said, at="2026-03-01T00:00:00Z") is True
        assert correct(catalog, said) is False
        (cohort,) = catalog.cohorts()
        assert (cohort.only_result, cohort.entry_count) == (True, 1)
        row = catalog.run(fast.observation.run_digest)
        assert row is not None
        assert row.retracted == "wrong card"
        causes = [event.cause for event in catalog.records().rows]
        assert causes == ["retraction", "first_comparison"]
        assert check(catalog) == []


def test_runs_are_counted_and_found_by_the_status_they_are_shown_by(catalog_url: str) -> None:
    world = World()
    rows = [
        world.row(name, 1000, status=status)
        for name, status in (("fast", "passed"), ("slow", "timeout"), ("odd", "timeout"))
    ]
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        for row in rows[:2]:
            correct(catalog, make_retraction(row.observation.run_digest))

        def shown() -> dict[str, int]:
            return {one.value: one.count for one in catalog.facets() if one.facet == "status"}

        def found(status: str) -> list[str]:
            return [row.digest for row in catalog.runs({"status": status}).rows]

        for _ in ("corrected", "rebuilt"):
            assert shown() == {"passed": 1, "timeout": 1, "withdrawn": 1}
            named = {status: found(status) for status in shown()}
            digests = [row.observation.run_digest for row in rows]
            names = ("passed", "withdrawn", "timeout")
            assert named == {name: [digest] for name, digest in zip(names, digests, strict=True)}
            assert check(catalog) == []
            rebuild(catalog)


def test_superseding_by_hand_names_the_successor(catalog_url: str) -> None:
    world = World()
    old, new = world.row("a", 1000), world.row("a", 1500)
    digests = [row.observation.run_digest for row in (old, new)]
    said = Correction(
        action="supersede", run_digest=digests[0], by_digest=digests[1], actor="ada", reason="rerun"
    )
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), [old, new])
        correct(catalog, said)
        (cohort,) = catalog.cohorts()
        (entry,) = catalog.entries([cohort.key])[cohort.key]
        assert (entry.value, entry.other_runs) == (1500, ())
        assert catalog.run(digests[0]).superseded_by == digests[1]


def test_a_run_that_does_not_stand_supersedes_none(sqlite_url: str) -> None:
    world = World()
    rows = [world.row("a", 1000), world.row("b", 1500)]
    old, new = (row.observation.run_digest for row in rows)
    with Catalog.create(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        correct(catalog, make_retraction(new))
        said = Correction(
            action="supersede", run_digest=old, by_digest=new, actor="ada", reason="rerun"
        )
        with pytest.raises(CatalogError, match="itself retracted") as caught:
            correct(catalog, said)
        assert caught.value.code == "catalog.correction"
        assert catalog.run(old).superseded_by is None


def test_correction_that_comes_with_or_before_its_run_counts_the_same(catalog_url: str) -> None:
    world = World()
    fast, slow = world.row("fast", 1000), world.row("slow", 3000)
    said = make_retraction(fast.observation.run_digest)
    with Catalog.create(catalog_url) as catalog:
        early = replace(slow, corrections=(said,))
        import_records(catalog, make_snapshot(), [early])
        import_records(catalog, make_snapshot("2"), [fast])
        (cohort,) = catalog.cohorts()
        assert cohort.entry_count == 1
        assert catalog.run(fast.observation.run_digest).retracted == "wrong card"


def test_correction_needs_actor_reason_and_a_known_run(sqlite_url: str) -> None:
    world = World()
    row = world.row("a", 1000)
    with Catalog.create(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [row])
        with pytest.raises(CatalogError, match="reason") as caught:
            correct(catalog, make_retraction(row.observation.run_digest, reason=" "))
        assert "Correction(" not in str(caught.value)
        with pytest.raises(NotFoundError):
            correct(catalog, make_retraction("sha256:" + "0" * 64))
