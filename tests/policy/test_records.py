from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kernelindex.policy.facts import Direction, RunFacts
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.records import Cause, RecordEvent, leaders, record_events
from kernelindex.stats import Random
from tests.policy.factories import (
    make_entry,
    make_primary,
    make_rounds,
    make_run,
    make_samples,
    on,
    with_samples,
)

TOLERANCE = Tolerance()


def run(name: str, value: float, date: str | None, **changes: object) -> RunFacts:
    return make_run(name, value, observed=on(date), **changes)


def history(*runs: RunFacts, **known: object) -> list[tuple[str | None, str, str | None]]:
    """(date, cause, project that leads) of each event."""
    return [(one.date, str(one.cause), _name(one)) for one in events(*runs, **known)]


def events(*runs: RunFacts, **known: object) -> tuple[RecordEvent, ...]:
    return record_events(runs, TOLERANCE, **known)  # type: ignore[arg-type]


def _name(event: RecordEvent) -> str | None:
    return event.leader.split("/")[0][2:] if event.leader else None


OLD = run("old", 200.0, "2026-01-01")
MID = run("mid", 100.0, "2026-02-01")
NEW = run("new", 50.0, "2026-03-01")


def test_one_entry_has_no_record() -> None:
    assert history(OLD, run("old", 150.0, "2026-02-01")) == []


def test_each_change_of_leader_is_an_event_with_its_cause() -> None:
    assert history(NEW, OLD, MID) == [
        ("2026-02-01", "first_comparison", "mid"),
        ("2026-03-01", "new_run", "new"),
    ]


def test_an_event_names_the_run_and_what_led_before() -> None:
    first, second = events(OLD, MID, NEW)
    assert (first.previous, first.leader_run, first.leader_value) == (None, MID.digest, 100.0)
    assert (second.previous, second.run_digest) == (first.leader, NEW.digest)
    assert not second.same_day
    assert leaders((first, second)) == (first.leader, second.leader)


def test_a_slower_or_equal_newcomer_changes_nothing() -> None:
    assert len(events(OLD, MID, run("late", 150.0, "2026-04-01"))) == 1


def test_a_newcomer_within_the_tolerance_shares_the_lead() -> None:
    *_, last = events(OLD, MID, run("near", 98.0, "2026-04-01"))
    assert (last.leader, last.cause, len(last.unbeaten)) == (None, Cause.NEW_RUN, 2)


def test_an_older_faster_run_imported_later_leaves_no_stale_event() -> None:
    early = run("early", 40.0, "2025-12-01")
    assert history(OLD, MID, NEW, early) == [
        ("2026-01-01", "first_comparison", "early"),
    ]


def test_a_retraction_gives_the_lead_back() -> None:
    gone = replace(NEW, retracted="wrong card")
    assert history(OLD, MID, gone, retracted_on={NEW.digest: "2026-05-01"})[-1] == (
        "2026-05-01",
        "retraction",
        "mid",
    )
    assert history(OLD, MID, gone)[-1] == (None, "retraction", "mid")


def test_a_retraction_of_one_that_does_not_lead_is_no_event() -> None:
    gone = replace(OLD, retracted="wrong card")
    assert history(gone, MID, NEW, run("slow", 300.0, "2026-01-01")) == [
        ("2026-01-01", "first_comparison", "old"),
        ("2026-02-01", "new_run", "mid"),
        ("2026-03-01", "new_run", "new"),
    ]


def test_a_superseded_run_leaves_when_its_successor_comes() -> None:
    later = run("new", 120.0, "2026-06-01")
    before = replace(NEW, superseded_by=later.digest)
    assert history(OLD, MID, before, later) == [
        ("2026-02-01", "first_comparison", "mid"),
        ("2026-03-01", "new_run", "new"),
        ("2026-06-01", "supersession", "mid"),
    ]


def test_a_reading_superseded_on_its_own_day_never_counted() -> None:
    again = run("new", 120.0, "2026-03-01")
    before = replace(NEW, superseded_by=again.digest)
    unknown = replace(NEW, superseded_by="sha256:elsewhere")
    assert history(OLD, MID, before, again) == history(OLD, MID)
    assert history(OLD, MID, unknown) == history(OLD, MID)


def test_one_day_has_no_order() -> None:
    same = replace(MID, observed=on("2026-01-01"))
    assert [one.same_day for one in events(OLD, same)] == [True]


def test_a_day_changes_the_leader_once_and_never_to_itself() -> None:
    """Runs of one day in any order of digests: no state between them is told."""
    day = [run(name, value, "2026-01-01") for name, value in (("a", 90.0), ("b", 92.0))]
    repeat = run("a", 60.0, "2026-01-01", revision="second")
    (event,) = events(*day, repeat, OLD)
    assert (event.leader_run, event.previous) == (repeat.digest, None)
    assert event.run_digest == repeat.digest


def test_revisions_of_one_line_that_are_not_told_apart_lead_together() -> None:
    again = run("mid", 101.0, "2026-03-01", revision="second")
    assert history(OLD, MID, again) == history(OLD, MID)


def test_a_revision_that_beats_its_own_line_is_a_change() -> None:
    better = run("mid", 50.0, "2026-03-01", revision="second")
    *_, last = events(OLD, MID, better)
    assert (last.leader_run, last.cause) == (better.digest, Cause.NEW_RUN)


def test_the_causing_run_is_named_where_the_new_leader_came_earlier() -> None:
    gone = replace(NEW, superseded_by="sha256:successor")
    later = run("new", 120.0, "2026-06-01")
    *_, last = events(OLD, MID, replace(gone, superseded_by=later.digest), later)
    assert (last.run_digest, last.leader_run) == (NEW.digest, MID.digest)


def test_runs_without_a_date_come_last() -> None:
    assert history(OLD, MID, run("when", 10.0, None))[-1] == (None, "new_run", "when")


def test_runs_that_never_ranked_hold_no_record() -> None:
    failed = replace(NEW, status="incorrect_numerical")
    assert history(OLD, MID, failed) == history(OLD, MID)


def test_higher_is_better_where_the_metric_says_so() -> None:
    runs = [
        replace(one, primary=make_primary(value, direction=Direction.HIGHER))
        for one, value in ((OLD, 10.0), (MID, 20.0), (NEW, 20.5))
    ]
    first, second = events(*runs)
    assert _name(first) == "mid"
    assert (second.leader, len(second.unbeaten)) == (None, 2)


class TestControlled:
    def sampled(self, name: str, median_ns: float, date: str, between: float) -> RunFacts:
        rounds = make_rounds(Random(len(name)), median_ns=median_ns, between=between)
        entry = with_samples(make_entry(name), make_samples(rounds))
        return replace(entry.representative, observed=on(date))

    def test_samples_decide_who_leads(self) -> None:
        """2 % apart: nothing for reported numbers, a record for quiet samples."""
        first = self.sampled("a", 141e3, "2026-01-01", 0.0005)
        second = self.sampled("bb", 138e3, "2026-02-01", 0.0005)
        (event,) = events(first, second)
        assert (event.leader_run, event.date) == (second.digest, "2026-02-01")
        plain = [replace(one, samples=None) for one in (first, second)]
        assert events(*plain) == ()

    def test_noise_wins_no_record_but_leaves_the_lead_unproven(self) -> None:
        first = self.sampled("a", 141e3, "2026-01-01", 0.0005)
        second = self.sampled("bb", 150e3, "2026-02-01", 0.0005)
        third = self.sampled("ccc", 140e3, "2026-03-01", 0.2)
        *_, last = events(first, second, third)
        assert last.leader is None
        assert {key.split("/")[0] for key in last.unbeaten} == {'["a', '["ccc'}


RUNS = st.lists(
    st.builds(
        run,
        st.sampled_from("abcd"),
        st.sampled_from([100.0, 103.0, 120.0, 90.0, 60.0]),
        st.sampled_from(["2026-01-01", "2026-01-02", "2026-03-01", None]),
        retracted=st.sampled_from([None, None, "wrong"]),
        superseded_by=st.sampled_from([None, None, MID.digest]),
    ),
    max_size=9,
    unique_by=lambda one: one.digest,
)


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_import_does_not_matter(runs: list[RunFacts], shuffler: object) -> None:
    mixed = [*runs]
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    assert events(*mixed) == events(*runs)


@given(RUNS)
def test_every_event_changes_the_leader(runs: list[RunFacts]) -> None:
    found = events(*runs)
    held: str | None = None
    for event in found:
        assert event.previous == held
        assert event.leader != held
        held = event.leader


def test_a_newer_revision_leads_though_the_older_was_told_from_nobody() -> None:
    def measured(name: str, revision: str, median_ns: float, number: int) -> RunFacts:
        rounds = make_rounds(Random(len(name) * number), median_ns=median_ns, between=0.0005)
        samples = make_samples(rounds, batch=f"b{number}", number=number)
        entry = with_samples(make_entry(name, revision=revision), samples)
        day = on(f"2026-01-0{number}")
        digest = f"sha256:{name}-{revision}-{number}"
        return replace(entry.representative, observed=day, digest=digest)

    first = [measured("own", "1", 104_000.0, 1), measured("other", "1", 104_100.0, 1)]
    second = [measured("own", "2", 100_000.0, 2), measured("other", "1", 106_000.0, 2)]
    (event,) = events(*first, *second)
    assert (event.date, event.leader_run) == ("2026-01-02", "sha256:own-2-2")
