from __future__ import annotations

import pytest

from kernelindex.community import is_form_token, make_cookie, make_form_token
from tests.community.factories import SECRET, Clock

PATH = "/runs/aaaa/report"


def test_a_form_is_good_for_its_browser_and_its_path(clock: Clock) -> None:
    cookie = make_cookie()
    token = make_form_token(SECRET, cookie, PATH, clock.now)
    assert is_form_token(SECRET, token, cookie, PATH, clock.now)
    assert not is_form_token(SECRET, token, make_cookie(), PATH, clock.now)
    assert not is_form_token(SECRET, token, None, PATH, clock.now)
    assert not is_form_token(SECRET, token, cookie, "/runs/aaaa/attest", clock.now)
    assert not is_form_token(b"t" * 32, token, cookie, PATH, clock.now)


def test_a_form_is_good_for_four_hours(clock: Clock) -> None:
    cookie = make_cookie()
    token = make_form_token(SECRET, cookie, PATH, clock.now)
    clock.pass_s(4 * 3600)
    assert is_form_token(SECRET, token, cookie, PATH, clock.now)
    clock.pass_s(1)
    assert not is_form_token(SECRET, token, cookie, PATH, clock.now)


@pytest.mark.parametrize("change", ["", ".", "0.", "x.y", "²." + "0" * 64, "9" * 400 + ".a"])
def test_another_token_is_none(clock: Clock, change: str) -> None:
    assert not is_form_token(SECRET, change, make_cookie(), PATH, clock.now)


def test_the_time_cannot_be_set_forward(clock: Clock) -> None:
    cookie = make_cookie()
    at, _, mac = make_form_token(SECRET, cookie, PATH, clock.now).partition(".")
    later = f"{int(at) + 60}.{mac}"
    clock.pass_s(60)
    assert not is_form_token(SECRET, later, cookie, PATH, clock.now)
