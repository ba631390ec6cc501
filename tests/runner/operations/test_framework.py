from __future__ import annotations

import json
from typing import Any

import pytest

from kernelindex.errors import NotFoundError, RegistryError, RequestError
from kernelindex.registry import operations as registered
from kernelindex.runner.operations import load_module, load_operation, make_case, slugs
from kernelindex.runner.operations.description import folder_of, parse_operation
from kernelindex.runner.operations.dtypes import DTYPES, dtype_name, dtype_of, numpy_dtype
from kernelindex.runner.operations.expressions import axis_names, evaluate


def described(**changes: Any) -> str:
    """The text of an operation.json that is right but for ``changes``."""
    bounds = {"frobenius": 0.1}
    body = {
        "formatVersion": 1,
        "slug": "scaling",
        "title": "Scaling",
        "axes": ["rows"],
        "derivedAxes": {"twice": "rows * 2"},
        "inputs": [{"name": "x", "shape": ["rows", "twice"], "differentiable": True}],
        "outputs": [{"name": "y", "shape": ["rows", "8"], "dtype": "like:x"}],
        "tolerances": {"fp32": {"y": bounds, "grad_x": bounds}},
        "draws": {"uneven": {"axes": {"rows": "rows - 5"}, "parameters": {"odd": True}}},
        "distributions": ["flat", "steep"],
    }
    return json.dumps({**body, **changes})


def test_a_case_has_its_shapes_evaluated() -> None:
    case = make_case(parse_operation(described()), {"rows": 7}, {"x": "fp16"})
    assert case.axes == {"rows": 7, "twice": 14}
    assert (case.shape("x"), case.shape("grad_x"), case.shape("y")) == ((7, 14), (7, 14), (7, 8))
    assert (case.dtype("y"), case.nbytes("y"), case.size("x")) == ("fp16", 112, 98)
    assert (case.draw, case.distribution) == ("own", "flat")


def test_a_draw_changes_axes_and_parameters_and_keeps_one_row() -> None:
    case = make_case(parse_operation(described()), {"rows": 7}, {"x": "fp16"})
    uneven = case.for_draw("uneven")
    assert (uneven.shape("x"), uneven.draw, uneven.parameters) == ((2, 4), "uneven", {"odd": True})
    assert case.with_axes({"rows": 3}).for_draw("uneven").axes == {"rows": 1, "twice": 2}
    with pytest.raises(RequestError, match="no draw 'stress'; it has: uneven"):
        case.for_draw("stress")


@pytest.mark.parametrize(
    ("axes", "dtypes", "distribution", "said"),
    [
        ({}, {"x": "fp32"}, None, "wanted a whole number from 1 for each of rows"),
        ({"rows": 0}, {"x": "fp32"}, None, "wanted a whole number from 1"),
        ({"rows": 1, "columns": 2}, {"x": "fp32"}, None, "wanted a whole number"),
        ({"rows": 1}, {}, None, "no dtype is given for 'x'"),
        ({"rows": 1}, {"x": "fp32"}, "round", "no distribution 'round'; it has: flat, steep"),
    ],
)
def test_a_case_that_cannot_be_is_refused(
    axes: Any, dtypes: Any, distribution: Any, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        make_case(parse_operation(described()), axes, dtypes, distribution=distribution)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"colour": "red"}, "colour: saw 'red', wanted one of formatVersion"),
        ({"formatVersion": 2}, "formatVersion 1"),
        ({"title": 3}, "title: saw 3, wanted a text"),
        ({"axes": ["columns"]}, "axes of the operation in x's 'rows'"),
        ({"tolerances": {"fp32": {"y": {"frobenius": 1.0}}}}, "for exactly grad_x, y"),
        ({"tolerances": {"fp32": {"y": {"frobenius": 0.0}}}}, "bounds above 0"),
        ({"trusted": {"cpu": "nobody"}}, "a candidate's id in trusted.cpu"),
        ({"draws": {"odd": {}}}, "draws of own, stress, uneven, empty, overfull"),
        (
            {"draws": {"uneven": {"axes": {"columns": "1"}}}},
            "axes of the operation in draws.uneven",
        ),
        ({"rows": {"axis": "columns"}}, "rows.axis among the axes"),
        ({"outputs": [{"name": "x", "shape": []}]}, "every tensor's name once"),
        ({"outputs": [{"name": "y", "shape": [], "dtype": "like:z"}]}, "a tensor's name in y's"),
        (
            {"candidates": [{"id": "a", "title": "A", "project": "p", "entry": "f"}]},
            "module:function",
        ),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(changes: Any, said: str) -> None:
    with pytest.raises(RegistryError, match=r"operation\.json") as refused:
        parse_operation(described(**changes))
    assert said in str(refused.value)
    assert refused.value.code == "operation.invalid"


def test_a_key_twice_is_refused() -> None:
    with pytest.raises(RegistryError, match="slug: saw 'the key twice'"):
        parse_operation('{"slug": "a", "slug": "b"}')


def test_what_is_usual_for_the_worst_of_a_tensor() -> None:
    operation = load_operation("rms-norm")
    assert operation.input("x").worst_of == "row"
    assert operation.input("weight").worst_of == "whole"
    assert load_operation("moe-mlp").input("down_proj").worst_of == "leading"


def test_an_unknown_operation_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        NotFoundError, match=r"no operation 'gelu' can be run; there are: .*rms-norm"
    ):
        folder_of("gelu")
    with pytest.raises(NotFoundError):
        folder_of("../operations/rms-norm")


@pytest.mark.parametrize(
    ("text", "value"),
    [("rows", 7), ("rows * 2 + 1", 15), ("rows // 2", 3), ("max(1, rows - 9)", 1), ("8", 8)],
)
def test_expressions_are_evaluated(text: str, value: int) -> None:
    assert evaluate(text, {"rows": 7}) == value


@pytest.mark.parametrize(
    "text",
    ["columns", "rows ** 9", "rows / 2", "open('x')", "rows.real", "1 // 0", "True", "", "1 +"],
)
def test_other_expressions_are_refused(text: str) -> None:
    with pytest.raises(RegistryError, match="wanted whole numbers, axis names") as refused:
        evaluate(text, {"rows": 7})
    assert refused.value.code == "operation.expression"


def test_the_axes_of_an_expression_are_named() -> None:
    assert axis_names("max(rows, columns) * 2") == {"rows", "columns"}


def test_dtypes_are_named_as_in_numpy_and_the_registry() -> None:
    assert dtype_name(numpy_dtype("fp16")) == "fp16"
    assert dtype_of("bf16").epsilon == 2.0**-7
    with pytest.raises(NotFoundError, match="numpy has no bf16; install torch"):
        numpy_dtype("bf16")
    torch = pytest.importorskip("torch", reason="torch's names of dtypes")
    for made in DTYPES.values():
        assert dtype_name(getattr(torch, made.torch)) == made.name


@pytest.mark.parametrize("slug", slugs())
def test_tensors_are_the_registrys(slug: str) -> None:
    operation = load_operation(slug)
    known = registered.load_operations()
    if slug not in known:
        pytest.skip(f"{slug} is no operation of the registry")
    assert [spec.name for spec in operation.inputs] == [one.name for one in known[slug].inputs]
    assert [spec.name for spec in operation.outputs] == [one.name for one in known[slug].outputs]
    assert hasattr(load_module(slug), "reference")
