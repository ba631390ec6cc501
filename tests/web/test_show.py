"""Small pieces of text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from kernelindex.resolve.answer import DoubtRef, LimitRef
from kernelindex.web import paths
from kernelindex.web.citation import bibtex
from kernelindex.web.facts import DURATIONS, facts, tensors
from kernelindex.web.show import (
    align,
    doubt_label,
    exact,
    limit_words,
    more_doubts,
    named_sentence,
    sentence,
)
from tests.support.site import record_runs, starter

ROOT = Path(__file__).parents[2]


def test_numbers_align_on_the_point() -> None:
    assert align(["5.75", "64.0", "120", ""]) == (
        Markup("5.75"),
        Markup("64.0<i>5</i>"),
        Markup("120<i>.75</i>"),
        Markup(""),
    )


def test_what_follows_a_number_belongs_to_its_tail() -> None:
    assert align(["1x", "11.1x"]) == (Markup("1x<i>1x</i>"), Markup("11.1x"))


def test_an_exact_number_keeps_every_digit() -> None:
    assert exact(63962017.0, "ns") == "63,962,017 ns"
    assert exact(0.125, "s") == "0.125 s"


def doubt(effect: str, shift: float | None = None) -> DoubtRef:
    return DoubtRef(code="X", effect=effect, text="x", shift_ns=shift)  # type: ignore[call-arg]


def test_a_doubt_says_its_class_and_size() -> None:
    assert doubt_label(doubt("blocks")) == "blocks a claim"
    assert doubt_label(doubt("shifts", -7e5), 5.75e6) == "shifts it, about -0.70 ms"
    assert doubt_label(doubt("shifts")) == "shifts it"
    assert doubt_label(doubt("note")) == "note"


def test_more_doubts_are_counted() -> None:
    assert more_doubts([doubt("note")]) == "+1 note"
    assert more_doubts([doubt("note"), doubt("note")]) == "+2 notes"


def test_an_absent_limit_is_said_to_be_absent() -> None:
    both = LimitRef(tflops=490.0, percent_nominal=49.6, percent_attainable=62.1, bound="compute")
    assert limit_words(both) == (
        "490 TFLOP/s; 49.6 % of the nominal compute peak; 62.1 % of the attainable one"
    )
    one = LimitRef(tbps=1.0, percent_nominal=20.0, bound="memory")
    assert limit_words(one) == (
        "1.00 TB/s; 20.0 % of the nominal memory bandwidth; the attainable one is not measured here"
    )


def test_sentences_begin_and_end() -> None:
    assert sentence("no limit is known") == "No limit is known."
    assert sentence("Really?") == "Really?"
    assert sentence(" ") == ""


def test_a_sentence_that_begins_with_a_name_leaves_it_as_it_is() -> None:
    assert named_sentence("torch grouped_mm leads") == "torch grouped_mm leads."
    assert named_sentence("a_b is slower.") == "a_b is slower."
    assert named_sentence(" ") == ""


def test_facts_flatten_a_spec() -> None:
    spec = {"measurement": {"timer": "cuda_events", "warmupDuration": 25_000_000}, "on": True}
    assert [(one.label, one.text) for one in facts(spec)] == [
        ("measurement timer", "cuda_events"),
        ("measurement warmup duration", "25.0 ms"),
        ("on", "yes"),
    ]


def test_every_number_of_nanoseconds_or_bytes_has_a_unit() -> None:
    kinds = ("BenchmarkProtocol", "ExecutionEnvironment", "WorkloadCase")
    schemas = [schema_of(kind, version) for kind in kinds for version in ("v1alpha1", "v1alpha2")]
    timed = {name for schema in schemas for name in duration_fields(schema)}
    assert timed == DURATIONS - {"firstCall", "setup", "anchorMedian"}
    assert [one.text for one in facts(dict.fromkeys(sorted(timed), 1200000000))] == [
        "1.20 s"
    ] * len(timed)
    sizes = facts({"cache": {"flushBytes": 268_435_456}, "memoryBytes": 150_754_820_096})
    assert [one.text for one in sizes] == ["256 MiB", "140 GiB"]


def schema_of(kind: str, version: str) -> dict[str, Any]:
    text = (ROOT / "schemas" / version / f"{kind}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def duration_fields(schema: Any) -> Iterator[str]:
    """Names of the properties that take a duration, in a schema and below."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if not isinstance(schema, dict):
        return
    for name, one in schema.get("properties", {}).items():
        if any("|ms|s)" in way.get("pattern", "") for way in one.get("anyOf", ())):
            yield name
    for below in schema.values():
        yield from duration_fields(below)


def test_tensors_say_how_their_data_is_made() -> None:
    made = {"generator": "normal", "parameters": {"scale": 0.02}, "seed": 42}
    spec = {"tensors": {"x": {"shape": [8192, 2048], "dtype": "bf16", "data": made}}}
    (tensor,) = tensors(spec)
    assert (tensor.shape, tensor.data) == ("8192 × 2048", "normal, scale=0.02, seed 42")


def test_addresses_escape_names() -> None:
    assert paths.project("a/b?c") == "/projects/a%2Fb%3Fc"
    assert paths.operation("sha256:" + "ab" * 32) == "/operations/" + "ab" * 6
    assert paths.answer("a b&c") == "/answer?q=a+b%26c"


def test_a_citation_escapes_what_tex_reads() -> None:
    from kernelindex.resolve.show import show_run

    run = show_run(starter(), record_runs()[1]).model_copy(update={"title": "50 % of {x}_y"})
    assert r"50 \% of \{x\}\_y" in bibtex(run, "/runs/x")
