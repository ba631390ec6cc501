"""Rates for each address, in headers and in refusals."""

from __future__ import annotations

import pytest

from kernelindex.api import Rates
from kernelindex.api.rates import Counters, client_of
from kernelindex.catalog import Catalog
from tests.api.factories import BASE, make_client

SMALL = Rates(reads="3/minute", heavy="1/minute")
BATCH = f"{BASE}/resolve/kernel/batch"


def test_the_fourth_of_three_is_refused(starter: Catalog) -> None:
    client = make_client(starter, rates=SMALL)
    answers = [client.get(f"{BASE}/schemas") for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert [one.headers["ratelimit"].split(";")[1] for one in answers] == [
        "r=2",
        "r=1",
        "r=0",
        "r=0",
    ]
    assert answers[0].headers["ratelimit-policy"] == '"reads";q=3;w=60'
    refused = answers[3]
    assert refused.json()["code"] == "rate.limited"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["access-control-allow-origin"] == "*"


def test_batches_have_a_rate_of_their_own(starter: Catalog) -> None:
    client = make_client(starter, rates=SMALL)
    body = {"questions": ["moe gpu:H200"]}
    assert [client.post(BATCH, json=body).status_code for _ in range(2)] == [200, 429]
    assert client.get(f"{BASE}/schemas").status_code == 200


PREFLIGHT = {"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}


def test_what_is_answered_before_any_address_is_counted_too(starter: Catalog) -> None:
    client = make_client(starter, rates=SMALL)
    long = f"{BASE}/schemas?q={'a' * 5_000}"
    found = [client.get(long), client.options(BATCH, headers=PREFLIGHT), client.head(long)]
    assert [one.status_code for one in found] == [414, 204, 414]
    assert [one.headers["ratelimit"].split(";")[1] for one in found] == ["r=2", "r=1", "r=0"]
    found = [client.get(long), client.options(BATCH, headers=PREFLIGHT)]
    assert [one.status_code for one in found] == [429, 429]
    assert found[0].headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (("192.0.2.1", 5), "192.0.2.1"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::/64"),
        (("::ffff:192.0.2.1", 5), "192.0.2.1"),
        (("fe80::1%eth0", 5), "fe80::/64"),
        (None, "unknown"),
    ],
)
def test_who_asks(client: tuple[str, int] | None, name: str) -> None:
    assert client_of({"type": "http", "client": client}) == name


def test_counters_end_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("kernelindex.api.rates.time.time", lambda: now[0])
    counters = Counters(most_keys=3)
    assert [counters.incr("a", 60) for _ in range(2)] == [1, 2]
    assert counters.get_expiry("a") == 1060.0
    now[0] = 1061.0
    assert counters.get("a") == 0
    for key in "bcde":
        counters.incr(key, 60)
    assert len(counters) == 3
    assert (counters.get("b"), counters.get("e")) == (0, 1)
