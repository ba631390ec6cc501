from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from kernelindex.catalog import Catalog
from kernelindex.catalog.tables import truth
from kernelindex.community import Scope, authenticate, list_keys, read_audit, revoke_key
from kernelindex.community.instants import to_text
from kernelindex.errors import CommunityError
from tests.community.factories import Clock, make_key

DAY_S = 86_400


def test_a_key_is_good_for_its_scopes_alone(database: Catalog, clock: Clock) -> None:
    issued = make_key(database, clock, "report", "attest")
    assert issued.key.scopes == ("attest", "report")
    assert authenticate(database, issued.token, Scope.ATTEST, clock=clock).owner == "Ada"
    assert authenticate(database, issued.token, Scope.REPORT, clock=clock).id == issued.key.id
    with pytest.raises(CommunityError) as caught:
        authenticate(database, issued.token, Scope.ADMIN, clock=clock)
    assert caught.value.code == "key.scope"
    assert caught.value.details == {"wanted": "admin"}


def test_the_token_is_nowhere_in_the_database_or_in_a_repr(database: Catalog, clock: Clock) -> None:
    issued = make_key(database, clock)
    secret = issued.token[14:]
    assert secret not in repr(issued)
    with database.reading() as conn:
        rows = [
            str(row)
            for table in truth.metadata.tables.values()
            for row in conn.execute(select(table))
        ]
    assert any(issued.key.id in row for row in rows)
    assert not any(secret in row for row in rows)


def test_a_key_expires_at_the_moment_it_says(sqlite_database: Catalog, clock: Clock) -> None:
    issued = make_key(sqlite_database, clock, days=2)
    assert issued.key.expires_at == to_text(clock.now + timedelta(days=2))
    clock.pass_s(2 * DAY_S - 1)
    authenticate(sqlite_database, issued.token, Scope.ATTEST, clock=clock)
    clock.pass_s(1)
    with pytest.raises(CommunityError) as caught:
        authenticate(sqlite_database, issued.token, Scope.ATTEST, clock=clock)
    assert caught.value.code == "key.expired"
    assert "2026-12-02" in caught.value.message


@pytest.mark.parametrize(("scope", "days"), [("attest", 365), ("admin", 90)])
def test_how_long_a_key_lasts_by_default(
    sqlite_database: Catalog, clock: Clock, scope: str, days: int
) -> None:
    issued = make_key(sqlite_database, clock, scope)
    assert issued.key.expires_at == to_text(clock.now + timedelta(days=days))


def test_revoking_is_final_and_said_only_to_its_holder(database: Catalog, clock: Clock) -> None:
    issued = make_key(database, clock)
    revoked = revoke_key(database, issued.key.id, actor="root", reason="lost", clock=clock)
    assert revoked.state(clock.now) == "revoked"
    with pytest.raises(CommunityError) as caught:
        authenticate(database, issued.token, Scope.ATTEST, clock=clock)
    assert caught.value.code == "key.revoked"
    guess = issued.token[:14] + "x" * 43
    with pytest.raises(CommunityError) as caught:
        authenticate(database, guess, Scope.ATTEST, clock=clock)
    assert caught.value.code == "key.invalid"


def test_revoking_twice_keeps_the_first_time_and_one_entry(
    sqlite_database: Catalog, clock: Clock
) -> None:
    issued = make_key(sqlite_database, clock)
    first = revoke_key(sqlite_database, issued.key.id, actor="root", reason="lost", clock=clock)
    clock.pass_s(60)
    again = revoke_key(sqlite_database, issued.key.id, actor="eve", reason="again", clock=clock)
    assert again.revoked_at == first.revoked_at
    actions = [entry.action for entry in read_audit(sqlite_database).items]
    assert actions.count("key.revoke") == 1


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (None, "key.missing"),
        ("", "key.missing"),
        ("nonsense", "key.invalid"),
        ("ki_0123456789_" + "x" * 43, "key.invalid"),
        ("ki_\x00\ud800", "key.invalid"),
    ],
)
def test_what_is_no_key_here_is_refused(
    sqlite_database: Catalog, token: str | None, code: str
) -> None:
    with pytest.raises(CommunityError) as caught:
        authenticate(sqlite_database, token, Scope.ATTEST)
    assert caught.value.code == code
    assert not token or token not in caught.value.message


@pytest.mark.parametrize(
    "asked",
    [
        {"owner": " "},
        {"owner": "x" * 101},
        {"owner": "a\x00b"},
        {"scopes": ()},
        {"scopes": ("root",)},
        {"scopes": ("attest", "everything")},
        {"days": 0},
        {"days": 1096},
    ],
)
def test_a_key_that_cannot_be_is_refused(
    sqlite_database: Catalog, clock: Clock, asked: dict
) -> None:
    from kernelindex.community import issue_key

    good = {"owner": "Ada", "scopes": ("attest",), "actor": "root"}
    with pytest.raises(CommunityError) as caught:
        issue_key(sqlite_database, **(good | asked), clock=clock)
    assert caught.value.code == "key.request"
    assert list_keys(sqlite_database) == ()


def test_revoking_an_unknown_key_is_refused(sqlite_database: Catalog) -> None:
    with pytest.raises(CommunityError) as caught:
        revoke_key(sqlite_database, "0123456789", actor="root", reason="lost")
    assert caught.value.code == "key.not_found"


def test_last_use_is_noted_at_most_once_a_minute(sqlite_database: Catalog, clock: Clock) -> None:
    issued = make_key(sqlite_database, clock)
    seen = []
    for seconds in (0, 59, 2):
        clock.pass_s(seconds)
        authenticate(sqlite_database, issued.token, Scope.ATTEST, clock=clock)
        (key,) = list_keys(sqlite_database)
        seen.append(key.last_used_at)
    start = to_text(clock.now - timedelta(seconds=61))
    assert seen == [start, start, to_text(clock.now)]


def test_every_step_of_a_key_is_audited(database: Catalog, clock: Clock) -> None:
    issued = make_key(database, clock, actor="root")
    clock.pass_s(1)
    revoke_key(database, issued.key.id, actor="eve", reason="left the group", clock=clock)
    newest, oldest = read_audit(database, subject=issued.key.id).items
    assert (oldest.action, oldest.actor) == ("key.issue", "root")
    assert oldest.detail["scopes"] == ["attest"]
    assert (newest.action, newest.actor, newest.reason) == ("key.revoke", "eve", "left the group")
    assert newest.at == to_text(clock.now)
