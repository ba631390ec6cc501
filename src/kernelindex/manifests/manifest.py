"""One validated manifest, and how it is made from bytes or from a parsed object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kernelindex.errors import ManifestError
from kernelindex.manifests import canonical


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that its kind accepted; equal when digest and metadata are."""

    api_version: str
    kind: str
    digest: str
    metadata: Any
    spec: Any = field(compare=False, repr=False)
    document: dict[str, Any] = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.document["metadata"]["name"])


def load(data: bytes | str, *, form: Literal["json", "yaml"] = "json") -> Manifest:
    """Read and validate one manifest."""
    document = canonical.loads(data)
    if not isinstance(document, dict):
        raise ManifestError("not an object")
    return parse(document)


def parse(document: Mapping[str, Any]) -> Manifest:
    """Validate a parsed object."""
    plain = dict(document)
    body = {"apiVersion": plain["apiVersion"], "kind": plain["kind"], "spec": plain["spec"]}
    return Manifest(
        plain["apiVersion"], plain["kind"], canonical.digest_of(body), plain["metadata"], plain["spec"], plain
    )
