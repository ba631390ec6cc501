"""Cost expressions read as a person would write them, and still mean the same."""

from __future__ import annotations

import pytest

from kernelindex.manifests.expressions import axis_names, evaluate
from kernelindex.registry.costs import bytes_terms
from kernelindex.registry.operations import load_operations
from kernelindex.resolve.formulas import readable


@pytest.mark.parametrize(
    ("expression", "size_of", "wanted"),
    [
        ("(tokens) * (hidden)", "x", "tokens × hidden × size of x"),
        ("1", "eps", "size of eps"),
        ("(m) * (1) * (batch)", "c", "m × batch × size of c"),
        ("a * b + c * b", "x", "(a × b + c × b) × size of x"),
        ("(0) + (tokens * dim)", "", "tokens × dim"),
        ("(3 * a) - (b - c)", "", "3 × a - (b - c)"),
        ("2 * m * (k // groups)", "", "2 × m × (k // groups)"),
    ],
)
def test_parentheses_stand_where_they_are_needed(
    expression: str, size_of: str, wanted: str
) -> None:
    assert readable(expression, size_of) == wanted


def test_what_is_read_gives_what_is_counted() -> None:
    known = load_operations().values()
    found = {one.elements for op in known for name in op.costs for one in bytes_terms(op, name)}
    found |= {model.flops for op in known for model in op.costs.values() if model.flops}
    assert len(found) > 100
    for expression in found:
        sizes = {name: 64 + place for place, name in enumerate(sorted(axis_names(expression)))}
        read = readable(expression).replace(" × ", " * ")
        assert evaluate(read, sizes) == evaluate(expression, sizes)
