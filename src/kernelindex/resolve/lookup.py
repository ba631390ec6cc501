"""From an identifier on a command line or in a path to one stored object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.errors import AmbiguousError, NotFoundError

if TYPE_CHECKING:
    from kernelindex.catalog.rows import Found
    from kernelindex.resolve.reads import Reads

KINDS = {
    "run": ("BenchmarkRun", "ServingRun"),
    "operation": ("OperationSpec",),
    "implementation": ("ImplementationRevision",),
    "workload": ("WorkloadCase", "WorkloadSuite", "ServingWorkload"),
    "protocol": ("BenchmarkProtocol",),
    "environment": ("ExecutionEnvironment",),
    "project": ("SoftwareProject",),
}
MAX_MATCHES = 20


def locate(catalog: Reads, word: str, ident: str) -> Found:
    """The one object of a kind that an alias, slug or digest prefix names.

    Raises NotFoundError ``<word>.not_found`` and AmbiguousError ``<word>.ambiguous``, the
    latter with every match.
    """
    found = _find(catalog, KINDS[word], ident)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(
            f"no {word} is called {ident!r} here; give an alias, a slug, or 8 or more digits"
            " of a digest",
            code=f"{word}.not_found",
        )
    matches = [
        {"kind": item.kind, "digest": item.digest, "title": item.title, "via": item.via}
        for item in found[:MAX_MATCHES]
    ]
    raise AmbiguousError(
        f"{ident!r} names {len(found)} objects; give more digits of the digest",
        code=f"{word}.ambiguous",
        matches=matches,
    )


def _find(catalog: Reads, kinds: tuple[str, ...], ident: str) -> list[Found]:
    """Everything of these kinds that is so called; a whole digest names one thing at most."""
    found = list(catalog.find(ident, *kinds))
    asked = ident.removeprefix("sha256:")
    whole = [one for one in found if one.digest.removeprefix("sha256:") == asked]
    return whole or found
