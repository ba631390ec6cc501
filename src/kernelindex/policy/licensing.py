"""Under which licence an implementation is used, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.registry.conclusions import Conclusion, find_conclusion
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.spdx import own_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Licensing:
    """What is known of an implementation's licence.

    ``stated``      its own licence: an SPDX expression where it has one, else as it was written
    ``expression``  its own as SPDX; None where it is none
    ``concluded``   whether somebody looked, dependencies included
    ``terms``       owner's own terms (``LicenseRef-``) -> packages under them; ``""`` is itself
    ``review``      the registry's conclusion, where that is what counts
    """

    stated: str | None
    expression: str | None
    concluded: bool
    terms: Mapping[str, tuple[str, ...]]
    review: Conclusion | None = None


def read_licensing(implementation: Mapping[str, Any]) -> Licensing:
    """The licence of an ImplementationRevision's ``spec``.

    What its manifest concludes counts before the registry, and a declaration, which is only
    the author's word, where neither concludes anything.
    """
    licensing = implementation["licensing"]
    concluded = resolve_licence(licensing.get("concluded"))
    if concluded.state != "not_stated":
        needs = ((one["name"], one.get("concluded")) for one in licensing.get("dependencies", ()))
        return _licensing(concluded.text, needs, concluded=concluded.state == "known")
    review = find_conclusion(implementation)
    if review is not None:
        needs = ((one.name, one.licence) for one in review.dependencies)
        return _licensing(review.licence, needs, concluded=True, review=review)
    return _licensing(licensing.get("declared"), (), concluded=False)


def _licensing(
    text: str | None,
    needs: Iterable[tuple[str, str | None]],
    *,
    concluded: bool,
    review: Conclusion | None = None,
) -> Licensing:
    own = resolve_licence(text)
    terms: dict[str, tuple[str, ...]] = {}
    for name, licence in (("", text), *needs):
        for term in own_terms(resolve_licence(licence).expression or ""):
            terms[term] = (*terms.get(term, ()), name)
    return Licensing(
        stated=own.expression or own.text or None if own.state != "not_stated" else None,
        expression=own.expression,
        concluded=concluded,
        terms=terms,
        review=review,
    )


def describe_terms(term: str, packages: tuple[str, ...]) -> str:
    """Whose own terms one accepts by using it."""
    named = [name for name in packages if name]
    if not named:
        return f"it is under its owner's own terms ({term})"
    verb = "is" if len(named) == 1 else "are"
    return f"it needs {' and '.join(named)}, which {verb} under the owner's own terms ({term})"
