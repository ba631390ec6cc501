"""Forms about a run: they work without script, refuse forgeries, and show nothing unreviewed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelindex.community import (
    NO_EFFECT,
    Quota,
    Quotas,
    Verdict,
    decide,
    list_contributions,
    submit_attestation,
)
from tests.community.factories import HOSTILE, note, reproduction
from tests.web.people import Site, open_site, read_form


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with open_site(tmp_path) as opened:
        yield opened


def pending(site: Site) -> list[dict[str, object]]:
    return [one.to_dict() for one in list_contributions(site.catalog, state="pending").items]


def accept(site: Site, ident: str) -> None:
    decide(site.catalog, ident, Verdict.ACCEPT, actor="eve", reason="sound", clock=site.clock)


def test_the_run_leads_to_the_forms_and_says_they_change_no_level(site: Site) -> None:
    page = site.browser.get(site.run).text
    for path in ("/attest", "/attest?kind=note", "/report"):
        assert f'href="{site.run}{path}"' in page
    assert "never change its level" in page
    assert "Nobody has added one yet" in page


def test_a_reproduction_goes_from_the_form_to_the_queue(site: Site) -> None:
    answer = site.browser.send(
        f"{site.run}/attest", outcome="differs", value=" 1.25 ", unit="us",
        hardware="one H100 PCIe", software="", text="two\r\nlines", key=site.key(),
    )  # fmt: skip
    assert (answer.status_code, answer.headers["location"]) == (303, f"{site.run}/received")
    (sent,) = pending(site)
    assert {name: sent[name] for name in ("kind", "outcome", "value", "unit", "text")} == {
        "kind": "reproduction", "outcome": "differs", "value": 1.25, "unit": "us",
        "text": "two\nlines",
    }  # fmt: skip
    assert "software" not in sent
    page = site.browser.get(f"{site.run}/received").text
    assert "waits for an operator" in page
    assert "it never changes the run" in page


def test_a_note_has_its_own_form(site: Site) -> None:
    form = site.browser.form(f"{site.run}/attest?kind=note")
    assert set(form.fields) == {"form_token", "kind", "text", "link", "key"}
    site.browser.send(f"{site.run}/attest?kind=note", text="seen", key=site.key())
    assert [(one["kind"], one["text"]) for one in pending(site)] == [("note", "seen")]


def test_a_report_needs_no_key_and_names_nobody(site: Site) -> None:
    form = site.browser.form(f"{site.run}/report")
    assert "key" not in form.fields
    answer = site.browser.send(f"{site.run}/report", reason="licence", text="it is GPL")
    assert answer.status_code == 303
    (sent,) = pending(site)
    assert (sent["by"], sent["reason"]) == ("anonymous", "licence")
    assert "testclient" not in str(list_contributions(site.catalog).items)


def test_pending_is_invisible_and_accepted_is_visible(site: Site) -> None:
    site.browser.send(f"{site.run}/attest?kind=note", text="the loop is a copy", key=site.key())
    assert "the loop is a copy" not in site.browser.get(site.run).text
    (sent,) = pending(site)
    accept(site, str(sent["id"]))
    page = site.browser.get(site.run).text
    assert "the loop is a copy" in page
    assert "Ada" in page
    decide(site.catalog, str(sent["id"]), Verdict.REFUSE, actor="eve", reason="spam")
    assert "the loop is a copy" not in site.browser.get(site.run).text


def test_the_page_of_a_run_changes_in_its_notes_alone(site: Site) -> None:
    before = site.browser.get(site.run).text
    key = site.key()
    sent = submit_attestation(site.catalog, site.fast, reproduction(), key, clock=site.clock)
    accept(site, sent.id)
    after = site.browser.get(site.run).text
    start, end = 'id="notes"', 'id="source"'
    assert before.partition(start)[0] == after.partition(start)[0]
    assert before.partition(end)[2] == after.partition(end)[2]
    assert "came out the same, 5.76 ms" in after


def test_an_alias_leads_to_the_one_address_of_the_form(site: Site) -> None:
    answer = site.browser.get("/runs/id-fast-1000/report")
    assert (answer.status_code, answer.headers["location"]) == (302, f"{site.run}/report")


@pytest.mark.parametrize("path", ["attest", "report", "received"])
def test_a_run_that_is_not_here_is_404(site: Site, path: str) -> None:
    assert site.browser.get(f"/runs/deadbeef/{path}").status_code == 404


def test_a_form_without_its_cookie_is_refused(site: Site) -> None:
    form = site.browser.form(f"{site.run}/report")
    stranger = site.new_browser()
    answer = stranger.post(form.action, form.fields | {"text": "x"})
    assert answer.status_code == 403
    assert "send it again" in answer.text
    assert pending(site) == []


@pytest.mark.parametrize("token", ["", "0.0", "1" * 500, "é"])
def test_a_form_without_its_token_is_refused(site: Site, token: str) -> None:
    form = site.browser.form(f"{site.run}/report")
    answer = site.browser.post(form.action, form.fields | {"text": "x", "form_token": token})
    assert answer.status_code == 403
    assert pending(site) == []


def test_a_form_of_another_run_or_kind_is_refused(site: Site) -> None:
    form = site.browser.form(f"{site.run}/report")
    other = f"/runs/{site.slow[7:19]}/report"
    assert site.browser.post(other, form.fields | {"text": "x"}).status_code == 403
    fields = form.fields | {"kind": "note", "text": "x", "key": site.key()}
    assert site.browser.post(f"{site.run}/attest", fields).status_code == 403
    assert pending(site) == []


def test_an_old_form_is_refused_and_its_text_is_kept_for_sending_again(site: Site) -> None:
    form = site.browser.form(f"{site.run}/report")
    site.clock.pass_s(4 * 3600 + 1)
    answer = site.browser.post(form.action, form.fields | {"text": "long work", "reason": "other"})
    assert answer.status_code == 403
    again = read_form(answer)
    assert (again.fields["text"], again.fields["reason"]) == ("long work", "other")
    assert site.browser.post(again.action, again.fields).status_code == 303


def test_the_field_for_programs_must_stay_empty(site: Site) -> None:
    page = site.browser.get(f"{site.run}/report").text
    assert 'aria-hidden="true"' in page
    assert read_form(site.browser.get(f"{site.run}/report")).fields["website"] == ""
    answer = site.browser.send(f"{site.run}/report", text="buy", website="https://spam.example")
    assert answer.status_code == 422
    assert pending(site) == []


def test_what_is_wrong_is_said_at_its_field_and_the_key_is_not_kept(site: Site) -> None:
    key = site.key()
    answer = site.browser.send(
        f"{site.run}/attest", value="fast", unit="ms", hardware="H100", link="http://x.example",
        key=key,
    )  # fmt: skip
    assert answer.status_code == 422
    assert 'id="problem-value"' in answer.text
    assert 'id="problem-link"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 2
    form = read_form(answer)
    assert (form.fields["value"], form.fields["hardware"]) == ("fast", "H100")
    assert key not in answer.text
    assert form.fields["key"] == ""
    assert pending(site) == []


@pytest.mark.parametrize(
    ("key", "status"), [("", 401), ("ki_0123456789_" + "x" * 43, 401), ("report", 403)]
)
def test_a_key_that_will_not_do_is_refused(site: Site, key: str, status: int) -> None:
    token = site.key("report") if key == "report" else key
    answer = site.browser.send(f"{site.run}/attest?kind=note", text="seen", key=token)
    assert answer.status_code == status
    assert read_form(answer).fields["text"] == "seen"
    assert pending(site) == []


def test_reports_are_limited_with_the_time_to_wait(site: Site) -> None:
    site.app.state.quotas = Quotas(address=(Quota(1, 600),))
    assert site.browser.send(f"{site.run}/report", text="one").status_code == 303
    answer = site.browser.send(f"{site.run}/report", text="two")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "600")
    assert "try again in 10 minutes" in answer.text
    assert len(pending(site)) == 1


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"a=1&a=2", "application/x-www-form-urlencoded"),
        (b"a=%ff", "application/x-www-form-urlencoded"),
        (b"\xff=1", "application/x-www-form-urlencoded"),
        (b"&".join(b"f%d=1" % n for n in range(40)), "application/x-www-form-urlencoded"),
        (b"a=" + b"x" * 70_000, "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
        (b"x", "multipart/form-data; boundary=x"),
        (b"x", ""),
    ],
)
def test_a_body_that_is_no_form_of_ours_is_refused(site: Site, content: bytes, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = site.browser.client.post(f"{site.run}/report", content=content, headers=headers)
    assert answer.status_code == 400
    assert "request.form" in answer.text


def test_hostile_text_is_shown_harmless(site: Site) -> None:
    key = site.key(owner=HOSTILE)
    sent = submit_attestation(site.catalog, site.fast, note(HOSTILE), key, clock=site.clock)
    accept(site, sent.id)
    page = site.browser.get(site.run).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\u2066\\u001b[2J{{ 7*7 }}" in page
    assert not {"\u202e", "\u2066", "\x1b"} & set(page)
    assert page.count("名前 \U0001f600") == 2


def test_hostile_text_in_a_refused_form_is_shown_harmless(site: Site) -> None:
    wrong = '"><script>alert(1)</script></textarea><b>'
    answer = site.browser.send(
        f"{site.run}/attest", hardware=wrong, text=wrong, value=wrong, key="x"
    )
    assert answer.status_code == 401
    assert "<script" not in answer.text
    assert read_form(answer).fields["hardware"] == wrong


def test_a_link_is_followed_without_credit_and_only_where_it_is_one(site: Site) -> None:
    key = site.key()
    linked = note("with link", link="https://example.org/a?b=1&c=2")
    sent = submit_attestation(site.catalog, site.fast, linked, key, clock=site.clock)
    accept(site, sent.id)
    page = site.browser.get(site.run).text
    assert (
        '<a href="https://example.org/a?b=1&amp;c=2" rel="nofollow ugc noopener noreferrer">'
        in page
    )


def test_a_stored_link_that_is_none_is_not_followed() -> None:
    from kernelindex.community import Contribution
    from kernelindex.web.people import build_remark

    item = Contribution(
        id="sha256:" + "1" * 64, kind="note", run="sha256:" + "2" * 64, author="k", by="Ada",
        created_at="2026-11-30T00:00:00.000000Z", state="accepted",
        content={"text": "x", "link": "javascript:alert(1)"},
    )  # fmt: skip
    assert build_remark(item).link == ""


def test_forms_are_kept_by_no_cache_and_their_cookie_is_strict(site: Site) -> None:
    answer = site.browser.get(f"{site.run}/report")
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert "ki_form=" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    secure = site.new_browser("https://testserver").get(f"{site.run}/report")
    assert secure.headers["set-cookie"].startswith("__Host-ki_form=")
    assert "Secure" in secure.headers["set-cookie"]
    assert "noindex" in answer.text


def test_the_page_of_a_run_sets_no_cookie(site: Site) -> None:
    assert "set-cookie" not in site.browser.get(site.run).headers


def test_two_forms_open_at_once_are_both_good(site: Site) -> None:
    first = site.browser.form(f"{site.run}/report")
    second = site.browser.form(f"/runs/{site.slow[7:19]}/report")
    for form in (first, second):
        assert site.browser.post(form.action, form.fields | {"text": "x"}).status_code == 303


def test_the_sentence_of_every_view_is_one(site: Site) -> None:
    words = NO_EFFECT.replace("'", "&#39;")
    for path in ("attest", "report", "received"):
        assert words in site.browser.get(f"{site.run}/{path}").text


def test_a_key_in_a_form_is_in_no_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    key = site.key()
    site.browser.send(f"{site.run}/attest?kind=note", text="seen", key=key)
    site.browser.send(f"{site.run}/attest?kind=note", text="", key=key)
    assert key[14:] not in caplog.text
