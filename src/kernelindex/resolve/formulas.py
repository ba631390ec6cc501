"""Cost expressions as a person would write them: ``tokens × hidden × size of x``."""

from __future__ import annotations

import ast

NONE_OF = {ast.Add: 0, ast.Mult: 1}
"""What adds or multiplies nothing, by the sign before or behind it."""


def readable(expression: str, size_of: str = "") -> str:
    """An expression of our registry with the parentheses it needs, ``×`` and no factor of 1.

    ``size_of``  a tensor whose elements it counts: then bytes, times the size of one of them
    """
    tree = _Plain().visit(ast.parse(expression, mode="eval")).body
    if size_of:
        tree = _plain(ast.BinOp(tree, ast.Mult(), ast.Name(f"size of {size_of}")))
    return ast.unparse(tree).replace(" * ", " × ")


class _Plain(ast.NodeTransformer):
    """Leaves out what a reader would wonder at: ``0 +`` and ``1 *``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _plain(node)


def _plain(node: ast.BinOp) -> ast.expr:
    nothing = NONE_OF.get(type(node.op))
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if nothing is not None and isinstance(one, ast.Constant) and one.value == nothing:
            return other
    return node
