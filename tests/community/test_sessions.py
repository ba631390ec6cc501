from __future__ import annotations

import pytest
from sqlalchemy import select

from kernelindex.catalog import Catalog
from kernelindex.catalog.tables import truth
from kernelindex.community import (
    Session,
    close_session,
    find_session,
    open_session,
    read_audit,
    revoke_key,
)
from kernelindex.errors import CommunityError
from tests.community.factories import SECRET, Clock, make_key


def is_open(database: Catalog, clock: Clock, session: Session) -> bool:
    found = find_session(database, session.cookie, clock=clock)
    return found is not None and found.key.id == session.key.id


def login(database: Catalog, clock: Clock) -> Session:
    return open_session(database, make_key(database, clock, "admin").token, clock=clock)


def test_a_session_ends_after_half_an_hour(database: Catalog, clock: Clock) -> None:
    session = login(database, clock)
    clock.pass_s(1799)
    assert is_open(database, clock, session)
    clock.pass_s(1)
    assert not is_open(database, clock, session)


def test_a_session_ends_with_logout_and_with_its_key(database: Catalog, clock: Clock) -> None:
    first, second = login(database, clock), login(database, clock)
    close_session(database, first, clock=clock)
    assert not is_open(database, clock, first)
    assert is_open(database, clock, second)
    revoke_key(database, second.key.id, actor="root", reason="left", clock=clock)
    assert not is_open(database, clock, second)


@pytest.mark.parametrize("scope", ["attest", "report"])
def test_only_an_admin_key_opens_one(sqlite_database: Catalog, clock: Clock, scope: str) -> None:
    with pytest.raises(CommunityError) as caught:
        open_session(sqlite_database, make_key(sqlite_database, clock, scope).token, clock=clock)
    assert caught.value.code == "key.scope"


@pytest.mark.parametrize("cookie", [None, "", "nonsense", "x" * 43, "x" * 5000, "\ud800"])
def test_another_cookie_opens_nothing(
    sqlite_database: Catalog, clock: Clock, cookie: str | None
) -> None:
    login(sqlite_database, clock)
    assert find_session(sqlite_database, cookie, clock=clock) is None


def test_the_table_holds_no_cookie_and_forgets_old_sessions(
    sqlite_database: Catalog, clock: Clock
) -> None:
    old = login(sqlite_database, clock)
    clock.pass_s(3600)
    session = login(sqlite_database, clock)
    with sqlite_database.reading() as conn:
        rows = [tuple(row) for row in conn.execute(select(truth.admin_sessions))]
    assert len(rows) == 1
    assert not {old.cookie, session.cookie} & set(rows[0])
    assert session.cookie not in repr(session)


def test_a_form_belongs_to_its_session(sqlite_database: Catalog, clock: Clock) -> None:
    mine, other = login(sqlite_database, clock), login(sqlite_database, clock)
    assert mine.sent(SECRET, mine.form_token(SECRET))
    assert not mine.sent(SECRET, other.form_token(SECRET))
    assert not mine.sent(SECRET, "")
    assert not mine.sent(SECRET, "\ud800é")
    assert not mine.sent(b"t" * 32, mine.form_token(SECRET))


def test_logging_in_and_out_is_in_the_log(sqlite_database: Catalog, clock: Clock) -> None:
    issued = make_key(sqlite_database, clock, "admin")
    clock.pass_s(1)
    session = open_session(sqlite_database, issued.token, clock=clock)
    clock.pass_s(1)
    close_session(sqlite_database, session, clock=clock)
    log = read_audit(sqlite_database, subject=session.key.id).items
    assert [entry.action for entry in log][:2] == ["session.close", "session.open"]
    assert {entry.actor for entry in log[:2]} == {f"Ada (key {session.key.id})"}
