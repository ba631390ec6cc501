"""Which other manifests a manifest names, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelindex.manifests.manifest import Manifest

__all__ = ["Reference", "references"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A digest in ``spec`` that names another manifest.

    ``path`` is dotted from the document's root; ``kind`` is what it usually names and
    ``kinds`` every kind it may name.
    """

    path: str
    kind: str
    digest: str
    kinds: tuple[str, ...]


_OPERATION = ("OperationSpec",)
_REFERENCES: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = {
    "WorkloadCase": ((("operationSpecDigest",), _OPERATION),),
    "WorkloadSuite": ((("operationSpecDigest",), _OPERATION),),
    "ImplementationRevision": ((("operation", "specDigest"), _OPERATION),),
    "BenchmarkRun": (
        (("implementationDigest",), ("ImplementationRevision",)),
        (("workloadDigest",), ("WorkloadCase", "WorkloadSuite")),
        (("protocolDigest",), ("BenchmarkProtocol",)),
        (("environmentDigest",), ("ExecutionEnvironment",)),
    ),
    "ServingConfiguration": ((("stackDigest",), ("ServingStackRevision",)),),
    "ServingRun": (
        (("modelDigest",), ("ModelRevision",)),
        (("configurationDigest",), ("ServingConfiguration",)),
        (("workloadDigest",), ("ServingWorkload",)),
    ),
}


def references(manifest: Manifest) -> tuple[Reference, ...]:
    """The manifests that ``manifest`` names, in a fixed order; empty for most kinds."""
    found = []
    for keys, kinds in _REFERENCES.get(manifest.kind, ()):
        digest = manifest.document["spec"]
        for key in keys:
            digest = digest[key]
        path = ".".join(("spec", *keys))
        found.append(Reference(path=path, kind=kinds[0], digest=digest, kinds=kinds))
    return tuple(found)
