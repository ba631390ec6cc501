"""Which licence counts: the manifest's conclusion, the registry's, a declaration."""

from __future__ import annotations

from typing import Any

import pytest

from kernelindex.policy.deployability import checklist
from kernelindex.policy.licensing import describe_terms, read_licensing
from kernelindex.registry.conclusions import load_conclusions
from tests.policy.test_deployability import COMPLETE

CUTLASS = ("nvidia-cutlass-dsl", "nvidia-cutlass-dsl-libs-base")
NVIDIA = "LicenseRef-NVIDIA-Software-License"
REPOSITORIES = {
    "liger-kernel": ("https://github.com/linkedin/Liger-Kernel", "0.8.5"),
    "sonic-moe": ("https://github.com/Dao-AILab/sonic-moe", "0.1.2.post1"),
    "transformers": ("https://github.com/huggingface/transformers", "5.17.0"),
    "pytorch": ("https://github.com/pytorch/pytorch", "2.11.0"),
}


def release(project: str, version: str | None = None, **licensing: Any) -> dict[str, Any]:
    repository, known = REPOSITORIES[project]
    revision = {"repository": repository, "version": version or known}
    return COMPLETE | {"projectRevision": revision, "licensing": licensing}


def licence_item(spec: dict[str, Any]) -> tuple[bool, str]:
    found = {item.code: item for item in checklist(spec, architecture="sm_90").items}["licence"]
    return found.met, found.text


@pytest.mark.parametrize(
    ("project", "text"),
    [
        (
            "liger-kernel",
            "BSD-2-Clause AND Apache-2.0 AND MIT, concluded with the 13 packages it needs",
        ),
        ("transformers", "Apache-2.0, concluded with the 40 packages it needs"),
    ],
)
def test_the_registry_concludes_where_the_manifest_only_declares(project: str, text: str) -> None:
    assert licence_item(release(project, declared="Apache-2.0")) == (True, text)


@pytest.mark.parametrize("version", ["0.8.6", "0.8.5.dev0", "main"])
def test_a_revision_nobody_looked_at_stays_declared(version: str) -> None:
    spec = release("liger-kernel", version, declared="BSD-2-Clause")
    text = "licence BSD-2-Clause declared, not concluded with its dependencies"
    assert licence_item(spec) == (False, text)


def test_an_owners_own_terms_are_not_for_all() -> None:
    met, text = licence_item(release("sonic-moe", declared="Apache-2.0"))
    assert not met
    assert text == (
        "it needs nvidia-cutlass-dsl and nvidia-cutlass-dsl-libs-base, which are under the owner's"
        f" own terms ({NVIDIA}): only for those who accept them"
    )


def test_the_manifests_own_conclusion_wins() -> None:
    found = read_licensing(release("sonic-moe", concluded="MIT"))
    assert (found.stated, found.concluded, found.review, found.terms) == ("MIT", True, None, {})
    assert licence_item(release("sonic-moe", concluded="MIT")) == (True, "MIT, concluded")
    met, text = licence_item(release("liger-kernel", concluded="ask us", declared="BSD-2-Clause"))
    assert not met
    assert text == "licence BSD-2-Clause declared, not concluded with its dependencies"


def test_own_terms_in_a_manifest_count_as_well() -> None:
    needs = [{"name": "blob", "concluded": "LicenseRef-Blob"}, {"name": "fine"}]
    found = read_licensing(release("liger-kernel", concluded="MIT", dependencies=needs))
    assert found.terms == {"LicenseRef-Blob": ("blob",)}
    met, text = licence_item(release("liger-kernel", concluded="MIT AND LicenseRef-Own"))
    assert not met
    assert text.startswith("it is under its owner's own terms (LicenseRef-Own)")


def test_a_declaration_is_no_conclusion() -> None:
    found = read_licensing(COMPLETE | {"licensing": {"declared": "MIT"}})
    assert (found.stated, found.concluded) == ("MIT", False)
    assert read_licensing(COMPLETE | {"licensing": {}}).stated is None
    assert read_licensing(COMPLETE | {"licensing": {"declared": "see file"}}).stated == "see file"


def test_cuda_libraries_do_not_make_torch_undeployable() -> None:
    torch = next(one for one in load_conclusions() if one.project == "pytorch")
    assert "nvidia-cudnn-cu13" in torch.platform
    assert licence_item(release("pytorch"))[0]


def test_terms_name_the_packages_under_them() -> None:
    assert describe_terms(NVIDIA, ("", CUTLASS[0])).startswith("it needs nvidia-cutlass-dsl, which")
    assert (
        describe_terms("LicenseRef-A", ("",)) == "it is under its owner's own terms (LicenseRef-A)"
    )
