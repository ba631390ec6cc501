from __future__ import annotations

import pytest

from kernelindex.catalog.rows import Found, SearchAnswer, SearchHit
from kernelindex.resolve.operations import read_operation
from tests.resolve.factories import FakeCatalog, digest


class Searching(FakeCatalog):
    """A catalog with only names: hits in the order of their score, spellings without hits."""

    def __init__(self, *hits: tuple[str, float], spellings: tuple[str, ...] = ()) -> None:
        super().__init__([])
        found = [
            SearchHit(kind="operation", slug=slug, title=slug.upper(), score=score, run_count=1)
            for slug, score in hits
        ]
        self.answer = SearchAnswer(hits=tuple(found), suggestions=spellings)

    def search_text(self, query: str, limit: int = 20) -> SearchAnswer:
        return self.answer


def test_an_exact_name_asks_the_catalog_nothing() -> None:
    catalog = FakeCatalog([])
    reading = read_operation(catalog, "Fused_MoE")
    assert (reading.slugs, reading.assumptions) == (("moe-mlp",), ())
    assert reading.axis_names["T"] == reading.axis_names["tokens"] == "tokens"
    assert catalog.reads == []


def test_a_stored_name_is_found_by_its_alias() -> None:
    class Stored(FakeCatalog):
        def find(self, ident: str, *kinds: str) -> list[Found]:
            return [Found(kind=kinds[0], digest=digest("op"), title="T", via="alias")]

        def operation_of(self, ident: str) -> str | None:
            return "grayscale"

    assert read_operation(Stored([]), "013_thing").slugs == ("grayscale",)


def test_a_family_names_its_members() -> None:
    reading = read_operation(Searching(), "normalization")
    assert "rms-norm" in reading.slugs
    assert reading.assumptions[0].code == "operation_family"


def test_a_clear_best_hit_is_taken_and_the_others_suggested() -> None:
    reading = read_operation(Searching(("one", 5.0), ("two", 2.0)), "zzz yyy")
    assert reading.slugs == ("one",)
    assert [item.query for item in reading.suggestions] == ["two"]


def test_hits_that_are_as_good_as_each_other_are_all_taken() -> None:
    reading = read_operation(Searching(("one", 5.0), ("two", 4.9)), "zzz yyy")
    assert reading.slugs == ("one", "two")


def test_words_beside_a_known_name_are_said_to_be_unused() -> None:
    reading = read_operation(Searching(), "rmsnorm zzyyxx")
    assert reading.slugs == ("rms-norm",)
    assert [note.code for note in reading.assumptions] == ["words_unused"]
    assert "zzyyxx" in reading.assumptions[0].text


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("a\x1b[31m<script>", r"a\u001b[31m<script>"),
        ("moe \u202eqqq", r"moe \u202eqqq"),
        ("a", "a"),
        ("for the", "for the"),
        ("<b>", "<b>"),
    ],
)
def test_what_is_no_word_is_unknown_whatever_a_search_finds(asked: str, seen: str) -> None:
    reading = read_operation(Searching(("vector-sum", 9.0), spellings=("scripts",)), asked)
    assert reading.slugs == ()
    (problem,) = reading.problems
    assert (problem.code, problem.seen) == ("request.operation_unknown", seen)
    assert problem.text.startswith(f"Got {seen} at /operation;")
    assert [one.query for one in reading.suggestions] == ["scripts"]


def test_an_unknown_name_offers_the_spellings_the_catalog_has() -> None:
    reading = read_operation(Searching(spellings=("grayscale",)), "qqqqzz")
    assert reading.slugs == ()
    assert reading.problems[0].correction == "grayscale"
    assert reading.suggestions[0].query == "grayscale"
