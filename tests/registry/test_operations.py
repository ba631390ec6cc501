from __future__ import annotations

import json

import pytest

from kernelindex.errors import RegistryError
from kernelindex.manifests.expressions import axis_names, evaluate
from kernelindex.registry import operations
from kernelindex.registry.costs import complete_axes
from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.operations import (
    PASSES,
    Operation,
    find_operation,
    load_operations,
    operations_of_family,
)

ALL = sorted(load_operations().values(), key=lambda operation: operation.slug)
by_slug = pytest.mark.parametrize("operation", ALL, ids=lambda operation: operation.slug)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("moe", "moe-mlp"),
        ("fused-moe", "moe-mlp"),
        ("fused_moe", "moe-mlp"),
        ("Fused MoE", "moe-mlp"),
        ("rmsnorm", "rms-norm"),
        ("rms_norm", "rms-norm"),
        ("matmul", "gemm"),
        ("silu_and_mul", "swiglu"),
        ("mrope", "qwen2vl-mrope"),
    ],
)
def test_words_people_use_name_one_operation(text: str, slug: str) -> None:
    match = find_operation(text)
    assert match.operation is not None
    assert match.operation.slug == slug


def test_a_typo_is_a_suggestion_and_never_a_match() -> None:
    match = find_operation("rmsnrom")
    assert match.operation is None
    assert match.suggestions[0] == "rms-norm"


def test_part_of_a_name_is_no_match() -> None:
    match = find_operation("norm")
    assert match.operation is None
    assert {"rms-norm", "layer-norm"} & set(match.suggestions)


def test_nonsense_names_nothing() -> None:
    assert find_operation("qqqqqq") == operations.OperationMatch(operation=None)
    assert find_operation("").operation is None


def test_axis_aliases_prefer_the_exact_case() -> None:
    moe = load_operations()["moe-mlp"]
    names = {text: axis.name for text in "THIEKk" if (axis := moe.axis(text)) is not None}
    assert names == {
        "T": "tokens",
        "H": "hidden",
        "I": "intermediate",
        "E": "experts",
        "K": "k",
        "k": "k",
    }
    assert moe.axis("nothing") is None


def test_families_list_their_operations_by_slug() -> None:
    slugs = [operation.slug for operation in operations_of_family("mlp")]
    assert {"geglu-mlp", "swiglu-mlp"} <= set(slugs)
    assert slugs == sorted(slugs)
    assert operations_of_family("no-such-family") == ()


def test_an_alias_of_two_operations_is_refused() -> None:
    first, second = ALL[:2]
    clash = {
        "a": _renamed(first, "a", ("same",)),
        "b": _renamed(second, "b", ("Same",)),
    }
    with pytest.raises(RegistryError, match="both answer to 'same'"):
        operations._check_names(clash)


def test_an_operation_without_a_field_names_file_and_field() -> None:
    with pytest.raises(RegistryError, match=r"x\.json: operation 'a' lacks 'family'"):
        operations._read_operation({"slug": "a"}, "x.json")


@by_slug
def test_every_operation_is_sound(operation: Operation) -> None:
    names = {axis.name for axis in operation.axes}
    assert set(operation.passes) <= set(PASSES)
    assert operation.source
    assert operation.expression
    for tensor in (*operation.inputs, *operation.outputs):
        for extent in tensor.shape:
            assert isinstance(extent, int) or extent in names
        rule = tensor.dtype
        if rule.startswith("like:"):
            assert operation.tensor(rule.removeprefix("like:")) is not None
        elif rule != "float":
            assert resolve_dtype(rule).key == rule


@by_slug
def test_every_cost_can_be_evaluated(operation: Operation) -> None:
    given = {axis.name: 8 for axis in operation.axes if not axis.derived}
    values = complete_axes(operation, given)
    assert values is not None
    for cost in operation.costs.values():
        expressions = [cost.flops] if cost.flops is not None else []
        expressions += [term.elements for term in cost.bytes or ()]
        for text in expressions:
            assert axis_names(text) <= values.keys()
            assert evaluate(text, values) >= 0
        for term in cost.bytes or ():
            assert operation.tensor(term.like) is not None


@by_slug
def test_no_two_axes_of_an_operation_answer_to_one_name(operation: Operation) -> None:
    claimed = [name for axis in operation.axes for name in {axis.name, *axis.aliases}]
    assert sorted(claimed) == sorted(set(claimed))


def test_the_data_files_hold_operations_only() -> None:
    folder = operations.files("kernelindex.registry").joinpath("operations")
    for entry in folder.iterdir():
        if entry.name.endswith(".json"):
            assert set(json.loads(entry.read_bytes())) <= {"operations", "source"}


def _renamed(operation: Operation, slug: str, aliases: tuple[str, ...]) -> Operation:
    fields = {name: getattr(operation, name) for name in Operation.__slots__}
    return Operation(**{**fields, "slug": slug, "aliases": aliases})
