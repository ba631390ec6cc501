"""Whole-number expressions over axis names, for shapes: ``+ - * // %``, ``min`` and ``max``.

The standard library only: the worker evaluates them where nothing is installed.
"""

from __future__ import annotations

import ast
import operator
from functools import lru_cache
from typing import TYPE_CHECKING

from kernelindex.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["axis_names", "evaluate"]

MAX_LENGTH = 400

_SIGNS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: Mapping[str, Callable[..., int]] = {"min": min, "max": max}


def evaluate(expression: str, axes: Mapping[str, int]) -> int:
    """The value of ``expression``; division floors. Raises ``RegistryError``."""
    try:
        return _value(_parsed(expression), axes)
    except (ValueError, ZeroDivisionError, RecursionError) as error:
        raise RegistryError(
            f"expression {expression[:80]!r}: {error}; wanted whole numbers, axis names "
            f"({', '.join(sorted(axes)) or 'none'}), + - * // %, min and max",
            code="operation.expression",
        ) from None


def axis_names(expression: str) -> frozenset[str]:
    """The axes that ``expression`` names. Raises ``ValueError`` where it cannot be parsed."""
    names = {node.id for node in ast.walk(_parsed(expression)) if isinstance(node, ast.Name)}
    return frozenset(names - set(_CALLS))


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(error.msg) from None


def _value(node: ast.expr, axes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in axes:
            return axes[name]
        case ast.Name(id=name):
            raise ValueError(f"{name!r} is no axis here")
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(left, axes), _value(right, axes))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]) if name in _CALLS:
            return _CALLS[name](_value(argument, axes) for argument in args)
    raise ValueError(f"{ast.unparse(node)!r} is not allowed")
