"""What the runner writes of a candidate: how it installs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernelindex.resolve.recipes import install_line
from kernelindex.runner.operations.description import CandidateSpec, load_operation
from kernelindex.runner.recording.software import Loaded, build_implementation

SOURCE = "sha256:" + "a" * 64
PACKAGES = {"torch": "2.11.0", "triton": "3.6.0", "liger-kernel": "0.8.5"}


def candidate(name: str) -> CandidateSpec:
    return next(one for one in load_operation("moe-mlp").candidates if one.id == name)


def recorded(one: CandidateSpec, source: str | None = SOURCE) -> dict[str, Any]:
    packages = {name: PACKAGES[name] for name in one.packages}
    loaded = Loaded(source_digest=source, packages=packages)
    spec: dict[str, Any] = build_implementation(one, "moe-mlp", loaded, "sm_90").document["spec"]
    return spec


@pytest.mark.parametrize(
    ("name", "requirements"),
    [
        ("kernelindex/moe_mlp", {"torch": "==2.11.0", "triton": "==3.6.0"}),
        ("kernelindex/torch-grouped-mm-own-backward", {"torch": "==2.11.0"}),
    ],
)
def test_ours_install_from_the_repository_with_the_versions_that_ran(
    name: str, requirements: dict[str, str]
) -> None:
    spec = recorded(candidate(name))
    (variant,) = spec["buildVariants"]
    assert variant["install"]["kind"] == "git"
    assert variant["requirements"] == requirements
    line = install_line(spec)
    assert line is not None
    assert line.endswith("git+https://github.com/kernelindex/kernelindex'")


def test_others_install_by_their_own_package() -> None:
    (variant,) = recorded(candidate("liger-kernel/LigerFusedMoEFunction"))["buildVariants"]
    assert variant["install"] == {"kind": "pip", "package": "liger-kernel", "version": "0.8.5"}


def test_neither_a_file_of_ones_own_nor_an_unpinned_source_has_a_recipe() -> None:
    ours = candidate("kernelindex/moe_mlp")
    assert "buildVariants" not in recorded(ours, source=None)
    own = replace(ours, project="own", repository=None, path="kernel.py")
    assert "buildVariants" not in recorded(own)
