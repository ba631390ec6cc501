"""What is said of a source or framework of a question that is called nothing here.

Neither is an error: a manifest of one's own may name any source, and an implementation any
language. What is asked for in vain is often misspelt, so what is near is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.registry.sources_info import load_sources
from kernelindex.resolve.answer import Assumption
from kernelindex.resolve.exclusions import FRAMEWORKS
from kernelindex.resolve.problems import closest

if TYPE_CHECKING:
    from kernelindex.resolve.reads import Reads

PROJECT = "project"
LANGUAGES = ("python", "triton", "cuda", "hip", "cpp", "cutlass", "rust")
"""What implementations are usually written in; a manifest may say another."""
MOST_HITS = 100


def source_notes(catalog: Reads, source: str | None) -> tuple[Assumption, ...]:
    """A name that neither a source of ours nor any run here has."""
    known = sorted(load_sources())
    if source is None or source in known or catalog.runs({"source": source}, limit=1).rows:
        return ()
    near = closest(source.casefold(), known)
    meant = f" Was {near} meant?" if near else f" Known are {', '.join(known)}."
    text = f"No known source is called {source!r}; only results of just that name fit.{meant}"
    return (Assumption(code="source_unknown", text=text, taken=(source,)),)


def framework_notes(catalog: Reads, framework: str | None) -> tuple[Assumption, ...]:
    """A name that no project here has; a language may have it."""
    wanted = FRAMEWORKS.get((framework or "").casefold(), (framework or "").casefold())
    if framework is None or wanted in LANGUAGES:
        return ()
    found = catalog.search_text(wanted, MOST_HITS)
    projects = [hit.slug for hit in found.hits if hit.kind == PROJECT]
    if wanted in projects or catalog.find(wanted, "SoftwareProject"):
        return ()
    usual = set(FRAMEWORKS.values())
    names = {*projects, *found.suggestions, *usual, *LANGUAGES}
    near = None if wanted in usual else closest(wanted, sorted(names))
    meant = f" Was {near} meant?" if near else ""
    text = (
        f"No project is called {framework!r} here; only implementations in a language of that"
        f" name fit.{meant}"
    )
    return (Assumption(code="framework_unknown", text=text, taken=(framework,)),)
