"""The front page: a question box, and examples that really answer here."""

from __future__ import annotations

from tests.support.html import Document
from tests.support.site import RECORD, client


def test_every_example_has_the_answer_it_promises() -> None:
    page = Document(client().get("/").text)
    examples = [link for link in page.links() if link.startswith("/answer?q=")]
    assert examples
    answers = [one.text for one in page.find("dd")]
    for link, promised in zip(examples, answers, strict=True):
        assert promised in Document(client().get(link).text).find("h1")[0].text


def test_the_record_is_an_example() -> None:
    assert RECORD in Document(client().get("/").text).text


def test_the_box_asks_without_script() -> None:
    (form,) = Document(client().get("/").text).find("form", class_="ask")
    assert form.attrs["action"] == "/answer"
    assert form.attrs.get("method", "get") == "get"


def test_changes_of_one_day_are_not_shown_as_a_known_order() -> None:
    page = Document(client().get("/").text)
    days = [cell.text for cell in page.find("td", class_="rank")]
    lines = client().get(f"/api/v1/records?limit={len(days)}").json()["records"]
    assert days == [f"{one['date']}{'*' if one['same_day'] else ''}" for one in lines]
    assert any(day.endswith("*") for day in days)
    assert "* Several that day; their order is not known." in page.text
