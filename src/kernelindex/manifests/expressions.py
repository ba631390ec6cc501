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

Node: TypeAlias = "int | str | tuple[str, Node, Node]"


def evaluate(expression: str, axes: Mapping[str, int]) -> int:
    """The value of ``expression``; division floors, as in Python.

    Raises ``ManifestError`` with code ``expression.syntax``, ``expression.unknown_axis``,
    ``expression.division_by_zero`` or ``expression.too_large``.
    """
    return _value(_parse(expression), axes, expression)


def axis_names(expression: str) -> frozenset[str]:
    """The axes that ``expression`` names. Raises like ``evaluate``."""
    return frozenset(_names(_parse(expression)))


def is_expression(text: str) -> bool:
    """Whether ``text`` can be parsed."""
    try:
        _parse(text)
    except ManifestError:
        return False
    return True


def _value(node: Node, axes: Mapping[str, int], expression: str) -> int:
    if isinstance(node, int):
        return node
    if isinstance(node, str):
        if node not in axes:
            known = ", ".join(sorted(axes)) or "none"
            _refuse("unknown_axis", expression, f"axis {node!r} is not among: {known}")
        return axes[node]
    sign, left, right = node
    a, b = _value(left, axes, expression), _value(right, axes, expression)
    if b == 0 and sign in {"%", "//"}:
        _refuse("division_by_zero", expression, f"the right side of {sign} is 0")
    result = _OPERATORS[sign](a, b)
    if abs(result) > MAX_RESULT:
        _refuse("too_large", expression, "a value passes 10^36")
    return result


def _names(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, tuple):
        yield from _names(node[1])
        yield from _names(node[2])


@lru_cache(maxsize=4096)
def _parse(expression: str) -> Node:
    if len(expression) > MAX_LENGTH:
        _refuse("syntax", expression, f"longer than {MAX_LENGTH} characters")
    reader = _Reader(expression)
    node = reader.sum(0)
    if reader.current is not None:
        _refuse("syntax", expression, f"{reader.current!r} where the end was wanted")
    return node


class _Reader:
    """A cursor over the tokens of one expression, with one method a precedence."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = _tokens(expression)
        self.current = next(self.tokens, None)

    def advance(self) -> str | None:
        taken, self.current = self.current, next(self.tokens, None)
        return taken

    def sum(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            _refuse("syntax", self.expression, f"nested deeper than {MAX_DEPTH}")
        node = self.product(depth)
        while self.current in _SUMS:
            node = (str(self.advance()), node, self.product(depth))
        return node

    def product(self, depth: int) -> Node:
        node = self.atom(depth)
        while self.current in _PRODUCTS:
            node = (str(self.advance()), node, self.atom(depth))
        return node

    def atom(self, depth: int) -> Node:
        token = self.advance()
        if token == "-":
            return ("-", 0, self.atom(depth + 1)) if depth < MAX_DEPTH else self.sum(depth + 1)
        if token == "(":
            node = self.sum(depth + 1)
            if self.advance() != ")":
                _refuse("syntax", self.expression, "a parenthesis is not closed")
            return node
        if token is None or not token[0].isalnum():
            seen = "the end" if token is None else repr(token)
            _refuse("syntax", self.expression, f"{seen} where an integer or axis was wanted")
        return int(token) if token.isdigit() else token


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
