from __future__ import annotations

import pytest

from kernelindex.catalog import Catalog
from kernelindex.community import (
    accepted_on,
    find_contribution,
    list_contributions,
    submit_attestation,
    submit_signed_report,
)
from kernelindex.community.contributions import anonymous_author
from kernelindex.community.instants import to_text
from kernelindex.errors import CommunityError, RequestError
from tests.community.factories import (
    HOSTILE,
    OTHER_RUN,
    RUN,
    SECRET,
    Clock,
    make_key,
    note,
    report,
    reproduction,
    send_note,
    send_report,
)


def test_what_is_sent_waits_unseen(database: Catalog, clock: Clock) -> None:
    key = make_key(database, clock)
    sent = submit_attestation(database, RUN, reproduction(), key.token, clock=clock)
    assert (sent.state, sent.kind, sent.by) == ("pending", "reproduction", "Ada")
    assert sent.created_at == to_text(clock.now)
    assert list_contributions(database, state="pending").items == (sent,)
    assert accepted_on(database, RUN).items == ()


def test_readers_get_the_name_and_not_the_key(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock, owner="Ada <b>")
    shown = send_note(sqlite_database, clock, key).to_dict()
    assert shown["by"] == "Ada <b>"
    assert key.key.id not in str(shown)
    assert set(shown) == {"id", "kind", "run", "by", "created_at", "state", "text"}


def test_sending_twice_is_sending_once(database: Catalog, clock: Clock) -> None:
    key, other = make_key(database, clock), make_key(database, clock)
    first = send_note(database, clock, key)
    clock.pass_s(5)
    assert send_note(database, clock, key) == first
    different = [
        send_note(database, clock, other),
        send_note(database, clock, key, "another note"),
        send_note(database, clock, key, run=OTHER_RUN),
    ]
    assert len({first.id, *(one.id for one in different)}) == 4


def test_hostile_text_comes_back_unchanged(database: Catalog, clock: Clock) -> None:
    sent = send_note(database, clock, make_key(database, clock, owner=HOSTILE), HOSTILE)
    found = find_contribution(database, sent.id)
    assert (found.content["text"], found.by) == (HOSTILE, HOSTILE)


@pytest.mark.parametrize("scope", ["report", "admin"])
def test_an_attestation_needs_the_scope(sqlite_database: Catalog, clock: Clock, scope: str) -> None:
    key = make_key(sqlite_database, clock, scope)
    with pytest.raises(CommunityError) as caught:
        send_note(sqlite_database, clock, key)
    assert caught.value.code == "key.scope"
    assert list_contributions(sqlite_database).items == ()


def test_without_a_key_nothing_of_the_content_is_judged(sqlite_database: Catalog) -> None:
    with pytest.raises(CommunityError) as caught:
        submit_attestation(sqlite_database, RUN, {"kind": "nonsense"}, None)
    assert caught.value.code == "key.missing"


def test_reports_are_anonymous_or_signed(sqlite_database: Catalog, clock: Clock) -> None:
    anonymous = send_report(sqlite_database, clock)
    key = make_key(sqlite_database, clock, "report")
    signed = submit_signed_report(sqlite_database, RUN, report(), key.token, clock=clock)
    assert (anonymous.by, signed.by) == ("anonymous", "Ada")
    attester = make_key(sqlite_database, clock, "attest")
    with pytest.raises(CommunityError) as caught:
        submit_signed_report(sqlite_database, RUN, report(), attester.token, clock=clock)
    assert caught.value.code == "key.scope"


def test_an_anonymous_author_is_the_same_for_a_day_and_tells_no_address(clock: Clock) -> None:
    author = anonymous_author(SECRET, "192.0.2.7", clock.now)
    assert author == anonymous_author(SECRET, "192.0.2.7", clock.now)
    assert "192" not in author
    assert len(author) == len("anonymous:") + 16
    others = {
        anonymous_author(SECRET, "192.0.2.8", clock.now),
        anonymous_author(b"t" * 32, "192.0.2.7", clock.now),
    }
    clock.pass_s(86_400)
    others.add(anonymous_author(SECRET, "192.0.2.7", clock.now))
    assert len({author, *others}) == 4


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("unix:", "", True),
    ],
)
def test_an_ipv6_reporter_counts_with_its_network(
    clock: Clock, one: str, other: str, same: bool
) -> None:
    authors = {anonymous_author(SECRET, address, clock.now) for address in (one, other)}
    assert (len(authors) == 1) is same


def test_lists_are_newest_first_and_page_without_gaps(database: Catalog, clock: Clock) -> None:
    key = make_key(database, clock)
    sent = []
    for number in range(5):
        clock.pass_s(number % 2)  # some share a moment
        sent.append(send_note(database, clock, key, f"note {number}").id)
    seen, cursor = [], None
    while True:
        page = list_contributions(database, cursor=cursor, limit=2)
        seen += [one.id for one in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(sent)
    assert len(seen) == 5
    times = [find_contribution(database, ident).created_at for ident in seen]
    assert times == sorted(times, reverse=True)


def test_lists_filter_by_run_and_kind(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock)
    mine = send_note(sqlite_database, clock, key)
    send_note(sqlite_database, clock, key, run=OTHER_RUN)
    send_report(sqlite_database, clock)
    assert list_contributions(sqlite_database, run=RUN, kinds=("note",)).items == (mine,)


def test_a_cursor_is_good_for_its_filters_only(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock)
    for text in "ab":
        send_note(sqlite_database, clock, key, text)
    cursor = list_contributions(sqlite_database, kinds=("note",), limit=1).cursor
    assert list_contributions(sqlite_database, kinds=("note",), cursor=cursor).items
    with pytest.raises(RequestError):
        list_contributions(sqlite_database, kinds=("report",), cursor=cursor)


@pytest.mark.parametrize("cursor", ["", "x", "~" * 300, "a\x00~b", "é~"])
def test_a_cursor_that_is_none_is_refused(sqlite_database: Catalog, cursor: str) -> None:
    with pytest.raises(RequestError) as caught:
        list_contributions(sqlite_database, cursor=cursor)
    assert caught.value.code == "request.cursor"


def test_a_contribution_is_found_by_eight_digits(database: Catalog, clock: Clock) -> None:
    sent = send_note(database, clock, make_key(database, clock))
    assert find_contribution(database, sent.id[7:15]) == sent
    assert find_contribution(database, sent.id[:20].upper().replace("SHA", "sha")) == sent


@pytest.mark.parametrize("ident", ["", "deadbeef", "dead", "x" * 300, "sha256:\x00"])
def test_an_unknown_contribution_is_said(sqlite_database: Catalog, ident: str) -> None:
    with pytest.raises(CommunityError) as caught:
        find_contribution(sqlite_database, ident)
    assert caught.value.code == "contribution.not_found"
    assert len(caught.value.message) < 150


def test_a_prefix_of_two_is_ambiguous(
    sqlite_database: Catalog, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import update

    from kernelindex.catalog.tables import truth

    key = make_key(sqlite_database, clock)
    ids = [send_note(sqlite_database, clock, key, text).id for text in ("a", "b")]
    with sqlite_database.writing() as conn:
        for ident, end in zip(ids, "01", strict=True):
            table = truth.community
            named = update(table).where(table.c.id == ident)
            conn.execute(named.values(id="sha256:" + "c" * 63 + end))
    with pytest.raises(CommunityError) as caught:
        find_contribution(sqlite_database, "cccccccc")
    assert caught.value.code == "contribution.ambiguous"


def test_notes_are_data_to_every_reader(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock)
    injected = note("x'); DROP TABLE community; --")
    submit_attestation(sqlite_database, RUN, injected, key.token, clock=clock)
    assert len(list_contributions(sqlite_database).items) == 1
