"""Install recipes of the registry, where a manifest has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernelindex.errors import RegistryError
from kernelindex.registry import recipes
from kernelindex.registry.recipes import build_variants

OURS: dict[str, Any] = {
    "projectRevision": {"repository": "https://github.com/kernelindex/kernelindex"},
    "callable": {"path": "src/kernelindex/kernels/moe_mlp"},
    "source": {"contentDigest": "sha256:" + "a" * 64},
}


def test_this_package_installs_from_its_repository() -> None:
    (variant,) = build_variants(OURS)
    assert variant["install"]["kind"] == "git"
    assert variant["install"]["command"].startswith("pip install 'kernelindex[gpu] @ git+https://")


@pytest.mark.parametrize(
    "change",
    [
        {"source": {}},
        {"projectRevision": {"repository": "https://github.com/someone/kernelindex"}},
        {"projectRevision": {}},
        {"callable": {"path": "bench_moe.py"}},
        {"callable": {}},
    ],
)
def test_nothing_else_does(change: dict[str, Any]) -> None:
    assert build_variants(OURS | change) == ()


def test_a_manifests_own_recipe_wins() -> None:
    own = [{"name": "pip", "install": {"kind": "pip", "package": "kernelindex"}}]
    assert build_variants(OURS | {"buildVariants": own}) == own


def test_an_entry_of_another_form_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "load_data", lambda _: json.loads('{"recipes": [{"a": 1}]}'))
    with pytest.raises(RegistryError, match="entry 1: seen a, wanted folder, install") as caught:
        recipes._load.__wrapped__()
    assert caught.value.code == "registry.recipe"
