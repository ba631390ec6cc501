"""One validated manifest, and how it is made from bytes or from a parsed object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from kernelindex.manifests import canonical
from kernelindex.manifests.kinds import API_VERSIONS, KINDS, metadata_model, spec_model
from kernelindex.manifests.problems import NOTHING, Problem, read_problems, refusal, show

if TYPE_CHECKING:
    from kernelindex.manifests.fields import Model
    from kernelindex.manifests.metadata import Metadata

__all__ = ["Manifest", "load", "parse"]

_FIELDS = ("apiVersion", "kind", "metadata", "spec")


class Manifest:
    """A manifest that its kind accepted; two are equal when digest and metadata are.

    ``document`` is the normalised plain object in JSON's own names, to be read only.
    ``spec`` and ``metadata`` are the same as models (snake_case attributes, absent is
    None), built on first use, so that a stored manifest costs no validation. Made by
    ``load`` and ``parse``, or from a document that one of them gave before.
    """

    __slots__ = ("_metadata", "_spec", "api_version", "digest", "document", "kind")

    api_version: str
    kind: str
    digest: str
    document: dict[str, Any]
    _metadata: Metadata | None
    _spec: Any

    def __init__(
        self,
        *,
        api_version: str,
        kind: str,
        digest: str,
        document: dict[str, Any],
        metadata: Metadata | None = None,
        spec: Any = None,
    ) -> None:
        fill = object.__setattr__
        fill(self, "api_version", api_version)
        fill(self, "kind", kind)
        fill(self, "digest", digest)
        fill(self, "document", document)
        fill(self, "_metadata", metadata)
        fill(self, "_spec", spec)

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.document["metadata"]["name"])

    @property
    def metadata(self) -> Metadata:
        """The editorial part."""
        if self._metadata is None:
            built = metadata_model().model_validate(self.document["metadata"])
            object.__setattr__(self, "_metadata", built)
        return cast("Metadata", self._metadata)

    @property
    def spec(self) -> Any:
        """What is claimed, as the model of the kind and version."""
        if self._spec is None:
            model = spec_model(self.kind, self.api_version)
            object.__setattr__(self, "_spec", model.model_validate(self.document["spec"]))
        return self._spec

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a manifest does not change: {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Manifest):
            return NotImplemented
        same = self.digest == other.digest
        return same and self.document["metadata"] == other.document["metadata"]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.api_version, self.kind, self.digest, self.document)

    def __repr__(self) -> str:
        return f"<Manifest {self.kind} {self.name} {self.digest}>"


def _restored(api_version: str, kind: str, digest: str, document: dict[str, Any]) -> Manifest:
    return Manifest(api_version=api_version, kind=kind, digest=digest, document=document)


def load(data: bytes | str, *, form: Literal["json", "yaml"] = "json") -> Manifest:
    """Read and validate one manifest of at most 1 MiB.

    Raises ``CanonicalError`` for text that is not strict JSON or YAML, and
    ``ManifestError`` (``manifest.invalid``) with every broken rule for the rest.
    """
    if form == "yaml":
        from kernelindex.manifests._strict_yaml import loads as loads_yaml

        return parse(loads_yaml(data))
    return parse(canonical.loads(data))


def parse(document: object) -> Manifest:
    """Validate an object that was parsed strictly, normalise it and compute its digest.

    Raises ``ManifestError`` with ``details["problems"]`` as ``{path, rule, seen, wanted}``.
    """
    if not isinstance(document, Mapping):
        raise refusal([Problem("$", "type", show(document), "an object: a manifest")])
    if problems := _envelope_problems(document):
        raise refusal(problems)
    api_version, kind = document["apiVersion"], document["kind"]
    metadata, spec = _validated(document, spec_model(kind, api_version))
    body = {"apiVersion": api_version, "kind": kind, "spec": _plain(spec)}
    return Manifest(
        api_version=api_version,
        kind=kind,
        digest=canonical.digest_of_plain(body),
        document={**body, "metadata": _plain(metadata)},
    )


def _envelope_problems(document: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for name in document:
        if name not in _FIELDS:
            wanted = "no such field; a manifest has apiVersion, kind, metadata and spec"
            problems.append(Problem(str(name), "unknown_field", show(document[name]), wanted))
    for name in _FIELDS:
        if name not in document:
            problems.append(Problem(name, "required", NOTHING, "a value; the field is required"))
    for name, known in (("apiVersion", API_VERSIONS), ("kind", tuple(KINDS))):
        if name in document and document[name] not in known:
            wanted = f"one of {', '.join(known)}"
            problems.append(Problem(name, "choice", show(document[name]), wanted))
    return problems


def _validated(document: Mapping[str, Any], model: type[Model]) -> tuple[Metadata, Model]:
    """Both parts as models; integral doubles count as the integers they are."""
    from pydantic import ValidationError

    try:
        return (
            metadata_model().model_validate(document["metadata"]),
            model.model_validate(document["spec"]),
        )
    except ValidationError:
        pass
    problems: list[Problem] = []
    parts: list[Any] = []
    for name, part_model in (("metadata", metadata_model()), ("spec", model)):
        part = _with_integers(document[name])
        try:
            parts.append(part_model.model_validate(part))
        except ValidationError as error:
            problems.extend(read_problems(error, name, part))
    if problems:
        raise refusal(problems, f"{document['kind']} {_name(document)}".rstrip())
    return parts[0], parts[1]


def _plain(model: Model) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _name(document: Mapping[str, Any]) -> str:
    metadata = document["metadata"]
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) and len(name) <= 200 else ""


def _with_integers(value: Any) -> Any:
    """``value`` with 2.0 as 2: JSON has one kind of number, and both have the same bytes."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return value
