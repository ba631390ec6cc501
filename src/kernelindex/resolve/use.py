"""What using an entry means: licence, traits, first call, error; read from its manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.policy.licensing import read_licensing
from kernelindex.resolve.answer import Part
from kernelindex.resolve.numbers import significant
from kernelindex.resolve.recipes import rerun_line, usage_of
from kernelindex.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.resolve.answer import Entry
    from kernelindex.resolve.reads import Reads

    Spec = Mapping[str, Any]


class Use(Part):
    """What it takes to use one entry; what nobody stated is None."""

    run: str = Field(description="digest of the entry's run")
    licence: str | None = Field(None, description="licence, and whether it was reviewed")
    install: str | None = Field(None, description="line that installs it")
    imports: str | None = Field(None, description="line that imports it")
    gap: str = Field("", description="why nothing installs it, where nothing does")
    rerun: str | None = Field(None, description="line that repeats its run, where possible here")
    deterministic: bool | None = Field(None, description="whether equal inputs gave equal bits")
    graph_capturable: bool | None = Field(None, description="whether a graph can capture it")
    first_call: str | None = Field(None, description="time of the first call, compilation included")
    error_ratio: str | None = Field(None, description="largest error over its tolerance")

    @property
    def states_traits(self) -> bool:
        """Whether anything was recorded of how it behaves."""
        traits = (self.deterministic, self.graph_capturable, self.first_call, self.error_ratio)
        return any(trait is not None for trait in traits)


def read_use(catalog: Reads, entries: Sequence[Entry]) -> tuple[Use, ...]:
    """The use of some entries, in their order; one read of the catalog."""
    digests = [one.run.digest for one in entries]
    digests += [one.implementation.digest for one in entries]
    found = catalog.documents(digests)
    return tuple(
        _use(
            entry.run.digest,
            found.get(entry.run.digest, {}).get("spec", {}),
            found.get(entry.implementation.digest, {}).get("spec", {}),
            restated=entry.implementation.restated,
        )
        for entry in entries
    )


def _use(digest: str, run: Spec, implementation: Spec, *, restated: bool) -> Use:
    traits = run.get("traits", {})
    first = traits.get("firstCall")
    usage = usage_of(implementation, restated=restated)
    return Use(
        run=digest,
        licence=_licence(implementation),
        install=usage.install,
        imports=usage.imports,
        gap=usage.gap,
        rerun=rerun_line(digest),
        deterministic=traits.get("deterministic"),
        graph_capturable=traits.get("graphCapturable"),
        first_call=format_duration_ns(first, 3) if first is not None else None,
        error_ratio=_error_ratio(run.get("correctness", {})),
    )


def _licence(implementation: Spec) -> str | None:
    """Its own licence, how far that was looked at, and whose own terms it needs."""
    if not implementation:
        return None
    found = read_licensing(implementation)
    if not found.concluded:
        return f"{found.stated}, declared" if found.stated else None
    reviewed = ", reviewed with all that it needs" if found.review else ""
    terms = ", ".join(term for term in found.terms if term != found.stated)
    return f"{found.stated}{reviewed}{f'; needs {terms}' if terms else ''}"


def _error_ratio(correctness: Spec) -> str | None:
    """The worst of the outputs' errors over their tolerances."""
    ratios = [out.get("errorRatio") for out in correctness.get("outputs", {}).values()]
    stated = [float(ratio) for ratio in ratios if ratio is not None]
    return significant(max(stated), 2) if stated else None
