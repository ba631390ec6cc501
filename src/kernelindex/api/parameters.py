"""Query parameters: declared once, read strictly, documented from the same declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.cursors import MAX_LIMIT
from kernelindex.errors import RequestError
from kernelindex.resolve.problems import Problem, closest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

MAX_VALUE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One query parameter; ``many`` may be given several times, ``number`` is (low, high)."""

    name: str
    text: str
    example: Any = None
    required: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    number: tuple[int, int] | None = None
    default: int | None = None
    longest: int = MAX_VALUE
    code: str = "request.parameter_invalid"

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        if self.number is not None:
            low, high = self.number
            return {"type": "integer", "minimum": low, "maximum": high, "default": self.default}
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        text = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return {"type": "array", "items": text} if self.many else text

    def document(self) -> dict[str, Any]:
        """The parameter as OpenAPI describes it."""
        found = {
            "name": self.name,
            "in": "query",
            "required": self.required,
            "description": self.text,
            "schema": self.schema(),
        }
        return found if self.example is None else {**found, "example": self.example}


def limit_parameter(default: int = 50) -> Parameter:
    """``limit``: how many rows a page has."""
    return Parameter(
        name="limit",
        text="rows of a page",
        number=(1, MAX_LIMIT),
        default=default,
        code="request.limit",
    )


CURSOR = Parameter(
    name="cursor", text="where the previous page ended; only with the same filters as there"
)


def read_query(request: Request, known: Sequence[Parameter]) -> dict[str, Any]:
    """The values of the declared parameters, None or the default where one is not given.

    Raises RequestError with every problem; its code is that of the first.
    """
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    names = {one.name for one in known}
    problems = [_unknown(name, names) for name in given if name not in names]
    values: dict[str, Any] = {}
    for one in known:
        values[one.name] = _read(one, given.get(one.name, []), problems)
    if problems:
        raise refused(problems)
    return values


def refused(problems: Sequence[Problem]) -> RequestError:
    """The error of a request with these problems."""
    said = " ".join(one.text for one in problems)
    found = [one.model_dump(mode="json") for one in problems]
    return RequestError(said, code=problems[0].code, problems=found)


def _unknown(name: str, known: set[str]) -> Problem:
    wanted = "one of " + ", ".join(sorted(known)) if known else "no parameters"
    near = closest(name[:MAX_VALUE], known)
    return Problem.of("request.parameter_unknown", "query", name, wanted, near)


def _read(one: Parameter, given: list[str], problems: list[Problem]) -> Any:
    if not given:
        if one.required:
            problems.append(_problem("request.parameter_missing", one, "nothing", one.text))
        return one.default
    if one.many:
        return [text for text in given if _is_text(one, text, problems)]
    if len(given) > 1:
        problems.append(_problem("request.parameter_repeated", one, f"{len(given)}", "one value"))
        return None
    if one.number is not None:
        return _number(one, given[0], one.number, problems)
    return given[0] if _is_text(one, given[0], problems) else None


def _number(
    one: Parameter, text: str, bounds: tuple[int, int], problems: list[Problem]
) -> int | None:
    low, high = bounds
    if text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high:
        return int(text)
    wanted = f"a whole number from {low} to {high}"
    problems.append(_problem(one.code, one, text, wanted))
    return None


def _is_text(one: Parameter, text: str, problems: list[Problem]) -> bool:
    if one.choices and text not in one.choices:
        wanted = "one of " + ", ".join(one.choices)
        near = closest(text[:MAX_VALUE], one.choices)
        problems.append(_problem(one.code, one, text, wanted, near))
        return False
    if not 1 <= len(text) <= one.longest or "\0" in text:
        wanted = f"1 to {one.longest} characters, none of them NUL"
        problems.append(_problem(one.code, one, text or "nothing", wanted))
        return False
    return True


def _problem(code: str, one: Parameter, seen: str, wanted: str, near: str | None = None) -> Problem:
    return Problem.of(code, f"query parameter {one.name}", seen, wanted, near)


def text_of(values: Mapping[str, Any], name: str) -> str | None:
    """A text value, None where it was not given."""
    found = values[name]
    return found if isinstance(found, str) else None
