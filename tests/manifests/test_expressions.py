from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.errors import ManifestError
from kernelindex.manifests.expressions import axis_names, evaluate, is_expression

AXES = {"m": 7, "n": 3, "in": 5, "if": 2}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("6*m*n", 126),
        ("m - n - 1", 3),
        ("m // n * 2", 4),
        ("m % n + in", 6),
        ("(m + n) // if", 5),
        ("-m + 10", 3),
        ("2 - -3", 5),
        ("(1-m)//2", -3),
        ("  42 ", 42),
        ("((((m))))", 7),
    ],
)
def test_values(expression: str, value: int) -> None:
    assert evaluate(expression, AXES) == value


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("", "syntax"),
        ("m n", "syntax"),
        ("m +", "syntax"),
        ("(m", "syntax"),
        ("m)", "syntax"),
        ("m ** 2", "syntax"),
        ("m / n", "syntax"),
        ("1.5", "syntax"),
        ("f(m)", "syntax"),
        ("m.n", "syntax"),
        ("M", "syntax"),
        ("٣", "syntax"),
        ("__import__", "syntax"),
        ("(" * 40 + "m" + ")" * 40, "syntax"),
        ("-" * 50 + "m", "syntax"),
        ("m" * 2001, "syntax"),
        ("q + 1", "unknown_axis"),
        ("m // (n - 3)", "division_by_zero"),
        ("m % 0", "division_by_zero"),
        ("*".join(["99999999999"] * 9), "too_large"),
    ],
)
def test_refusals(expression: str, code: str) -> None:
    with pytest.raises(ManifestError) as caught:
        evaluate(expression, AXES)
    assert caught.value.code == f"expression.{code}"


def test_a_long_flat_expression_is_bounded_but_fine() -> None:
    assert evaluate("+".join(["1"] * 1000), {}) == 1000


def test_names_and_syntax_without_values() -> None:
    assert axis_names("m * (n + 2) - m") == {"m", "n"}
    assert is_expression("m * 2")
    assert not is_expression("m *")


TREES = st.recursive(
    st.one_of(st.integers(0, 99).map(str), st.sampled_from(["m", "n"])),
    lambda inner: st.builds(
        lambda a, o, b: f"({a} {o} {b})", inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner
    ),
    max_leaves=12,
)


@given(TREES, st.integers(1, 50), st.integers(1, 50))
def test_values_agree_with_python(expression: str, m: int, n: int) -> None:
    assert value_or_code(expression, {"m": m, "n": n}) == python_value(expression, m, n)


def value_or_code(expression: str, axes: dict[str, int]) -> int | str:
    try:
        return evaluate(expression, axes)
    except ManifestError as error:
        return error.code


def python_value(expression: str, m: int, n: int) -> object:
    try:
        return eval(expression, {}, {"m": m, "n": n})
    except ZeroDivisionError:
        return "expression.division_by_zero"


@given(st.text(alphabet="mn12+-*%/() ", max_size=60))
def test_any_text_is_a_value_or_a_refusal(text: str) -> None:
    value = value_or_code(text, {"m": 2, "n": 3})
    assert isinstance(value, int) or value.startswith("expression.")
