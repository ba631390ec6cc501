from __future__ import annotations

from typing import Any

import pytest

from kernelindex.policy.deployability import (
    LABELS,
    UNKNOWN,
    Checklist,
    checklist,
    install_gap,
    is_in_script,
)

COMPLETE: dict[str, Any] = {
    "projectRevision": {"repository": "https://example.org/r", "commit": "a" * 40},
    "buildVariants": [{"name": "pip", "install": {"kind": "pip", "package": "thing"}}],
    "licensing": {"declared": "MIT", "concluded": "MIT AND BSD-2-Clause"},
    "support": {"hardwareArchitectures": ["sm_90"], "dtypes": []},
}

MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "source": ({"projectRevision": {"version": "1.0"}}, "no source is named"),
    "revision": (
        {"projectRevision": {"repository": "https://example.org/r"}},
        "no commit, version or digest pins it",
    ),
    "licence": (
        {"licensing": {"declared": "MIT"}},
        "licence MIT declared, not concluded with its dependencies",
    ),
    "install": ({"buildVariants": []}, "no install recipe"),
    "architecture": (
        {"support": {"hardwareArchitectures": ["sm_80", "sm_100"]}},
        "not stated as tested on sm_90 (tested: sm_80, sm_100)",
    ),
}


def test_all_requirements_met_is_deployable() -> None:
    found = checklist(COMPLETE, architecture="sm_90")
    assert found.deployable
    assert found.why_not == ()
    assert [item.label for item in found.items] == list(LABELS.values())


@pytest.mark.parametrize("code", LABELS)
def test_each_requirement_counts_and_says_why_not(code: str) -> None:
    change, text = MISSING[code]
    found = checklist(COMPLETE | change, architecture="sm_90")
    assert not found.deployable
    assert [item.code for item in found.items if not item.met] == [code]
    assert found.why_not == (text,)


@pytest.mark.parametrize(("checked", "met"), [(True, True), (False, False), (None, False)])
def test_a_run_here_counts_as_a_test_where_its_result_was_checked(
    checked: bool | None, *, met: bool
) -> None:
    spec = COMPLETE | {"support": {"hardwareArchitectures": []}}
    found = checklist(spec, architecture="sm_90", checked=checked)
    assert found.deployable is met


def test_a_version_that_says_it_is_not_stated_pins_nothing() -> None:
    spec = COMPLETE | {
        "projectRevision": {"repository": "https://example.org/r", "version": "unstated"}
    }
    found = checklist(spec, architecture="sm_90")
    assert [item.code for item in found.items if not item.met] == ["revision"]


def test_archived_source_is_source_and_pins_it() -> None:
    spec = COMPLETE | {"projectRevision": {}, "source": {"contentDigest": "sha256:x"}}
    assert checklist(spec, architecture="sm_90").deployable


@pytest.mark.parametrize(
    ("licensing", "text"),
    [({}, "no licence is stated"), ({"declared": "see file"}, "licence unclear")],
)
def test_licences_that_help_nobody(licensing: dict[str, str], text: str) -> None:
    spec = COMPLETE | {"licensing": licensing}
    assert checklist(spec, architecture="sm_90").why_not == (text,)


def test_a_copy_in_a_benchmark_cannot_be_installed() -> None:
    found = checklist(COMPLETE | {"buildVariants": []}, architecture="sm_90", restated=True)
    assert found.why_not == ("exists only as a copy inside a benchmark script",)


def test_a_copy_that_a_recipe_installs_is_like_any_other() -> None:
    assert checklist(COMPLETE, architecture="sm_90", restated=True).deployable
    assert not is_in_script(COMPLETE, restated=True)


def test_a_copy_in_a_package_whose_source_nothing_pins_lies_in_no_script() -> None:
    spec = COMPLETE | {
        "buildVariants": [],
        "projectRevision": {"repository": "https://github.com/kernelindex/kernelindex"},
        "callable": {"path": "src/kernelindex/runner/operations/moe_mlp/expert_loops.py"},
    }
    assert install_gap(spec, restated=True) == "no install recipe"
    assert not is_in_script(spec, restated=True)


def test_nothing_known_is_not_deployable() -> None:
    assert not Checklist(items=()).deployable
    assert not UNKNOWN.deployable


OURS: dict[str, Any] = {
    "projectRevision": {"repository": "https://github.com/kernelindex/kernelindex"},
    "callable": {"path": "src/kernelindex/kernels/moe_mlp"},
    "source": {"contentDigest": "sha256:" + "a" * 64},
    "buildVariants": [],
}


def test_this_package_installs_from_its_repository_where_a_digest_pins_its_source() -> None:
    found = checklist(COMPLETE | OURS, architecture="sm_90")
    install = next(item for item in found.items if item.code == "install")
    assert install.met
    assert install.text == "installs by git from its repository; the digest of its source pins it"
    loose = COMPLETE | OURS | {"source": {}}
    assert "no install recipe" in checklist(loose, architecture="sm_90").why_not


def test_a_source_of_ours_that_nobody_looked_at_is_not_concluded() -> None:
    spec = COMPLETE | OURS | {"licensing": {"declared": "Apache-2.0"}}
    text = "licence Apache-2.0 declared, not concluded with its dependencies"
    assert checklist(spec, architecture="sm_90").why_not == (text,)
