from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.resolve import Request, parse_query, parse_request
from kernelindex.resolve.problems import Problem
from kernelindex.resolve.query import to_query
from tests.resolve.factories import RECORD, RECORD_QUERY


def read(text: str) -> Request:
    request = parse_query(text)
    assert isinstance(request, Request), request
    return request


def problems(text: str) -> tuple[Problem, ...]:
    found = parse_query(text)
    assert not isinstance(found, Request)
    return found


def test_the_record_question_reads_as_its_json() -> None:
    expected = parse_request(
        {
            "operation": "fused-moe",
            "axes": RECORD,
            "dtypes": ["bf16"],
            "hardware": "H100",
            "pass": "backward",
        }
    )
    assert read(RECORD_QUERY) == expected


@pytest.mark.parametrize(
    ("text", "operation", "dtypes", "hardware"),
    [
        ("rmsnorm H100 bf16", "rmsnorm", ("bf16",), "H100"),
        ("b200", None, (), "b200"),
        ("prefix sum L4", "prefix sum", (), "L4"),
        ("causal conv1d B200", "causal conv1d", (), "B200"),
        ("moe", "moe", (), None),
        ("rmsnrom", "rmsnrom", (), None),
        ("the fastest rmsnorm on RTX 4090", "rmsnorm", (), "RTX 4090"),
        ("sha256:0123456789abcdef", "sha256:0123456789abcdef", (), None),
    ],
)
def test_words_are_sorted_by_exact_names(
    text: str, operation: str | None, dtypes: tuple[str, ...], hardware: str | None
) -> None:
    request = read(text)
    assert (request.operation, request.dtypes, request.hardware) == (operation, dtypes, hardware)


def test_the_longest_operation_name_wins_over_its_words() -> None:
    request = read("fp8 gemm MI300X")
    assert (request.operation, request.dtypes, request.hardware) == ("fp8 gemm", (), "MI300X")


def test_an_ambiguous_dtype_stays_as_asked() -> None:
    assert read("fp8 rmsnorm").dtypes == ("fp8",)


@pytest.mark.parametrize(
    "text", ["moe gpu:RTX 4090 bf16", "moe gpu:RTX-4090, bf16", "moe bf16; RTX 4090"]
)
def test_a_gpu_name_may_hold_blanks(text: str) -> None:
    request = read(text)
    assert request.hardware is not None
    assert request.hardware.replace("-", " ") == "RTX 4090"
    assert (request.operation, request.dtypes) == ("moe", ("bf16",))
    assert read(to_query(request)) == request


def test_filters_fill_the_policy() -> None:
    request = read("moe evidence:verified license:MIT license:Apache-2.0 installable:yes")
    assert request.policy.minimum_evidence == "verified"
    assert request.policy.licenses == ("MIT", "Apache-2.0")
    assert request.policy.installable is True


def test_pass_words_and_filters_agree() -> None:
    assert read("moe bwd").timed_pass == "backward"
    assert read("moe pass:fwd").timed_pass == "forward"
    assert read("moe").timed_pass is None


@pytest.mark.parametrize(
    ("text", "code", "correction"),
    [
        ("moe gpus:H100", "query.filter_unknown", "gpu:H100"),
        ("moe pas:backward", "query.filter_unknown", "pass:backward"),
        ("moe pass:backwards", "query.filter_value", "pass:backward"),
        ("moe evidence:verify", "query.filter_value", "evidence:verified"),
        ("moe tokens=8k", "query.axis_value", None),
        ("moe tokens=", "query.axis_value", None),
        ("moe tokens=1 tokens=2", "query.repeated", None),
        ("moe gpu:H100 gpu:H200", "query.repeated", None),
        ("moe gpu:", "query.filter_empty", None),
        ("", "request.empty", None),
        ("x" * 1001, "query.too_long", None),
        ("moe tokens=9007199254740993", "request.axis_value", None),
    ],
)
def test_a_bad_token_is_a_problem_with_its_correction(
    text: str, code: str, correction: str | None
) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.correction) == (code, correction)
    assert "wanted" in problem.text


def test_a_filter_written_with_an_equals_sign_is_a_filter() -> None:
    assert read("moe gpu=H100").hardware == "H100"


@pytest.mark.parametrize(
    ("document", "code", "where"),
    [
        ({}, "request.empty", ""),
        ({"foo": 1}, "request.field_unknown", "/foo"),
        ([], "request.not_an_object", ""),
        ({"operation": 3}, "request.field_invalid", "/operation"),
        ({"operation": "moe", "axes": {"tokens": "8192"}}, "request.field_invalid", "/axes/tokens"),
        ({"operation": "moe", "axes": {"tokens": -1}}, "request.axis_value", "/axes/tokens"),
        ({"operation": "moe", "timed_pass": "full"}, "request.field_unknown", "/timed_pass"),
        (
            {"operation": "moe", "policy": {"minimum": "verified"}},
            "request.field_unknown",
            "/policy/minimum",
        ),
        ({"operation": "moe", "pass": "sideways"}, "request.field_invalid", "/pass"),
    ],
)
def test_a_malformed_request_is_refused(document: object, code: str, where: str) -> None:
    found = parse_request(document)
    assert not isinstance(found, Request)
    assert [(problem.code, problem.where) for problem in found] == [(code, where)]


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"operation": True}, "Got true at /operation; wanted text."),
        ({"operation": ""}, 'Got "" at /operation; wanted at least 1 characters.'),
        (
            {"operation": {"x": [None, 1.5]}},
            'Got {"x": [null, 1.5]} at /operation; wanted text.',
        ),
        ({"operation": "m", "axes": []}, "Got [] at /axes; wanted an object."),
        ({"operation": "m", "axes": {"k": 1.5}}, "Got 1.5 at /axes/k; wanted an integer."),
        ({"operation": "m", "dtypes": "bf16"}, 'Got "bf16" at /dtypes; wanted a list.'),
        ({"operation": "m", "policy": False}, "Got false at /policy; wanted an object."),
        (
            {"operation": "m", "policy": {"installable": "yes"}},
            'Got "yes" at /policy/installable; wanted true or false.',
        ),
        (
            {"operation": "m", "pass": "x"},
            "Got \"x\" at /pass; wanted one of 'forward', 'backward', 'full' or 'inference'.",
        ),
    ],
)
def test_what_was_seen_and_wanted_is_said_in_json(document: object, text: str) -> None:
    found = parse_request(document)
    assert not isinstance(found, Request)
    assert [problem.text for problem in found] == [text]


def test_what_is_too_long_is_said_with_its_limit() -> None:
    found = parse_request({"operation": "x" * 201, "dtypes": ["bf16"] * 17})
    assert not isinstance(found, Request)
    assert [one.wanted for one in found] == ["at most 200 characters", "at most 16 entries"]


def test_an_unknown_field_gets_a_correction() -> None:
    found = parse_request({"operatoin": "moe"})
    assert not isinstance(found, Request)
    assert found[0].correction == "operation"


def test_a_request_reads_back_from_its_query() -> None:
    request = read(RECORD_QUERY + " evidence:verified license:MIT installable:yes source:liger")
    assert parse_query(to_query(request)) == request


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    found = parse_query(text)
    assert isinstance(found, Request) or all(problem.text for problem in found)
