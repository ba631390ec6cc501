"""Query parameters, read within bounds; what is out of bounds is refused in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.errors import RequestError
from kernelindex.text import show_hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

MOST_TEXT = 1000
MOST_NAME = 80
PAGE_ROWS = 50


def text(request: Request, name: str, *, most: int = MOST_TEXT) -> str:
    """A parameter without blanks at its ends; empty where it is absent.

    Raises RequestError ``request.parameter`` where it is longer than ``most`` characters.
    """
    value = request.query_params.get(name, "").strip()
    if len(value) > most:
        raise _refused(name, f"{len(value)} characters", f"at most {most} characters")
    if "\0" in value:
        raise _refused(name, "a NUL character", "text without it")
    return value


def optional(request: Request, name: str, *, most: int = MOST_TEXT) -> str | None:
    """A parameter, or None where it is absent or empty."""
    return text(request, name, most=most) or None


def several(request: Request, name: str, *, most: int) -> tuple[str, ...]:
    """All values of a repeated parameter, empty ones left out.

    Raises RequestError ``request.parameter`` where there are more than ``most``.
    """
    values = tuple(value for value in request.query_params.getlist(name) if value.strip())
    if len(values) > most:
        raise _refused(name, f"{len(values)} values", f"at most {most}")
    if any("\0" in value for value in values):
        raise _refused(name, "a NUL character", "text without it")
    return values


def refuse_others(request: Request, *, is_known: Callable[[str], bool]) -> None:
    """Refuse a parameter that is not known or given twice, rather than answer without it.

    Raises RequestError ``request.parameter``.
    """
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if not is_known(name):
            raise _refused(show_hidden(name)[:MOST_NAME], "a value", "no such parameter here")
        if given.count(name) > 1:
            raise _refused(show_hidden(name)[:MOST_NAME], "several values", "one")


def _refused(name: str, seen: str, wanted: str) -> RequestError:
    return RequestError(
        f"Got {seen} in the parameter {name}; wanted {wanted}.", code="request.parameter"
    )
