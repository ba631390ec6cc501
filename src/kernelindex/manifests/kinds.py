"""The 13 kinds, their versions, and the model of each; models are imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from kernelindex.errors import ManifestError

if TYPE_CHECKING:
    from kernelindex.manifests.fields import Model
    from kernelindex.manifests.metadata import Metadata

__all__ = [
    "API_VERSIONS",
    "KINDS",
    "V1ALPHA1",
    "V1ALPHA2",
    "Kind",
    "json_schema",
    "metadata_model",
    "spec_model",
]

V1ALPHA1 = "kernelindex.dev/v1alpha1"
V1ALPHA2 = "kernelindex.dev/v1alpha2"
API_VERSIONS = (V1ALPHA1, V1ALPHA2)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of manifest.

    ``module`` holds its model under the kind's own name; ``module_v2`` holds the model of
    v1alpha2, named with ``V2``, where that version says more.
    """

    name: str
    title: str
    module: str
    module_v2: str | None = None


_ALL = (
    Kind("OperationSpec", "What is computed", "operation"),
    Kind("WorkloadCase", "One exact benchmarkable case", "workload", "workload"),
    Kind("WorkloadSuite", "A list of cases with a published aggregate", "workload"),
    Kind("SoftwareProject", "An upstream library, author or vendor", "project"),
    Kind(
        "ImplementationRevision",
        "One callable of one project revision",
        "implementation",
        "implementation",
    ),
    Kind("BenchmarkProtocol", "Every rule that can change a timing", "protocol", "protocol"),
    Kind("ExecutionEnvironment", "Hardware, software, settings", "environment", "environment"),
    Kind("BenchmarkRun", "One measurement event", "run", "run_v2"),
    Kind("ModelRevision", "A served model", "serving"),
    Kind("ServingStackRevision", "One revision of serving software", "serving"),
    Kind("ServingConfiguration", "How a stack is set up", "serving"),
    Kind("ServingWorkload", "What is asked of a served model", "serving"),
    Kind("ServingRun", "One end-to-end measurement", "serving"),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


@cache
def spec_model(kind: str, api_version: str) -> type[Model]:
    """The model of ``spec``; both must be known (``KINDS``, ``API_VERSIONS``)."""
    known = KINDS[kind]
    if api_version == V1ALPHA2 and known.module_v2 is not None:
        return _model(known.module_v2, f"{kind}V2")
    return _model(known.module, kind)


@cache
def metadata_model() -> type[Metadata]:
    """The model of ``metadata``, the same for every kind."""
    return cast("type[Metadata]", _model("metadata", "Metadata"))


def json_schema(kind: str, api_version: str = V1ALPHA1) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a whole manifest of ``kind``; treat it as read-only.

    Raises ``ManifestError`` with code ``manifest.unknown_kind`` or
    ``manifest.unknown_version``.
    """
    if kind not in KINDS:
        raise ManifestError(
            f"no kind {kind!r}; the kinds are {', '.join(KINDS)}", code="manifest.unknown_kind"
        )
    if api_version not in API_VERSIONS:
        raise ManifestError(
            f"no version {api_version!r}; the versions are {', '.join(API_VERSIONS)}",
            code="manifest.unknown_version",
        )
    from kernelindex.manifests.schema import build_schema

    return build_schema(kind, api_version)


def _model(module: str, name: str) -> type[Model]:
    found = getattr(import_module(f"kernelindex.manifests.{module}"), name)
    return cast("type[Model]", found)
