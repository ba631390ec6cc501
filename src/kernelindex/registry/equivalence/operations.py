"""Source operations under our names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RegistryError
from kernelindex.registry.equivalence.data import load_files
from kernelindex.registry.operations import load_operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["OperationMapping", "load_mappings", "map_operation", "upstream_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMapping:
    """One source operation in our terms.

    ``axes`` and ``tensors`` map their names to ours; an axis that is not in ``axes`` is no
    part of the shape (``dropped`` says why). ``constants`` are axes, under our names, that
    the source operation fixes. ``computes`` is the pass of ours that its outputs are, where
    its protocol names none: it says how much work a call is, never which pass was timed.
    """

    slug: str
    name: str
    basis: str
    axes: Mapping[str, str]
    tensors: Mapping[str, str]
    constants: Mapping[str, int]
    dropped: Mapping[str, str]
    computes: str | None


def map_operation(operation_digest: str, name: str = "") -> OperationMapping | None:
    """The reviewed mapping of the OperationSpec with this digest, or None.

    ``name`` is not looked at: names are editorial, and two sources may share one.
    """
    return load_mappings().get(operation_digest)


def upstream_name(operation_digest: str) -> str | None:
    """What its source calls a reviewed operation, mapped or not."""
    mapping = load_mappings().get(operation_digest)
    return mapping.name if mapping else _unmapped().get(operation_digest)


@cache
def load_mappings() -> Mapping[str, OperationMapping]:
    """Every mapping by operation digest.

    Raises RegistryError ``registry.inconsistent`` for a slug or an axis that our operations
    do not have, and for a digest that two groups claim.
    """
    found: dict[str, OperationMapping] = {}
    for where, content in load_files().items():
        for group in content.get("groups", ()):
            for digest, mapping in _members(group, where):
                if digest in found:
                    raise RegistryError(f"{where}: {mapping.name} {digest} is mapped twice")
                found[digest] = mapping
    return found


@cache
def _unmapped() -> Mapping[str, str]:
    return {
        digest: name
        for content in load_files().values()
        for digest, name in content.get("unmapped", {}).items()
    }


def _members(group: Mapping[str, Any], where: str) -> Iterator[tuple[str, OperationMapping]]:
    operation = load_operations().get(group["slug"])
    if operation is None:
        raise RegistryError(f"{where}: no operation here has the slug {group['slug']!r}")
    ours = {axis.name for axis in operation.axes}
    axes = group.get("axes") or {name: name for name in sorted(ours)}
    stray = set(axes.values()) - ours
    if stray:
        raise RegistryError(f"{where}: {operation.slug} has no axis {', '.join(sorted(stray))}")
    for member in group["members"]:
        yield (
            member["digest"],
            OperationMapping(
                slug=operation.slug,
                name=member["name"],
                basis=group["basis"],
                axes=axes,
                tensors=group.get("tensors", {}),
                constants=member.get("constants", {}),
                dropped=group.get("dropped", {}),
                computes=group.get("computes"),
            ),
        )
