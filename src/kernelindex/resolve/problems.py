"""What is wrong with a question, as values: seen, where, wanted, and a correction."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from kernelindex.text import show_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SEEN = 80


class Problem(BaseModel):
    """One reason why a question cannot be answered as asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(description="stable reason code")
    where: str = Field(description="JSON pointer, or the token of a text query")
    seen: str = Field(description="what was given there")
    wanted: str = Field(description="what is accepted there")
    correction: str | None = Field(None, description="what was probably meant")
    text: str = Field(description="the problem as one sentence")

    @classmethod
    def of(
        cls, code: str, where: str, seen: str, wanted: str, correction: str | None = None
    ) -> Problem:
        """A problem with its sentence, in which nothing that was given is hidden."""
        where, seen = show_hidden(where), show_hidden(seen[:MAX_SEEN])
        place = f" at {where}" if where else ""
        hint = f" Did you mean {correction}?" if correction else ""
        text = f"Got {seen}{place}; wanted {wanted}.{hint}"
        return cls(
            code=code, where=where, seen=seen, wanted=wanted, correction=correction, text=text
        )


def closest(word: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The most similar name to ``word``, or none that is close."""
    found = get_close_matches(word.casefold(), list(names), n=1, cutoff=cutoff)
    return found[0] if found else None
