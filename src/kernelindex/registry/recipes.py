"""How to install what lies in a repository that we know, where a manifest does not say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RegistryError
from kernelindex.registry.resources import load_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "recipes.json"
KEYS = {"project", "repository", "folder", "install", "source"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Installs every file under ``folder`` of a repository; ``install`` is as in a manifest."""

    project: str
    repository: str
    folder: str
    install: Mapping[str, str]
    source: str


def build_variants(implementation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The ways to install the ``spec`` of an ImplementationRevision: its own, else the registry's.

    The registry's installs a repository's newest state, so it is only for an implementation
    whose source is pinned by digest: the digest tells whether one got what was measured.
    """
    stated: Sequence[Mapping[str, Any]] = implementation.get("buildVariants") or ()
    if stated or not implementation.get("source", {}).get("contentDigest"):
        return stated
    repository = implementation["projectRevision"].get("repository")
    recipe = find_recipe(repository, implementation.get("callable", {}).get("path"))
    return ({"name": recipe.project, "install": recipe.install},) if recipe else ()


def find_recipe(repository: str | None, path: str | None) -> Recipe | None:
    """The recipe that installs the file at ``path`` of a repository, if there is one."""
    recipe = _load().get(repository or "")
    return recipe if recipe and (path or "").startswith(recipe.folder) else None


@cache
def _load() -> dict[str, Recipe]:
    entries = load_data(FILE)["recipes"]
    for place, entry in enumerate(entries, start=1):
        if set(entry) != KEYS:
            raise RegistryError(
                f"registry data {FILE}, entry {place}: seen {', '.join(sorted(entry))},"
                f" wanted {', '.join(sorted(KEYS))}",
                code="registry.recipe",
                file=FILE,
            )
    return {entry["repository"]: Recipe(**entry) for entry in entries}
