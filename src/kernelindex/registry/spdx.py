"""What an SPDX expression asks of whoever uses the software.

Expressions are canonical, as ``licences.resolve_licence`` returns them. AND binds tighter
than OR, and ``X WITH Y`` is one term (SPDX 3.0, annex on licence expressions).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

OWN_TERMS = "LicenseRef-"
"""What SPDX has no licence for: terms of the owner's own, which each user has to accept."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


@lru_cache(maxsize=1024)
def and_parts(expression: str) -> tuple[str, ...]:
    """The parts that all hold, in order and once each; a choice stays one part, in brackets."""
    if len(_split(expression, "OR")) > 1:
        return (f"({expression})",)
    return tuple(dict.fromkeys(_split(expression, "AND")))


def join_parts(first: str, others: Iterable[str]) -> str:
    """``first`` AND the parts of ``others`` that it does not name, those in alphabetic order."""
    parts = and_parts(first)
    more = {part for other in others for part in and_parts(other)} - set(parts)
    return " AND ".join((*parts, *sorted(more)))


def is_allowed(expression: str, accepted: Collection[str]) -> bool:
    """Whether someone who accepts these licences may use what is under ``expression``."""
    if expression in accepted:
        return True
    choices = _split(expression, "OR")
    if len(choices) > 1:
        return any(is_allowed(choice, accepted) for choice in choices)
    parts = _split(expression, "AND")
    if len(parts) > 1:
        return all(is_allowed(part, accepted) for part in parts)
    return _is_bracketed(expression) and is_allowed(expression[1:-1], accepted)


@lru_cache(maxsize=1024)
def own_terms(expression: str) -> tuple[str, ...]:
    """The owner's own terms (``LicenseRef-``) that no choice in the expression avoids."""
    choices = _split(expression, "OR")
    if len(choices) > 1:
        return min((own_terms(choice) for choice in choices), key=len)
    parts = _split(expression, "AND")
    if len(parts) > 1:
        return tuple(dict.fromkeys(term for part in parts for term in own_terms(part)))
    if _is_bracketed(expression):
        return own_terms(expression[1:-1])
    return (expression,) if expression.startswith(OWN_TERMS) else ()


def _is_bracketed(expression: str) -> bool:
    return expression.startswith("(") and expression.endswith(")")


def _split(expression: str, word: str) -> list[str]:
    """Split at ``word`` outside brackets."""
    depth, parts = 0, [""]
    for token in _TOKEN.findall(expression):
        depth -= token == ")"
        if token == word and depth == 0:
            parts.append("")
        else:
            glue = "" if not parts[-1] or parts[-1][-1] == "(" or token == ")" else " "
            parts[-1] += glue + token
        depth += token == "("
    return parts
