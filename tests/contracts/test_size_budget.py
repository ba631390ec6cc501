"""Files stay small enough to be read and functions small enough to be seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.support.shared import CHECKOUT

FILE_LINES = 500
FUNCTION_LINES = 60
FUNCTION_LINES_P90 = 35
FUNCTION_LINES_MEDIAN = 10
# A GPU kernel is one function by nature; it may be longer than other code.
KERNEL_DECORATORS = ("jit", "aggregate")


def python_files() -> list[Path]:
    return sorted((CHECKOUT / "src").rglob("*.py"))


@cache
def functions(path: Path) -> list[tuple[str, int, bool]]:
    """Each function's name, its lines and whether it is a GPU kernel."""
    return list(_functions(path))


def _functions(path: Path) -> Iterator[tuple[str, int, bool]]:
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(ast.unparse(item) for item in node.decorator_list)
            is_kernel = any(word in decorators for word in KERNEL_DECORATORS)
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield f"{path.relative_to(CHECKOUT)}:{node.lineno} {node.name}", lines, is_kernel


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below a node; expressions, most of a tree, hold no function."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)


def test_no_file_is_over_500_lines() -> None:
    over = {
        str(path.relative_to(CHECKOUT)): count
        for path in python_files()
        if (count := len(path.read_text().splitlines())) > FILE_LINES
    }
    assert over == {}


@pytest.mark.slow
def test_no_function_is_over_60_lines() -> None:
    over = {
        name: lines
        for path in python_files()
        for name, lines, is_kernel in functions(path)
        if lines > FUNCTION_LINES and not is_kernel
    }
    assert over == {}


@pytest.mark.slow
def test_functions_are_short_in_general() -> None:
    lengths = [n for path in python_files() for _, n, is_kernel in functions(path) if not is_kernel]
    assert median(lengths) <= FUNCTION_LINES_MEDIAN
    assert quantiles(lengths, n=10)[8] <= FUNCTION_LINES_P90
