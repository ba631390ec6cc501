"""What may be imported where, beyond the layers that import-linter holds."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.support.shared import CHECKOUT

PACKAGE = CHECKOUT / "src" / "kernelindex"


def imported_roots(module: str) -> set[str]:
    tree = ast.parse((PACKAGE / module).read_text())
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            roots.add(node.module.split(".")[0])
    return roots


@pytest.mark.parametrize(
    "module",
    ["__init__.py", "errors.py", "ids.py", "text.py", "units.py", "stats.py", "selfchecks.py"],
)
def test_foundation_is_standard_library_only(module: str) -> None:
    outside = imported_roots(module) - set(sys.stdlib_module_names) - {"kernelindex", "__future__"}
    assert outside == set()


@pytest.mark.parametrize(
    ("statement", "must_not_load"),
    [
        ("import kernelindex.policy", ("sqlalchemy", "torch", "httpx2", "numpy")),
        ("import kernelindex.cli.main", ("sqlalchemy", "numpy", "rich.table", "pydantic")),
        ("import kernelindex.kernels", ("torch", "triton", "pydantic")),
    ],
)
def test_an_import_stays_light(statement: str, must_not_load: tuple[str, ...]) -> None:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(result.stdout.split()) & set(must_not_load) == set()
