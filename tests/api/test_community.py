"""What people send over the API: who may, what is refused, and that only reviewed things show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from kernelindex.api import CODES, create_api
from kernelindex.api.problems import ProblemDetails
from kernelindex.api.routes.community import ATTESTATION_EXAMPLE, Received
from kernelindex.catalog import Catalog
from kernelindex.catalog.engines import sqlite_path
from kernelindex.community import (
    NO_EFFECT,
    Quota,
    Quotas,
    Verdict,
    decide,
    list_contributions,
    revoke_key,
)
from tests.community.factories import (
    HOSTILE,
    Clock,
    filled_copy,
    filled_switch,
    make_key,
    note,
    report,
    reproduction,
)

NOTES, REPORTS = "/attestations", "/reports"


@dataclass
class Site:
    """The API over a catalog of two runs, with a clock that tests move."""

    catalog: Catalog
    clock: Clock
    app: Any
    client: TestClient
    run: str

    def key(self, *scopes: str, **more: Any) -> str:
        return make_key(self.catalog, self.clock, *scopes, **more).token

    def post(self, path: str, document: Any, key: str | None = None) -> httpx2.Response:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        if isinstance(document, dict):
            document = {"run": self.run, **document}
        return self.client.post(path, json=document, headers=headers)

    def accept(self, answer: httpx2.Response) -> str:
        ident = str(answer.json()["contribution"]["id"])
        decide(self.catalog, ident, Verdict.ACCEPT, actor="eve", reason="sound", clock=self.clock)
        return ident

    def listed(self, path: str, **filters: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(path, params=filters).json()["contributions"]
        return found


@cache
def _app() -> Any:
    """One application for all tests; each puts its own catalog behind it."""
    return create_api(filled_switch(), rates=None)  # type: ignore[arg-type]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    clock = Clock()
    url, fast, _ = filled_copy(tmp_path)
    with Catalog.open(url) as catalog:
        filled_switch().target = catalog
        app = _app()
        app.state.clock, app.state.quotas = clock, Quotas()
        yield Site(catalog, clock, app, TestClient(app, raise_server_exceptions=False), fast)


def refused(answer: httpx2.Response, code: str) -> ProblemDetails:
    found = ProblemDetails.model_validate_json(answer.content)
    assert (found.code, answer.status_code) == (code, CODES[code].status), found.detail
    assert answer.headers["content-type"] == "application/problem+json"
    assert found.title == CODES[code].title
    return found


def expired(site: Site) -> httpx2.Response:
    key = site.key("attest", days=1)
    site.clock.pass_s(86_400)
    return site.post(NOTES, note(), key)


def revoked(site: Site) -> httpx2.Response:
    key = site.key("attest")
    revoke_key(site.catalog, key.split("_")[1], actor="root", reason="lost", clock=site.clock)
    return site.post(NOTES, note(), key)


def limited(site: Site) -> httpx2.Response:
    site.app.state.quotas = Quotas(address=(Quota(1, 60),))
    site.post(REPORTS, report("one"))
    return site.post(REPORTS, report("two"))


def full(site: Site) -> httpx2.Response:
    site.app.state.quotas = Quotas(pending=0)
    return site.post(REPORTS, report())


def read_only(site: Site) -> httpx2.Response:
    """No lock can be taken, as in a folder that cannot be written."""
    path = sqlite_path(site.catalog.url)
    lock = path.with_name(f"{path.name}.write-lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    return site.post(REPORTS, report())


PEOPLE: dict[str, Callable[[Site], httpx2.Response]] = {
    "key.missing": lambda site: site.post(NOTES, note()),
    "key.invalid": lambda site: site.post(NOTES, note(), "ki_0123456789_" + "x" * 43),
    "key.expired": expired,
    "key.revoked": revoked,
    "key.scope": lambda site: site.post(NOTES, note(), site.key("report")),
    "contribution.invalid": lambda site: site.post(NOTES, note(""), site.key()),
    "contribution.rate_limited": limited,
    "contribution.queue_full": full,
    "contribution.read_only": read_only,
}


@pytest.mark.parametrize("code", PEOPLE)
def test_a_code_is_produced_and_nothing_is_stored(site: Site, code: str) -> None:
    answer = PEOPLE[code](site)
    refused(answer, code)
    stored = {"contribution.rate_limited": 1}.get(code, 0)
    assert len(list_contributions(site.catalog).items) == stored
    assert answer.headers.get("www-authenticate") == ("Bearer" if code[:4] == "key." and
        answer.status_code == 401 else None)  # fmt: skip


def test_waiting_is_said_in_a_header(site: Site) -> None:
    assert limited(site).headers["retry-after"] == "60"
    assert full(site).headers["retry-after"] == "86400"


def test_what_is_sent_shows_once_it_is_accepted(site: Site) -> None:
    answer = site.post(NOTES, reproduction(), site.key())
    received = Received.model_validate_json(answer.content)
    assert (answer.status_code, received.contribution.state) == (202, "pending")
    assert received.effect == NO_EFFECT
    assert site.listed(NOTES) == []
    ident = site.accept(answer)
    (shown,) = site.listed(NOTES, run=site.run[7:19])
    assert (shown["id"], shown["state"], shown["value"]) == (ident, "accepted", 5.76)
    assert "author" not in shown


def test_the_run_answers_the_same_before_and_after(site: Site) -> None:
    before = site.client.get(f"/runs/{site.run}").content
    key = site.key()
    for document in (reproduction(), reproduction(outcome="differs", value=1.0), note()):
        site.accept(site.post(NOTES, document, key))
    site.accept(site.post(REPORTS, report()))
    assert site.client.get(f"/runs/{site.run}").content == before


def test_lists_are_apart_filtered_and_paged(site: Site) -> None:
    key = site.key()
    for number in range(3):
        site.clock.pass_s(1)
        site.accept(site.post(NOTES, note(f"note {number}"), key))
    site.accept(site.post(NOTES, reproduction(), key))
    site.accept(site.post(REPORTS, report()))
    assert [one["kind"] for one in site.listed(REPORTS)] == ["report"]
    assert len(site.listed(NOTES)) == 4
    first = site.client.get(NOTES, params={"kind": "note", "limit": 2}).json()
    assert [one["text"] for one in first["contributions"]] == ["note 2", "note 1"]
    rest = site.client.get(
        NOTES, params={"kind": "note", "limit": 2, "cursor": first["cursor"]}
    ).json()
    assert [one["text"] for one in rest["contributions"]] == ["note 0"]
    assert rest["cursor"] is None
    other = site.client.get(NOTES, params={"limit": 2, "cursor": first["cursor"]})
    refused(other, "request.cursor")


def test_a_report_is_anonymous_or_by_a_key(site: Site) -> None:
    anonymous = site.post(REPORTS, report("a"))
    signed = site.post(REPORTS, report("b"), site.key("report"))
    names = [one.json()["contribution"]["by"] for one in (anonymous, signed)]
    assert names == ["anonymous", "Ada"]
    refused(site.post(REPORTS, report("c"), site.key("attest")), "key.scope")
    refused(site.post(REPORTS, report("c"), "nonsense"), "key.invalid")


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Bearer ", "ki_0123456789_x"])
def test_another_authorization_is_refused_and_not_taken_for_none(site: Site, header: str) -> None:
    for path in (NOTES, REPORTS):
        document = {"run": site.run, **(note() if path == NOTES else report())}
        answer = site.client.post(path, json=document, headers={"Authorization": header})
        refused(answer, "key.invalid")


JSON = {"Content-Type": "application/json"}
BROKEN: tuple[tuple[bytes, dict[str, str], str], ...] = (
    (b'{"run": "deadbeef"}', JSON, "run.not_found"),
    (b"{", JSON, "canonical.syntax"),
    (b'{"a": 1, "a": 2}', JSON, "canonical.duplicate_key"),
    (b"\xff", JSON, "canonical.encoding"),
    (b" " * 20_000, JSON, "request.body_too_large"),
    (b"{}", {"Content-Type": "text/plain"}, "request.media_type"),
)


def test_a_key_is_looked_at_before_the_body_and_the_query(site: Site) -> None:
    """Who may not write does not learn what the rest would have been refused for."""
    for scope, path in (("report", NOTES), ("attest", REPORTS)):
        keys = {"ki_no": "key.invalid", site.key(scope): "key.scope"}
        for key, code in keys.items():
            for body, headers, _ in BROKEN:
                sent = {**headers, "Authorization": f"Bearer {key}"}
                refused(site.client.post(f"{path}?odd=1", content=body, headers=sent), code)
    for body, headers, code in BROKEN:
        refused(site.client.post(NOTES, content=body, headers=headers), "key.missing")
        refused(site.client.post(REPORTS, content=body, headers=headers), code)
        known = {**headers, "Authorization": f"Bearer {site.key()}"}
        refused(site.client.post(NOTES, content=body, headers=known), code)


def test_the_scheme_is_read_in_any_case(site: Site) -> None:
    headers = {"Authorization": f"bearer {site.key()}"}
    document = {"run": site.run, **note()}
    assert site.client.post(NOTES, json=document, headers=headers).status_code == 202


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"run": "deadbeef"}, "run.not_found"),
        ({"run": ""}, "contribution.invalid"),
        ({"run": 7}, "contribution.invalid"),
        ({"run": "x" * 501}, "contribution.invalid"),
        ({"run": "a\x00"}, "contribution.invalid"),
        ([], "contribution.invalid"),
        ("a text", "contribution.invalid"),
    ],
)
def test_a_body_names_a_run_that_is_here(site: Site, document: Any, code: str) -> None:
    if isinstance(document, dict):
        document = {**report(), **document}
    refused(site.client.post(REPORTS, json=document), code)


def test_every_fault_is_listed_with_its_place(site: Site) -> None:
    wrong = reproduction(outcome="great", link="javascript:x", level="verified")
    found = refused(site.post(NOTES, wrong, site.key()), "contribution.invalid")
    assert [(one.where, one.code) for one in found.problems or ()] == [
        ("/outcome", "contribution.choice"),
        ("/link", "contribution.link"),
        ("/level", "contribution.unknown_field"),
    ]


def test_a_large_body_is_refused_unread(site: Site) -> None:
    refused(site.post(REPORTS, report("x" * 20_000)), "request.body_too_large")


def test_hostile_text_is_json_and_comes_back_unchanged(site: Site) -> None:
    answer = site.post(NOTES, note(HOSTILE), site.key(owner=HOSTILE))
    site.accept(answer)
    (shown,) = site.listed(NOTES)
    assert (shown["text"], shown["by"]) == (HOSTILE, HOSTILE)


def test_sending_again_returns_the_first(site: Site) -> None:
    key = site.key()
    first = site.post(NOTES, note(), key)
    assert site.post(NOTES, note(), key).content == first.content


def test_the_example_of_an_attestation_is_taken(site: Site) -> None:
    document = {**ATTESTATION_EXAMPLE, "run": site.run}
    assert site.post(NOTES, document, site.key()).status_code == 202


def test_a_key_is_in_no_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    key = site.key("report")
    site.post(NOTES, note(), key)
    site.post(NOTES, note(), key[:-1] + "~")
    assert key[14:-1] not in caplog.text


def test_other_origins_may_read_and_not_write(site: Site) -> None:
    read = site.client.get(NOTES, headers={"Origin": "https://elsewhere.example"})
    assert read.headers["access-control-allow-origin"] == "*"
    wrote = site.client.post(REPORTS, json={"run": site.run, **report()})
    assert "access-control-allow-origin" not in wrote.headers


def test_keys_are_described_for_clients(site: Site) -> None:
    document = site.client.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert document["paths"][NOTES]["post"]["security"] == [{"key": []}]
    assert document["paths"][REPORTS]["post"]["security"] == [{"key": []}, {}]
    assert "202" in document["paths"][NOTES]["post"]["responses"]
