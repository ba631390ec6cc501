"""The operators' pages: closed to all others, short sessions, every decision audited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kernelindex.community import find_contribution, read_audit, revoke_key
from tests.community.factories import HOSTILE, make_key, send_note, send_report
from tests.web.people import Browser, Site, open_site, read_form

QUEUE = "/admin/queue"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with open_site(tmp_path) as opened:
        yield opened


def log_in(site: Site, browser: Browser | None = None, key: str | None = None) -> httpx2.Response:
    return (browser or site.browser).send("/admin", key=key or site.key("admin", owner="Eve"))


def sent_report(site: Site, text: str = "wrong card") -> str:
    return send_report(site.catalog, site.clock, text, run=site.fast).id


def decide(site: Site, ident: str, **values: Any) -> httpx2.Response:
    given = {"decision": "accept", "reason": "sound"} | values
    return site.browser.send(f"{QUEUE}/{ident[7:19]}", **given)


@pytest.mark.parametrize("path", [QUEUE, f"{QUEUE}/deadbeef", "/admin/audit"])
def test_nobody_sees_it_without_a_session(site: Site, path: str) -> None:
    answer = site.browser.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin")


def test_a_decision_without_a_session_is_not_taken(site: Site) -> None:
    ident = sent_report(site)
    fields = {"decision": "accept", "reason": "x", "form_token": "x"}
    answer = site.browser.post(f"{QUEUE}/{ident[7:19]}", fields)
    assert answer.status_code == 401
    assert find_contribution(site.catalog, ident).state == "pending"


def test_a_key_opens_the_queue_and_is_nowhere_after(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    key = site.key("admin", owner="Eve")
    answer = log_in(site, key=key)
    assert (answer.status_code, answer.headers["location"]) == (303, QUEUE)
    page = site.browser.get(QUEUE)
    assert page.status_code == 200
    assert f"Eve (key {key.split('_')[1]})" in page.text
    assert page.headers["cache-control"] == "no-store"
    assert key[14:] not in str(answer.headers) + page.text + caplog.text


def test_the_cookie_is_strict_short_and_for_these_pages(site: Site) -> None:
    cookie = log_in(site).headers["set-cookie"]
    assert cookie.startswith("ki_admin=")
    for word in ("HttpOnly", "SameSite=strict", "Path=/admin", "Max-Age=1800"):
        assert word in cookie
    assert "Secure" not in cookie
    secure = log_in(site, site.new_browser("https://testserver")).headers["set-cookie"]
    assert secure.startswith("__Secure-ki_admin=")
    assert "Secure" in secure.partition(";")[2]


@pytest.mark.parametrize(
    ("scope", "status"), [("attest", 403), ("report", 403), ("", 401), ("nonsense", 401)]
)
def test_another_key_opens_nothing(site: Site, scope: str, status: int) -> None:
    key = site.key(scope) if scope in ("attest", "report") else scope
    answer = site.browser.send("/admin", key=key)
    assert answer.status_code == status
    assert "ki_admin" not in str(answer.headers)
    assert site.browser.get(QUEUE).status_code == 303


def test_a_login_from_elsewhere_is_refused(site: Site) -> None:
    answer = site.browser.post("/admin", {"key": site.key("admin"), "form_token": "0.0"})
    assert answer.status_code == 403
    assert site.browser.get(QUEUE).status_code == 303


def test_a_session_ends_by_time_by_revoking_and_by_logout(site: Site) -> None:
    key = site.key("admin")
    log_in(site, key=key)
    site.clock.pass_s(1800)
    assert site.browser.get(QUEUE).status_code == 303
    log_in(site, key=key)
    assert site.browser.get(QUEUE).status_code == 200
    token = read_token(site.browser.get(QUEUE))
    cookie = dict(site.browser.client.cookies)
    assert site.browser.post("/admin/logout", {"form_token": "x"}).status_code == 403
    assert site.browser.post("/admin/logout", {"form_token": token}).status_code == 303
    assert site.browser.get(QUEUE).status_code == 303
    stolen = site.new_browser()
    stolen.client.cookies.update(cookie)
    assert stolen.get(QUEUE).status_code == 303
    log_in(site, key=key)
    revoke_key(site.catalog, key.split("_")[1], actor="root", reason="left", clock=site.clock)
    assert site.browser.get(QUEUE).status_code == 303


def read_token(page: httpx2.Response) -> str:
    return page.text.partition('name="form_token" value="')[2].partition('"')[0]


def test_who_is_logged_in_goes_straight_to_the_queue(site: Site) -> None:
    log_in(site)
    assert site.browser.get("/admin").headers["location"] == QUEUE


def test_the_queue_lists_by_state_and_pages(site: Site) -> None:
    key = make_key(site.catalog, site.clock)
    for number in range(51):
        site.clock.pass_s(1)
        send_note(site.catalog, site.clock, key, f"note {number:02}", run=site.fast)
    log_in(site)
    first = site.browser.get(QUEUE)
    assert first.text.count('scope="row"') == 50
    assert "note 50" in first.text
    after = first.text.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
    assert "note 00" in site.browser.get(after.replace("&amp;", "&")).text
    assert "There are none." in site.browser.get(f"{QUEUE}?state=accepted").text


def test_an_item_is_accepted_with_a_reason_and_audited(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    answer = decide(site, ident)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{QUEUE}/{ident[7:19]}")
    assert "wrong card" in site.browser.get(site.run).text
    (entry,) = read_audit(site.catalog, subject=ident).items
    assert (entry.action, entry.reason) == ("accept", "sound")
    assert entry.actor.startswith("Eve (key ")
    page = site.browser.get(f"{QUEUE}/{ident[7:19]}").text
    assert "sound" in page
    assert "accepted" in page


def test_an_accepted_item_is_taken_down(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    decide(site, ident)
    decide(site, ident, decision="refuse", reason="mistake")
    assert "wrong card" not in site.browser.get(site.run).text


def test_a_run_is_retracted_through_the_catalog(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    assert decide(site, ident, decision="retract", reason="other GPU").status_code == 303
    assert site.catalog.run(site.fast).retracted == "other GPU"
    assert "other GPU" in site.browser.get(site.run).text


def test_a_run_is_superseded_by_another(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    answer = decide(site, ident, decision="supersede", reason="rerun", by=site.slow[7:19])
    assert answer.status_code == 303
    assert site.catalog.run(site.fast).superseded_by == site.slow


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"reason": ""}, 422),
        ({"reason": " \n"}, 422),
        ({"decision": "explode"}, 422),
        ({"decision": ""}, 422),
        ({"decision": "supersede"}, 422),
        ({"decision": "supersede", "by": "deadbeef"}, 404),
        ({"decision": "retract", "by": "deadbeef"}, 422),
        ({"form_token": "x"}, 403),
        ({"form_token": ""}, 403),
    ],
)
def test_a_decision_that_cannot_be_is_said_and_not_taken(
    site: Site, values: dict[str, str], status: int
) -> None:
    ident = sent_report(site)
    log_in(site)
    answer = decide(site, ident, **values)
    assert answer.status_code == status
    assert "Not taken" in answer.text
    assert find_contribution(site.catalog, ident).state == "pending"
    assert read_audit(site.catalog, subject=ident).items == ()


def test_what_was_typed_is_kept_when_a_decision_is_not_taken(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    answer = decide(site, ident, decision="supersede", reason="a long reason", by="deadbeef")
    form = read_form(answer)
    assert form.fields["reason"] == "a long reason"
    assert form.fields["decision"] == "supersede"


def test_a_form_of_another_session_is_refused(site: Site) -> None:
    ident = sent_report(site)
    other = site.new_browser()
    log_in(site)
    log_in(site, other)
    fields = site.browser.form(f"{QUEUE}/{ident[7:19]}").fields
    answer = other.post(f"{QUEUE}/{ident[7:19]}", fields | {"decision": "accept", "reason": "x"})
    assert answer.status_code == 403
    assert find_contribution(site.catalog, ident).state == "pending"


def test_deciding_the_same_twice_is_a_conflict(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    decide(site, ident)
    assert decide(site, ident).status_code == 409


def test_an_unknown_item_is_404(site: Site) -> None:
    log_in(site)
    assert site.browser.get(f"{QUEUE}/deadbeef").status_code == 404


def test_the_log_is_a_page(site: Site) -> None:
    ident = sent_report(site)
    log_in(site)
    decide(site, ident, reason="looked at <the> log")
    page = site.browser.get("/admin/audit").text
    for word in ("session open", "key issue", "accept", "looked at &lt;the&gt; log"):
        assert word in page


def test_hostile_text_is_harmless_to_the_operator(site: Site) -> None:
    key = make_key(site.catalog, site.clock, owner=HOSTILE)
    ident = send_note(site.catalog, site.clock, key, HOSTILE, run=site.fast).id
    log_in(site)
    decide(site, ident, reason=HOSTILE.replace("\x1b", ""))
    for path in (QUEUE, f"{QUEUE}?state=accepted", f"{QUEUE}/{ident[7:19]}", "/admin/audit"):
        page = site.browser.get(path).text
        assert "<script>alert" not in page, path
        assert not {"\u202e", "\u2066", "\x1b"} & set(page), path


def test_these_pages_are_for_no_search_engine(site: Site) -> None:
    assert "noindex" in site.browser.get("/admin").text
    log_in(site)
    assert "noindex" in site.browser.get(QUEUE).text
