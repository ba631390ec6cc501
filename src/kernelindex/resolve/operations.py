"""Which operations a name means: exact names first, then what the catalog has, then typos."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.ids import is_digest
from kernelindex.registry.operations import (
    Operation,
    find_operation,
    load_operations,
    named_operation,
    operations_of_family,
)
from kernelindex.resolve.answer import Assumption, Suggestion
from kernelindex.resolve.problems import Problem
from kernelindex.resolve.query import FILLER
from kernelindex.text import HIDDEN

if TYPE_CHECKING:
    from kernelindex.catalog.rows import SearchAnswer
    from kernelindex.resolve.reads import Reads

MAX_HITS = 8
LEAST_LETTERS = 3
"""Fewer begin half of all names."""
WORD = re.compile(r"[^\W_]+")
CLEAR_LEAD = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationReading:
    """The operations a name was read as; none when no operation was named or found.

    ``axis_names`` maps every accepted axis name to ours, where the operation is ours.
    """

    asked: str | None = None
    slugs: tuple[str, ...] = ()
    axis_names: dict[str, str] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_operation(catalog: Reads, asked: str | None) -> OperationReading:
    """Read an operation's name: ours, a stored one, a family, words, then a typo."""
    if asked is None:
        return OperationReading()
    named = named_operation(asked)
    if named is not None:
        return _ours(asked, named)
    exact = _stored(catalog, asked) or _family(asked)
    if exact is not None:
        return exact
    search = catalog.search_text(asked, limit=MAX_HITS)
    if not _is_legible(asked):
        return _unknown(asked, search.suggestions)
    return (
        _words(asked, search)
        or _typo(asked, find_operation(asked).suggestions)
        or _part(asked)
        or _unknown(asked, search.suggestions)
    )


def _is_legible(asked: str) -> bool:
    """Whether a text can be looked up: nothing in it is hidden, and a word says something alone."""
    words = WORD.findall(asked.casefold())
    return not HIDDEN.search(asked) and any(
        len(word) >= LEAST_LETTERS and word not in FILLER for word in words
    )


def _ours(asked: str, operation: Operation, *notes: Assumption) -> OperationReading:
    names: dict[str, str] = {}
    for axis in operation.axes:
        for alias in (axis.name, *axis.aliases):
            names.setdefault(alias, axis.name)
    for alias, name in tuple(names.items()):
        names.setdefault(alias.casefold(), name)
    return OperationReading(
        asked=asked, slugs=(operation.slug,), axis_names=names, assumptions=notes
    )


def _stored(catalog: Reads, asked: str) -> OperationReading | None:
    """An operation that the catalog has under this alias, slug or digest prefix."""
    if " " in asked.strip():
        return None
    if is_digest(asked):
        slug = catalog.operation_of(asked)
        return None if slug is None else OperationReading(asked=asked, slugs=(slug,))
    found = catalog.find(asked, "OperationSpec")
    if not found:
        return None
    slugs = tuple(dict.fromkeys(catalog.operation_of(item.digest) or item.digest for item in found))
    return OperationReading(asked=asked, slugs=slugs)


def _family(asked: str) -> OperationReading | None:
    name = asked.strip().casefold()
    members = tuple(op.slug for op in operations_of_family(name))
    if not members:
        return None
    text = f"{asked} is a family of operations: {', '.join(members)}."
    note = Assumption(code="operation_family", text=text, asked=asked, taken=members)
    return OperationReading(asked=asked, slugs=members, assumptions=(note,))


def _words(asked: str, search: SearchAnswer) -> OperationReading | None:
    """Operations of the catalog whose names have all the words."""
    hits = [hit for hit in search.hits if hit.kind == "operation"]
    if not hits:
        return None
    clear = len(hits) == 1 or hits[0].score >= CLEAR_LEAD * hits[1].score
    taken = hits[:1] if clear else hits
    names = ", ".join(hit.title for hit in taken)
    note = Assumption(
        code="operation_words",
        text=f"“{asked}” is no exact name; it was read as {names}.",
        asked=asked,
        taken=tuple(hit.slug for hit in taken),
    )
    others = tuple(
        Suggestion(text=f"also matches “{asked}”", query=hit.slug) for hit in hits[len(taken) :]
    )
    return OperationReading(asked=asked, slugs=note.taken, assumptions=(note,), suggestions=others)


def _typo(asked: str, suggestions: tuple[str, ...]) -> OperationReading | None:
    """The nearest of our names, answered for and said to be an assumption."""
    if not suggestions:
        return None
    best = load_operations()[suggestions[0]]
    note = Assumption(
        code="operation_typo",
        text=f"There is no operation “{asked}”; it was read as {best.slug}.",
        asked=asked,
        taken=(best.slug,),
    )
    queries = tuple(Suggestion(text=f"did you mean {slug}?", query=slug) for slug in suggestions)
    reading = _ours(asked, best, note)
    return OperationReading(
        asked=asked,
        slugs=reading.slugs,
        axis_names=reading.axis_names,
        assumptions=reading.assumptions,
        suggestions=queries,
    )


def _part(asked: str) -> OperationReading | None:
    """The longest run of words that is a name of ours; the other words are set aside."""
    words = asked.split()
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            name = " ".join(words[start : start + length])
            operation = named_operation(name)
            if operation is not None:
                unused = " ".join(words[:start] + words[start + length :])
                text = f"“{unused}” was not understood and narrows nothing."
                note = Assumption(
                    code="words_unused", text=text, asked=asked, taken=(operation.slug,)
                )
                return _ours(asked, operation, note)
    return None


def _unknown(asked: str, spellings: tuple[str, ...]) -> OperationReading:
    wanted = "the name, alias or digest of an operation, such as moe-mlp or rms-norm"
    near = spellings[0] if spellings else None
    problem = Problem.of("request.operation_unknown", "/operation", asked, wanted, near)
    queries = tuple(Suggestion(text=f"did you mean {word}?", query=word) for word in spellings)
    return OperationReading(asked=asked, problems=(problem,), suggestions=queries)
