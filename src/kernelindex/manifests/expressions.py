"""Integer expressions over axis names: ``+ - * % //`` and parentheses, nothing else.

Derived axes and cost models are written in them. The parser is closed and bounded, so an
expression from a stranger's manifest is safe to evaluate.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NoReturn, TypeAlias

from kernelindex.errors import ManifestError

__all__ = ["axis_names", "evaluate", "is_expression"]

MAX_LENGTH = 2000
MAX_DEPTH = 32
MAX_RESULT = 10**36

_TOKEN = re.compile(r"\s*(?:(?P<integer>[0-9]+)|(?P<name>[a-z][a-z0-9_]*)|(?P<sign>//|[-+*%()]))")
_SUMS = ("+", "-")
_PRODUCTS = ("*", "%", "//")
_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
    "//": operator.floordiv,
}

# Postfix: operands before their operator, so that a long sum costs no depth.
Program: TypeAlias = "tuple[int | str, ...]"


def evaluate(expression: str, axes: Mapping[str, int]) -> int:
    """The value of ``expression``; division floors, as in Python.

    Raises ``ManifestError`` with code ``expression.syntax``, ``expression.unknown_axis``,
    ``expression.division_by_zero`` or ``expression.too_large``.
    """
    stack: list[int] = []
    for step in _parse(expression):
        if isinstance(step, int):
            stack.append(step)
        elif step in _OPERATORS:
            right, left = stack.pop(), stack.pop()
            stack.append(_apply(step, left, right, expression))
        else:
            stack.append(_axis(step, axes, expression))
    return stack[0]


def axis_names(expression: str) -> frozenset[str]:
    """The axes that ``expression`` names. Raises like ``evaluate``."""
    steps = _parse(expression)
    return frozenset(s for s in steps if isinstance(s, str) and s not in _OPERATORS)


def is_expression(text: str) -> bool:
    """Whether ``text`` can be parsed."""
    try:
        _parse(text)
    except ManifestError:
        return False
    return True


def _axis(name: str, axes: Mapping[str, int], expression: str) -> int:
    if name not in axes:
        known = ", ".join(sorted(axes)) or "none"
        _refuse("unknown_axis", expression, f"axis {name!r} is not among: {known}")
    return axes[name]


def _apply(sign: str, left: int, right: int, expression: str) -> int:
    if right == 0 and sign in {"%", "//"}:
        _refuse("division_by_zero", expression, f"the right side of {sign} is 0")
    result = _OPERATORS[sign](left, right)
    if abs(result) > MAX_RESULT:
        _refuse("too_large", expression, "a value passes 10^36")
    return result


@lru_cache(maxsize=4096)
def _parse(expression: str) -> Program:
    if len(expression) > MAX_LENGTH:
        _refuse("syntax", expression, f"longer than {MAX_LENGTH} characters")
    reader = _Reader(expression)
    reader.sum(0)
    if reader.current is not None:
        _refuse("syntax", expression, f"{reader.current!r} where the end was wanted")
    return tuple(reader.program)


class _Reader:
    """A cursor over the tokens of one expression, with one method a precedence."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = _tokens(expression)
        self.current = next(self.tokens, None)
        self.program: list[int | str] = []

    def advance(self) -> str | None:
        taken, self.current = self.current, next(self.tokens, None)
        return taken

    def sum(self, depth: int) -> None:
        self.product(depth)
        while (sign := self.current) in _SUMS:
            self.advance()
            self.product(depth)
            self.program.append(str(sign))

    def product(self, depth: int) -> None:
        self.atom(depth)
        while (sign := self.current) in _PRODUCTS:
            self.advance()
            self.atom(depth)
            self.program.append(str(sign))

    def atom(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            _refuse("syntax", self.expression, f"nested deeper than {MAX_DEPTH}")
        token = self.advance()
        if token == "-":
            self.program.append(0)
            self.atom(depth + 1)
            self.program.append("-")
        elif token == "(":
            self.sum(depth + 1)
            if self.advance() != ")":
                _refuse("syntax", self.expression, "a parenthesis is not closed")
        elif token is None or not token[0].isalnum():
            seen = "the end" if token is None else repr(token)
            _refuse("syntax", self.expression, f"{seen} where an integer or axis was wanted")
        else:
            self.program.append(int(token) if token.isdigit() else token)


def _tokens(expression: str) -> Iterator[str]:
    position, text = 0, expression.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            seen = text[position : position + 20]
            _refuse("syntax", expression, f"{seen!r} at character {position}")
        position = match.end()
        yield match[match.lastgroup or 0]


def _refuse(code: str, expression: str, reason: str) -> NoReturn:
    shown = expression if len(expression) <= 80 else f"{expression[:77]}..."
    raise ManifestError(
        f"expression {shown!r}: {reason}; allowed are integers, axis names, + - * % // and ( )",
        code=f"expression.{code}",
        expression=shown,
    )
