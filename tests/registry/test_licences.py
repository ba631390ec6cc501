"""Licences: known, unknown and not stated are three answers."""

from __future__ import annotations

import pytest

from kernelindex.registry.licences import resolve_licence


@pytest.mark.parametrize(
    ("text", "expression", "state"),
    [
        ("Apache-2.0", "Apache-2.0", "known"),
        ("apache 2.0", "Apache-2.0", "known"),
        ("mit", "MIT", "known"),
        ("MIT OR Apache-2.0", "MIT OR Apache-2.0", "known"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception", "known"),
        (
            "June 9 Researcher Reciprocity License v1.0",
            "LicenseRef-GPUMode-Reciprocity-1.0",
            "known",
        ),
        ("BSD", None, "unknown"),
        ("see the LICENSE file", None, "unknown"),
        ("", None, "not_stated"),
        ("  ", None, "not_stated"),
        (None, None, "not_stated"),
        ("NOASSERTION", None, "not_stated"),
    ],
)
def test_three_answers(text: str | None, expression: str | None, state: str) -> None:
    match = resolve_licence(text)
    assert (match.expression, match.state) == (expression, state)
