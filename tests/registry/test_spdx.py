"""What a licence expression asks: its parts, who may use it, and the owner's own terms."""

from __future__ import annotations

import pytest

from kernelindex.registry.spdx import and_parts, is_allowed, join_parts, own_terms

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
OURS = "LicenseRef-Ours"


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("MIT", ("MIT",)),
        ("MIT AND Apache-2.0 AND MIT", ("MIT", "Apache-2.0")),
        (f"MIT AND {GCC}", ("MIT", GCC)),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", ("MPL-2.0", "(Apache-2.0 OR MIT)")),
        ("Apache-2.0 OR MIT AND ISC", ("(Apache-2.0 OR MIT AND ISC)",)),
    ],
)
def test_parts_are_what_all_holds(expression: str, parts: tuple[str, ...]) -> None:
    assert and_parts(expression) == parts


def test_joined_parts_keep_the_first_and_name_others_once() -> None:
    joined = join_parts("MIT AND ISC", ["MIT", "Apache-2.0 OR BSD-2-Clause", "0BSD", "0BSD"])
    assert joined == "MIT AND ISC AND (Apache-2.0 OR BSD-2-Clause) AND 0BSD"
    assert join_parts(joined, [joined]) == joined


@pytest.mark.parametrize(
    ("expression", "accepted", "allowed"),
    [
        ("MIT", {"MIT"}, True),
        ("MIT", {"ISC"}, False),
        ("MIT AND ISC", {"MIT"}, False),
        ("MIT AND ISC", {"MIT", "ISC"}, True),
        ("MIT AND ISC", {"MIT AND ISC"}, True),
        ("MIT OR ISC", {"ISC"}, True),
        ("MPL-2.0 AND (MIT OR ISC)", {"MPL-2.0", "ISC"}, True),
        ("MPL-2.0 AND (MIT OR ISC)", {"MIT", "ISC"}, False),
        ("(MIT OR ISC) AND (MIT OR 0BSD)", {"MIT"}, True),
        ("(MIT OR ISC) AND (MIT OR 0BSD)", {"ISC"}, False),
        (GCC, {"GPL-3.0-or-later"}, False),
        (GCC, {GCC}, True),
        (OURS, {OURS}, True),
    ],
)
def test_every_part_has_to_be_accepted_and_one_of_a_choice(
    expression: str, accepted: set[str], *, allowed: bool
) -> None:
    assert is_allowed(expression, accepted) is allowed


@pytest.mark.parametrize(
    ("expression", "terms"),
    [
        ("MIT AND Apache-2.0", ()),
        (f"MIT AND {OURS}", (OURS,)),
        (f"MIT OR {OURS}", ()),
        (f"ISC AND (MIT OR {OURS})", ()),
        (
            f"({OURS} OR LicenseRef-Theirs AND {OURS}) AND LicenseRef-Third",
            (OURS, "LicenseRef-Third"),
        ),
    ],
)
def test_own_terms_are_those_that_no_choice_avoids(expression: str, terms: tuple[str, ...]) -> None:
    assert own_terms(expression) == terms
