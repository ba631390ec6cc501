"""What a candidate is as manifests: its project, and the revision of it that ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.ids import slugify
from kernelindex.manifests import Manifest, parse
from kernelindex.registry.operation_specs import build_operation
from kernelindex.registry.recipes import find_recipe
from kernelindex.runner.operations.description import CandidateSpec, Operation
from kernelindex.runner.recording.workload import V1, V2

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.plan import Candidate

INTERFACES = {"torch": "pytorch", "numpy": "numpy"}
UNSTATED_VERSION = "unstated"
PROJECT_TITLES = {
    "kernelindex": "KernelIndex",
    "liger-kernel": "Liger-Kernel",
    "liger-benchmark": "Liger-Kernel's benchmark scripts and test references",
    "numpy": "NumPy",
    "pytorch": "PyTorch",
    "sonic-moe": "SonicMoE",
    "transformers": "Transformers",
}
PLAIN_PYTHON = frozenset(
    {"kernelindex", "own", "numpy", "pytorch", "transformers", "liger-benchmark"}
)

OWN_ENTRIES = frozenset({"kernelindex", "own"})
"""Projects whose entry points are the very functions that are called here."""
WRITTEN_HERE = frozenset({"kernelindex", "own", "liger-benchmark"})
"""Projects whose candidates are files of this source tree, or of somebody's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What the probe found of a candidate: SHA-256 of its file, versions of its packages."""

    source_digest: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)


def describe_candidate(operation: Operation, candidate: Candidate) -> CandidateSpec:
    """The operation's description of a plan's candidate; of a file of one's own, what is known."""
    known = next((one for one in operation.candidates if one.id == candidate.id), None)
    if known is not None:
        return known
    return CandidateSpec(
        id=candidate.id,
        title=candidate.id,
        project=candidate.id.split("/")[0],
        entry=candidate.entry if candidate.file is None else f"{candidate.file}:{candidate.entry}",
        interface=candidate.interface,
        passes=candidate.passes,
        packages=candidate.packages,
        licence_state="unknown",
        path=candidate.file.rsplit("/", 1)[-1] if candidate.file else None,
        prepare=candidate.prepare,
    )


def build_project(candidate: CandidateSpec) -> Manifest:
    """The SoftwareProject of a candidate, by its slug."""
    slug = slugify(candidate.project, "project", "0" * 8)
    spec: dict[str, Any] = {"name": PROJECT_TITLES.get(slug, candidate.project)}
    if candidate.repository:
        spec["repository"] = candidate.repository
    metadata = {"name": slug, "title": spec["name"]}
    return parse({"apiVersion": V1, "kind": "SoftwareProject", "metadata": metadata, "spec": spec})


def build_implementation(
    candidate: CandidateSpec, operation: str, loaded: Loaded, architecture: str
) -> Manifest:
    """The ImplementationRevision of a candidate as it was loaded on one architecture."""
    spec: dict[str, Any] = {
        "projectRevision": _revision(candidate, loaded),
        "operation": {"specDigest": build_operation(operation).digest},
        "callable": _callable(candidate),
        "support": {
            "hardwareArchitectures": [architecture],
            "dtypes": list(candidate.dtypes),
            "passes": list(candidate.passes),
        },
        "licensing": _licensing(candidate),
    }
    if loaded.source_digest:
        spec["source"] = {"contentDigest": loaded.source_digest}
    variants = _variants(candidate, loaded)
    if variants:
        spec["buildVariants"] = variants
    metadata = {
        "name": implementation_name(candidate, operation),
        "title": candidate.title[:200],
    }
    kind = "ImplementationRevision"
    return parse({"apiVersion": V2, "kind": kind, "metadata": metadata, "spec": spec})


def implementation_name(candidate: CandidateSpec, operation: str) -> str:
    """The name of a candidate's manifest: of its line and operation, as every source writes it."""
    return slugify(f"{candidate.line_id} {operation}", "implementation", "0" * 8)


def version_of(candidate: CandidateSpec, loaded: Loaded) -> str:
    """The version of its own package, the first it names; ours go by their source's digest."""
    own = None if candidate.project in WRITTEN_HERE else next(iter(candidate.packages), None)
    version = loaded.packages.get(own) if own else None
    if version is None and loaded.source_digest:
        return f"source {loaded.source_digest.removeprefix('sha256:')[:12]}"
    return version or UNSTATED_VERSION


def _revision(candidate: CandidateSpec, loaded: Loaded) -> dict[str, Any]:
    revision = {"version": version_of(candidate, loaded)}
    return revision | ({"repository": candidate.repository} if candidate.repository else {})


def _callable(candidate: CandidateSpec) -> dict[str, Any]:
    module, _, symbol = candidate.entry.rpartition(":")
    entry_point = candidate.line_id.rpartition("/")[2]
    called = {
        "language": "python" if candidate.project in PLAIN_PYTHON else "unknown",
        "symbol": symbol if candidate.project in OWN_ENTRIES else entry_point,
        "interface": INTERFACES[candidate.interface],
    }
    path = candidate.path or f"src/{module.replace('.', '/')}.py"
    called["path"] = path
    if candidate.prepare:
        called["setup"] = candidate.prepare.rpartition(":")[2]
    return called


def _licensing(candidate: CandidateSpec) -> dict[str, Any]:
    if not candidate.licence or candidate.licence_state == "unknown":
        return {}
    found = {"declared": candidate.licence}
    return found | (
        {"concluded": candidate.licence} if candidate.licence_state == "concluded" else {}
    )


def _variants(candidate: CandidateSpec, loaded: Loaded) -> list[dict[str, Any]]:
    if candidate.project in WRITTEN_HERE:
        return _from_repository(candidate, loaded)
    return [
        {"name": "pip", "install": {"kind": "pip", "package": name, "version": version}}
        for name, version in ((n, loaded.packages.get(n)) for n in candidate.packages[:1])
        if version
    ]


def _from_repository(candidate: CandidateSpec, loaded: Loaded) -> list[dict[str, Any]]:
    """How this very package installs, with the versions that ran; not for a file of one's own."""
    recipe = find_recipe(candidate.repository, candidate.path)
    if recipe is None or not loaded.source_digest:
        return []
    variant: dict[str, Any] = {"name": recipe.install["kind"], "install": dict(recipe.install)}
    needs = {name.replace("-", "_"): f"=={one}" for name, one in loaded.packages.items()}
    return [variant | ({"requirements": needs} if needs else {})]
