"""Whether an implementation can be used: a checklist of its own, apart from evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.policy.facts import UNSTATED
from kernelindex.policy.licensing import describe_terms, read_licensing
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.recipes import build_variants, find_recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS = {
    "source": "source available",
    "revision": "revision pinned",
    "licence": "licence concluded",
    "install": "install recipe",
    "architecture": "tested on this architecture",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of the checklist; ``text`` says what was found, or why not."""

    code: str
    met: bool
    text: str

    @property
    def label(self) -> str:
        """The requirement in words."""
        return LABELS[self.code]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """All requirements in the order of ``LABELS``."""

    items: tuple[Item, ...]

    @property
    def deployable(self) -> bool:
        """Whether every requirement is met; an empty checklist knows nothing, so no."""
        return bool(self.items) and all(item.met for item in self.items)

    @property
    def why_not(self) -> tuple[str, ...]:
        """The unmet requirements in words."""
        return tuple(item.text for item in self.items if not item.met)


UNKNOWN = Checklist(items=(Item(code="source", met=False, text="no implementation manifest"),))


def checklist(
    implementation: Mapping[str, Any],
    *,
    architecture: str,
    restated: bool = False,
    checked: bool | None = None,
) -> Checklist:
    """Check the ``spec`` of an ImplementationRevision for use on ``architecture``.

    ``restated`` implementations are copies of another project's code: most lie inside a
    benchmark script, which nothing installs; one that a recipe installs is like any other.
    ``checked`` says whether a passed run on this architecture asserted its correctness;
    None where there is no such run.
    """
    return Checklist(
        items=(
            _source(implementation),
            _revision(implementation),
            _licence(implementation),
            _install(implementation, restated=restated),
            _architecture(implementation, architecture, checked=checked),
        )
    )


def _source(spec: Mapping[str, Any]) -> Item:
    revision = spec["projectRevision"]
    if spec.get("source"):
        return Item(code="source", met=True, text="its source is archived by digest")
    if revision.get("repository"):
        return Item(code="source", met=True, text=f"source at {revision['repository']}")
    return Item(code="source", met=False, text="no source is named")


def _revision(spec: Mapping[str, Any]) -> Item:
    revision = spec["projectRevision"]
    for key in ("commit", "treeDigest", "version"):
        if revision.get(key) not in (None, "", UNSTATED):
            return Item(code="revision", met=True, text=f"{key} {str(revision[key])[:20]}")
    if spec.get("source"):
        return Item(code="revision", met=True, text="pinned by the digest of its source")
    return Item(code="revision", met=False, text="no commit, version or digest pins it")


def _licence(spec: Mapping[str, Any]) -> Item:
    """Concluded means that somebody looked; a declaration alone is the author's word.

    Terms of an owner's own are for each user to accept, so nobody can conclude them for all.
    """
    found = read_licensing(spec)
    if found.concluded and found.terms:
        told = "; ".join(describe_terms(*one) for one in found.terms.items())
        return Item(code="licence", met=False, text=f"{told}: only for those who accept them")
    if found.review is not None:
        count = len(found.review.dependencies)
        text = f"{found.stated}, concluded with the {count} packages it needs"
        return Item(code="licence", met=True, text=text)
    if found.concluded:
        return Item(code="licence", met=True, text=f"{found.stated}, concluded")
    return Item(code="licence", met=False, text=_not_concluded(spec["licensing"].get("declared")))


def _not_concluded(declared: str | None) -> str:
    match = resolve_licence(declared)
    if match.state == "known":
        return f"licence {match.expression} declared, not concluded with its dependencies"
    return "no licence is stated" if match.state == "not_stated" else "licence unclear"


def is_in_script(spec: Mapping[str, Any], *, restated: bool) -> bool:
    """Whether an implementation is a copy that lies in no package which can be installed."""
    revision, path = spec.get("projectRevision", {}), spec.get("callable", {}).get("path")
    packaged = build_variants(spec) or find_recipe(revision.get("repository"), path)
    return restated and not packaged


def install_gap(spec: Mapping[str, Any], *, restated: bool) -> str | None:
    """Why nothing installs an implementation, in words; None where a recipe does."""
    if build_variants(spec):
        return None
    if is_in_script(spec, restated=restated):
        return "exists only as a copy inside a benchmark script"
    return "no install recipe"


def _install(spec: Mapping[str, Any], *, restated: bool) -> Item:
    gap = install_gap(spec, restated=restated)
    if gap is not None:
        return Item(code="install", met=False, text=gap)
    variants = build_variants(spec)
    kinds = ", ".join(sorted({variant["install"]["kind"] for variant in variants}))
    if not spec.get("buildVariants"):
        kinds += " from its repository; the digest of its source pins it"
    return Item(code="install", met=True, text=f"installs by {kinds}")


def _architecture(spec: Mapping[str, Any], architecture: str, *, checked: bool | None) -> Item:
    tested = spec["support"].get("hardwareArchitectures") or ()
    if architecture in tested:
        return Item(code="architecture", met=True, text=f"tested on {architecture}")
    if checked:
        text = f"ran on {architecture} with its result checked"
        return Item(code="architecture", met=True, text=text)
    if checked is False:
        text = f"ran on {architecture}, but nobody says that its result was checked"
        return Item(code="architecture", met=False, text=text)
    listed = ", ".join(tested) or "none stated"
    text = f"not stated as tested on {architecture} (tested: {listed})"
    return Item(code="architecture", met=False, text=text)
