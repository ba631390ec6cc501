from __future__ import annotations

import threading

import pytest

from kernelindex.catalog import Catalog
from kernelindex.community import Quota, Quotas, list_contributions
from kernelindex.errors import CommunityError
from tests.community.factories import Clock, make_key, send_note, send_report

TIGHT = Quotas(address=(Quota(2, 60),), anonymous=(Quota(3, 600),), pending=4)


def refused(*arguments: object, **more: object) -> CommunityError:
    with pytest.raises(CommunityError) as caught:
        send_report(*arguments, **more)  # type: ignore[arg-type]
    return caught.value


def test_an_address_may_send_few_and_again_later(database: Catalog, clock: Clock) -> None:
    send_report(database, clock, "1", quotas=TIGHT)
    clock.pass_s(10)
    send_report(database, clock, "2", quotas=TIGHT)
    clock.pass_s(20)
    error = refused(database, clock, "3", quotas=TIGHT)
    assert error.code == "contribution.rate_limited"
    assert error.details == {"retry_after_s": 30}
    clock.pass_s(29)
    refused(database, clock, "3", quotas=TIGHT)
    clock.pass_s(1)
    send_report(database, clock, "3", quotas=TIGHT)
    assert refused(database, clock, "4", quotas=TIGHT).details == {"retry_after_s": 10}


def test_all_anonymous_reporters_share_a_quota(sqlite_database: Catalog, clock: Clock) -> None:
    for number in range(3):
        send_report(sqlite_database, clock, reporter=f"anonymous:{number}", quotas=TIGHT)
    error = refused(sqlite_database, clock, reporter="anonymous:9", quotas=TIGHT)
    assert "anonymous readers sent 3" in error.message
    assert error.details == {"retry_after_s": 600}
    key = make_key(sqlite_database, clock)
    assert send_note(sqlite_database, clock, key).state == "pending"


def test_a_repeat_is_not_counted_and_not_refused(sqlite_database: Catalog, clock: Clock) -> None:
    for _ in range(5):
        send_report(sqlite_database, clock, "the same", quotas=TIGHT)
    send_report(sqlite_database, clock, "another", quotas=TIGHT)
    assert len(list_contributions(sqlite_database).items) == 2


def test_a_full_queue_takes_nothing_more(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock)
    for number in range(4):
        send_note(sqlite_database, clock, key, str(number))
    error = refused(sqlite_database, clock, quotas=TIGHT)
    assert error.code == "contribution.queue_full"


def test_a_key_is_limited_by_default(sqlite_database: Catalog, clock: Clock) -> None:
    key = make_key(sqlite_database, clock)
    for number in range(60):
        send_note(sqlite_database, clock, key, str(number))
    with pytest.raises(CommunityError) as caught:
        send_note(sqlite_database, clock, key, "one more")
    assert "you sent 60 within 1 hour" in caught.value.message
    clock.pass_s(3601)
    send_note(sqlite_database, clock, key, "one more")


def test_writers_at_once_do_not_pass_the_quota(database: Catalog, clock: Clock) -> None:
    outcomes: list[str] = []

    def send(number: int) -> None:
        try:
            send_report(database, clock, str(number), quotas=TIGHT)
            outcomes.append("sent")
        except CommunityError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["contribution.rate_limited"] * 6 + ["sent"] * 2
