from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from kernelindex.catalog import Catalog, export_digest, export_to, load_export
from kernelindex.catalog.dumping import digest_of_dump, dump_derived
from kernelindex.community import (
    Contribution,
    Verdict,
    accepted_on,
    correct_run,
    decide,
    find_contribution,
    list_contributions,
    list_keys,
    read_audit,
    submit_attestation,
)
from kernelindex.community.instants import to_text
from kernelindex.errors import CatalogError, CommunityError, NotFoundError
from kernelindex.resolve.review import corrector
from tests.community.factories import (
    OTHER_RUN,
    RUN,
    Clock,
    fill,
    make_key,
    reproduction,
    send_note,
    send_report,
)

ACCEPT, REFUSE = Verdict.ACCEPT, Verdict.REFUSE


def settle(
    database: Catalog, clock: Clock, item: Contribution, verdict: Verdict = ACCEPT
) -> Contribution:
    return decide(database, item.id, verdict, actor="eve", reason="read it", clock=clock)


def derived_digest(database: Catalog) -> str:
    with database.reading_long() as conn:
        return digest_of_dump(dump_derived(conn))


def test_accepted_shows_and_refused_does_not(database: Catalog, clock: Clock) -> None:
    key = make_key(database, clock)
    good, bad, waiting = (send_note(database, clock, key, word) for word in ("a", "b", "c"))
    settle(database, clock, good)
    settle(database, clock, bad, REFUSE)
    assert [one.id for one in accepted_on(database, RUN).items] == [good.id]
    assert find_contribution(database, waiting.id).state == "pending"
    assert accepted_on(database, OTHER_RUN).items == ()


def test_an_accepted_note_can_be_taken_down(database: Catalog, clock: Clock) -> None:
    item = send_note(database, clock, make_key(database, clock))
    settle(database, clock, item)
    taken = settle(database, clock, item, REFUSE)
    assert taken.state == "refused"
    assert accepted_on(database, RUN).items == ()


def test_deciding_the_same_again_is_refused_and_not_logged(
    sqlite_database: Catalog, clock: Clock
) -> None:
    item = send_note(sqlite_database, clock, make_key(sqlite_database, clock))
    settle(sqlite_database, clock, item)
    with pytest.raises(CommunityError) as caught:
        settle(sqlite_database, clock, item)
    assert caught.value.code == "contribution.decided"
    assert len(read_audit(sqlite_database, subject=item.id).items) == 1


@pytest.mark.parametrize(
    ("actor", "reason"),
    [("", "why"), (" ", "why"), ("eve", ""), ("eve", " \n"), ("x" * 101, "why"),
     ("eve", "x" * 1001), ("eve", "a\x00")],
)  # fmt: skip
def test_a_decision_has_an_actor_and_a_reason(
    sqlite_database: Catalog, clock: Clock, actor: str, reason: str
) -> None:
    item = send_note(sqlite_database, clock, make_key(sqlite_database, clock))
    with pytest.raises(CommunityError) as caught:
        decide(sqlite_database, item.id, ACCEPT, actor=actor, reason=reason)
    assert caught.value.code == "decision.incomplete"
    with pytest.raises(CommunityError):
        correct_run(sqlite_database, item.id, "retract", lambda _: True, actor=actor, reason=reason)
    assert find_contribution(sqlite_database, item.id).state == "pending"


def test_the_log_has_every_decision_with_actor_time_and_reason(
    database: Catalog, clock: Clock
) -> None:
    item = send_note(database, clock, make_key(database, clock))
    times = []
    for verdict in (ACCEPT, REFUSE, ACCEPT):
        clock.pass_s(60)
        times.append(to_text(clock.now))
        decide(database, item.id, verdict, actor="eve", reason=f"{verdict} it", clock=clock)
    log = read_audit(database, subject=item.id).items
    assert [(one.at, one.action, one.reason, one.detail["from"]) for one in reversed(log)] == [
        (times[0], "accept", "accept it", "pending"),
        (times[1], "refuse", "refuse it", "accepted"),
        (times[2], "accept", "accept it", "refused"),
    ]
    assert {one.actor for one in log} == {"eve"}


@pytest.mark.parametrize(
    "statement", ["UPDATE community_audit SET actor = 'nobody'", "DELETE FROM community_audit"]
)
def test_the_log_only_grows(database: Catalog, clock: Clock, statement: str) -> None:
    make_key(database, clock)
    before = read_audit(database).items
    with pytest.raises(DBAPIError, match="append-only"), database.writing() as conn:
        conn.execute(text(statement))
    assert read_audit(database).items == before


def test_no_contribution_changes_a_derived_row(database: Catalog, clock: Clock) -> None:
    fast, slow = fill(database)
    derived, truth = derived_digest(database), export_digest(database)
    key = make_key(database, clock)
    items = [
        submit_attestation(database, fast, reproduction(), key.token, clock=clock),
        submit_attestation(
            database, slow, reproduction(value=1.0, unit="ns"), key.token, clock=clock
        ),
        send_note(database, clock, key, run=fast),
        send_report(database, clock, run=slow),
    ]
    for item in items:
        settle(database, clock, item)
    settle(database, clock, items[0], REFUSE)
    assert derived_digest(database) == derived
    assert export_digest(database) == truth
    row = database.run(fast)
    assert row is not None
    assert row.evidence == "reported"


def test_retracting_from_the_queue_goes_through_the_catalog(
    database: Catalog, clock: Clock
) -> None:
    fast, _ = fill(database)
    item = send_report(database, clock, run=fast)
    settled = correct_run(
        database, item.id, "retract", corrector(database), actor="eve", reason="other GPU",
        clock=clock,
    )  # fmt: skip
    assert settled.state == "accepted"
    assert database.run(fast).retracted == "other GPU"
    (cohort,) = database.cohorts()
    assert cohort.only_result
    (entry,) = read_audit(database, subject=item.id).items
    assert (entry.action, entry.actor, entry.reason) == ("retract", "eve", "other GPU")
    assert entry.detail == {
        "run": fast, "by": None, "changed": True, "from": "pending", "to": "accepted",
    }  # fmt: skip


def test_superseding_from_the_queue_names_the_other_run(database: Catalog, clock: Clock) -> None:
    fast, slow = fill(database)
    item = send_report(database, clock, run=fast)
    correct_run(
        database, item.id, "supersede", corrector(database), actor="eve", reason="rerun",
        by_digest=slow, clock=clock,
    )  # fmt: skip
    assert database.run(fast).superseded_by == slow


@pytest.mark.parametrize(
    ("action", "by", "error"),
    [
        ("supersede", None, CatalogError),
        ("retract", OTHER_RUN, CatalogError),
        ("supersede", OTHER_RUN, NotFoundError),
        ("delete", None, CatalogError),
    ],
)
def test_a_correction_the_catalog_refuses_changes_nothing(
    sqlite_database: Catalog, clock: Clock, action: str, by: str | None, error: type[Exception]
) -> None:
    fast, _ = fill(sqlite_database)
    item = send_report(sqlite_database, clock, run=fast)
    with pytest.raises(error):
        correct_run(
            sqlite_database, item.id, action, corrector(sqlite_database), actor="eve",
            reason="x", by_digest=by, clock=clock,
        )  # fmt: skip
    assert find_contribution(sqlite_database, item.id).state == "pending"
    assert read_audit(sqlite_database, subject=item.id).items == ()


def test_a_correction_that_was_made_before_is_said_so(
    sqlite_database: Catalog, clock: Clock
) -> None:
    fast, _ = fill(sqlite_database)
    apply = corrector(sqlite_database)
    for word in ("a", "b"):
        item = send_report(sqlite_database, clock, word, run=fast)
        correct_run(sqlite_database, item.id, "retract", apply, actor="eve", reason="x")
    changed = [
        e.detail["changed"] for e in read_audit(sqlite_database).items if e.detail.get("run")
    ]
    assert changed == [False, True]


def test_an_unknown_item_is_refused(sqlite_database: Catalog) -> None:
    with pytest.raises(CommunityError) as caught:
        decide(sqlite_database, "deadbeef", ACCEPT, actor="eve", reason="x")
    assert caught.value.code == "contribution.not_found"


def test_an_export_has_what_people_wrote_only_where_asked_and_never_a_key(
    sqlite_database: Catalog, clock: Clock, tmp_path: Path
) -> None:
    key = make_key(sqlite_database, clock)
    item = send_note(sqlite_database, clock, key)
    settle(sqlite_database, clock, item)
    plain, whole = tmp_path / "plain.jsonl.zst", tmp_path / "whole.jsonl.zst"
    export_to(sqlite_database, plain)
    export_to(sqlite_database, whole, community=True)
    with Catalog.create(f"sqlite:///{tmp_path}/other.db") as other:
        load_export(other, plain)
        assert list_contributions(other).items == ()
        load_export(other, whole)
        assert accepted_on(other, RUN).items == accepted_on(sqlite_database, RUN).items
        assert read_audit(other).items == read_audit(sqlite_database).items
        assert list_keys(other) == ()
