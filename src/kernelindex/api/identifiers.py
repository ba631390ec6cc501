"""Names of objects in a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

PATH_CODES = ("route.not_found",)
MAX_LENGTH = 500


def ident_of(request: Request) -> str:
    """The name in the path as it may be looked up: no NUL, which PostgreSQL refuses."""
    text: str = request.path_params["ident"]
    return text[:MAX_LENGTH].replace("\0", "\N{REPLACEMENT CHARACTER}")


def path_of(word: str, example: str) -> dict[str, tuple[str, str]]:
    """The description of ``{ident}`` for one kind of object."""
    text = f"{word}: an alias, a slug, or 8 or more hex digits of its digest"
    return {"ident": (text, example)}
