from __future__ import annotations

from typing import Any

import pytest

from kernelindex.community import parse_attestation, parse_report
from kernelindex.errors import CommunityError
from tests.community.factories import HOSTILE, note, report, reproduction


def problems_of(document: object, parse: Any = parse_attestation) -> list[tuple[str, str]]:
    with pytest.raises(CommunityError) as caught:
        parse(document)
    assert caught.value.code == "contribution.invalid"
    return [
        (one["where"], one["code"].removeprefix("contribution."))
        for one in caught.value.details["problems"]
    ]


def test_a_full_reproduction_is_kept_as_it_was_written() -> None:
    document = reproduction()
    kind, content = parse_attestation(document)
    assert (kind, {"kind": kind, **content.stored()}) == ("reproduction", document)


def test_a_failed_reproduction_needs_no_value() -> None:
    _, content = parse_attestation(reproduction(outcome="failed", value=None, unit=None))
    assert content.stored()["outcome"] == "failed"


@pytest.mark.parametrize(
    ("document", "path", "rule"),
    [
        (reproduction(outcome="great"), "/outcome", "choice"),
        (reproduction(value=-1.0), "/value", "range"),
        (reproduction(value=float("inf")), "/value", "type"),
        (reproduction(value="5"), "/value", "type"),
        (reproduction(value=True), "/value", "type"),
        (reproduction(value=2e18), "/value", "range"),
        (reproduction(unit=None), "", "pair"),
        (reproduction(outcome="failed"), "", "outcome"),
        (reproduction(unit="fortnights"), "/unit", "choice"),
        (reproduction(hardware=None), "/hardware", "required"),
        (reproduction(hardware="x" * 201), "/hardware", "length"),
        (reproduction(software="x" * 501), "/software", "length"),
        (reproduction(level="verified"), "/level", "unknown_field"),
        (note(""), "/text", "blank"),
        (note(" \n\u3000"), "/text", "blank"),
        (note("x" * 2001), "/text", "length"),
        (note("a\x00b"), "/text", "characters"),
        (note("a\ud800b"), "/text", "characters"),
        (note("\n" * 59 + "x\n"), "/text", "lines"),
        ({"kind": "verified", "text": "x"}, "/kind", "choice"),
        ({"text": "x"}, "/kind", "choice"),
        ({"kind": ["note"], "text": "x"}, "/kind", "choice"),
        ([], "", "type"),
        ("note", "", "type"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_its_place(
    document: object, path: str, rule: str
) -> None:
    assert problems_of(document) == [(path, rule)]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"reason": "wrong_value"}, "/text"),
        (report(reason="ugly"), "/reason"),
        (report(contact="me@example.org"), "/contact"),
        (report("x" * 2001), "/text"),
        (7, ""),
    ],
)
def test_a_report_is_held_to_its_rules(document: object, path: str) -> None:
    assert [where for where, _ in problems_of(document, parse_report)] == [path]


@pytest.mark.parametrize(
    "link",
    [
        "http://example.org/",
        "HTTPS://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "//example.org",
        "https://",
        "https:///x",
        "https://user@example.org/",
        "https://user:secret@example.org/",
        "https://example.org\\@evil.example",
        "https://example.org/\u202egnp",
        "https://example.org/a b",
        "https://example.org/\nSet-Cookie: x",
        'https://example.org/"onmouseover="x',
        "https://example.org/<b>",
        "https://еxample.org/",
        "https://example.org:port/",
        "https://[::1]/",
        "https://example.org/" + "x" * 2000,
    ],
)
def test_only_plain_https_addresses_are_links(link: str) -> None:
    (problem,) = problems_of(note(link=link))
    assert problem in {("/link", "link"), ("/link", "length")}


@pytest.mark.parametrize(
    "link",
    ["https://example.org", "https://a-b.example:8443/x?y=1#z", "https://example.org/a%20b(c)'d"],
)
def test_ordinary_addresses_are(link: str) -> None:
    _, content = parse_attestation(note(link=link))
    assert content.stored()["link"] == link


def test_hostile_text_is_data_and_stays_what_it_is() -> None:
    _, content = parse_attestation(note(HOSTILE))
    assert content.stored()["text"] == HOSTILE


def test_a_problem_shows_what_was_seen_shortened() -> None:
    with pytest.raises(CommunityError) as caught:
        parse_attestation(note("x" * 5000))
    (problem,) = caught.value.details["problems"]
    assert len(problem["seen"]) <= 80
    assert problem["wanted"] == "at most 2000 characters"
