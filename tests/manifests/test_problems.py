from __future__ import annotations

import pytest

from kernelindex.errors import CanonicalError, ManifestError
from kernelindex.manifests import load, parse
from kernelindex.manifests.problems import Problem, refusal, show
from tests.manifests import factories as make


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", '"text"'),
        (1.5, "1.5"),
        (True, "true"),
        ({"a": [None]}, '{"a": [null]}'),
        ("x" * 100, '"' + "x" * 76 + "..."),
        ("é😀", '"é😀"'),
        ("\ud800", '"\\ud800"'),
        ({1, 2}, "a Python set"),
    ],
)
def test_values_are_shown_short(value: object, shown: str) -> None:
    assert show(value) == shown
    assert len(show(value)) <= 80


def test_a_refusal_is_ready_for_json() -> None:
    error = refusal([Problem("spec.a", "type", "1", "text")])
    assert error.to_dict() == {
        "code": "manifest.invalid",
        "message": "manifest refused: spec.a: saw 1, wanted text",
        "problems": [{"path": "spec.a", "rule": "type", "seen": "1", "wanted": "text"}],
    }


def problem_of(document: object) -> dict[str, str]:
    with pytest.raises(ManifestError) as caught:
        parse(document)
    (problem,) = caught.value.details["problems"]
    return dict(problem)


def test_choices_are_listed() -> None:
    problem = problem_of(
        make.operation(semantics={"mutation": "yes", "determinism": "unspecified"})
    )
    assert problem == {
        "path": "spec.semantics.mutation",
        "rule": "choice",
        "seen": '"yes"',
        "wanted": "one of 'none', 'in_place' or 'destination'",
    }


def test_branches_of_a_union_are_one_problem() -> None:
    problem = problem_of(make.workload(scalars={"a": {"dtype": "fp32", "value": []}}))
    assert problem["path"] == "spec.scalars.a.value"
    assert problem["wanted"] == "true or false, or an integer, or a number, or text"


def test_a_refused_key_is_shown() -> None:
    problem = problem_of(make.workload(axes={"M": 1}))
    assert (problem["path"], problem["seen"]) == ("spec.axes.M", '"M"')
    assert problem["wanted"].startswith("a token:")


def test_a_key_that_looks_like_a_number_keeps_its_path() -> None:
    problem = problem_of(make.workload(axes={"0": 1}))
    assert problem["path"] == "spec.axes.0"


def test_a_text_that_is_no_manifest_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"\$: saw 3, wanted an object: a manifest"):
        load("3")


def problems_of(document: object) -> list[dict[str, str]]:
    with pytest.raises(ManifestError) as caught:
        parse(document)
    return list(caught.value.details["problems"])


def test_a_list_is_refused_at_its_first_bad_item() -> None:
    problems = problems_of(make.run(measurements=[{}] * 100_000))
    assert [problem["path"] for problem in problems] == [
        f"spec.measurements[0].{name}" for name in ("metric", "unit", "statistic", "value")
    ]


def test_at_most_100_problems_are_named() -> None:
    problems = problems_of(make.workload(axes={f"A{n}": 1 for n in range(1_000)}))
    assert len(problems) == 100


def test_long_keys_are_shortened() -> None:
    (problem,) = problems_of(make.workload(axes={"A" * 10_000: 1}))
    assert problem["path"] == "spec.axes." + "A" * 77 + "..."
    with pytest.raises(CanonicalError) as caught:
        load('{"' + "a" * 10_000 + '": NaN}')
    assert caught.value.details["path"] == "$." + "a" * 37 + "..."


def test_a_circle_of_axes_is_named() -> None:
    axes = {
        name: {"role": "derived", "type": "integer", "expression": f"{other} * 2"}
        for name, other in zip("abc", "bca", strict=True)
    }
    arguments = [{"name": "x", "scalar": {"dtype": "fp32"}}]
    (problem,) = problems_of(make.operation(axes=axes, inputs=arguments, outputs=arguments))
    assert problem["rule"] == "cyclic_axes"
    assert problem["wanted"].startswith("no circle of derived axes: ")
