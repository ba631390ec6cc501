"""A concluded licence as a page shows it: of what, by whom, and from which files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.policy.licensing import read_licensing
from kernelindex.resolve.answer import Part

if TYPE_CHECKING:
    from collections.abc import Mapping


class ReviewedPackage(Part):
    """One package that is needed at run time."""

    name: str = Field(description="package")
    version: str = Field(description="version that was looked at")
    licence: str = Field(description="its own licence")
    read_from: str = Field(description="file the licence was read from")
    digest: str = Field(description="digest of that file")
    note: str | None = Field(None, description="what else there is to know")


class LicenceReview(Part):
    """What the registry concludes of an implementation's licence."""

    licence: str = Field(description="its own licence")
    expression: str = Field(description="the licence with all that it needs")
    by: str = Field(description="who concluded it")
    date: str = Field(description="on which day")
    read_from: str = Field(description="file its own licence was read from")
    digest: str = Field(description="digest of that file")
    note: str | None = Field(None, description="what else there is to know")
    packages: tuple[ReviewedPackage, ...] = Field((), description="what it needs at run time")
    platform: tuple[str, ...] = Field((), description="what it needs and counts as the platform")


def review_licence(implementation: Mapping[str, Any]) -> LicenceReview | None:
    """The registry's conclusion for a manifest's ``spec``, where that is what counts."""
    found = read_licensing(implementation).review
    if found is None:
        return None
    return LicenceReview(
        licence=found.licence,
        expression=found.expression,
        by=found.by,
        date=found.date,
        read_from=found.evidence.path,
        digest=found.evidence.digest,
        note=found.note,
        packages=tuple(
            ReviewedPackage(
                name=one.name,
                version=one.version,
                licence=one.licence,
                read_from=one.evidence.path,
                digest=one.evidence.digest,
                note=one.note,
            )
            for one in found.dependencies
        ),
        platform=found.platform,
    )
