"""What a refusal says: path, rule, what was seen, what was wanted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelindex.errors import ManifestError
from kernelindex.ids import COMMIT, DIGEST, NAME, SLUG, TOKEN

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["Problem", "explain", "read_problems", "refusal", "show"]

NOTHING = "nothing"
MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule; ``path`` is dotted from the root, ``seen`` is shortened JSON."""

    path: str
    rule: str
    seen: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.path}: saw {self.seen}, wanted {self.wanted}"


_PATTERNS = {
    TOKEN: "a token: a lower-case letter, then lower-case letters, digits and _",
    SLUG: "a slug: lower-case letters, digits and -",
    NAME: "a name: lower-case letters, digits and . _ -",
    DIGEST: "a digest: sha256: and 64 lower-case hex digits",
    COMMIT: "a commit: 40 lower-case hex digits",
}
_TYPES = {
    "string_type": "text",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "a list",
    "finite_number": "a finite number",
}
_RULES = {
    "missing": ("required", "a value; the field is required"),
    "extra_forbidden": ("unknown_field", "no such field; remove it or correct its name"),
}
_BOUNDS = {
    "greater_than_equal": ("range", "at least {ge}"),
    "less_than_equal": ("range", "at most {le}"),
    "string_too_short": ("length", "at least {min_length} characters"),
    "string_too_long": ("length", "at most {max_length} characters"),
    "too_long": ("length", "at most {max_length} entries"),
    "too_short": ("length", "at least {min_length} entries"),
    "literal_error": ("choice", "one of {expected}"),
}


def read_problems(error: ValidationError, root: str, document: object) -> list[Problem]:
    """The problems in a pydantic error about ``document``, which lies at ``root``.

    Branches of a union that failed at one place become one problem. Of a list only the
    first bad item is named, and at most 100 problems in all.
    """
    found: dict[str, Problem] = {}
    for item in error.errors(include_url=False)[: 2 * MAX_PROBLEMS]:
        path, value = _locate(root, item["loc"], document, missing=item["type"] == "missing")
        rule, wanted = explain(item["type"], item.get("ctx", {}), item["msg"], value)
        seen = _key_seen(item["loc"]) or (NOTHING if item["type"] == "missing" else show(value))
        found[path] = _merge(found.get(path), Problem(path, rule, seen, wanted))
    return list(found.values())[:MAX_PROBLEMS]


def _merge(before: Problem | None, problem: Problem) -> Problem:
    """One problem of two branches: a value of the right type says more than a wrong type."""
    if before is None or (before.rule == "type" != problem.rule):
        return problem
    if (problem.rule == "type" != before.rule) or problem.wanted in before.wanted:
        return before
    return replace(before, wanted=f"{before.wanted}, or {problem.wanted}")


def refusal(problems: Iterable[Problem], what: str = "manifest") -> ManifestError:
    """The error for ``problems``: the first in words, all in ``details``."""
    listed = list(problems)
    more = f" (and {len(listed) - 1} more)" if len(listed) > 1 else ""
    return ManifestError(
        f"{what} refused: {listed[0]}{more}", problems=[asdict(problem) for problem in listed]
    )


def show(value: object) -> str:
    """``value`` as JSON of at most 80 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a Python {type(value).__name__}"
    return _shorten(text.encode(errors="backslashreplace").decode())


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def explain(kind: str, ctx: Mapping[str, Any], message: str, value: object) -> tuple[str, str]:
    """The rule that ``value`` broke, and what it wants; from pydantic's kind, context, message."""
    if value is None and kind not in _RULES:
        return "null", "a value, or no such field: null is refused"
    if kind in _RULES:
        return _RULES[kind]
    if kind in _BOUNDS:
        rule, wanted = _BOUNDS[kind]
        return rule, wanted.format(**ctx)
    if kind == "string_pattern_mismatch":
        pattern = str(ctx.get("pattern", ""))
        return "pattern", _PATTERNS.get(pattern, f"text that matches {pattern}")
    if kind in _TYPES:
        return "type", _TYPES[kind]
    return kind, message


def _key_seen(location: tuple[int | str, ...]) -> str | None:
    """The key of a map, where the key itself was refused."""
    return show(location[-2]) if location and location[-1] == "[key]" else None


def _locate(
    root: str, location: tuple[int | str, ...], document: object, *, missing: bool
) -> tuple[str, object]:
    """The dotted path of a pydantic location and the value there; union tags are dropped."""
    path, value = root, document
    last = len(location) - 1
    for index, step in enumerate(location):
        if isinstance(value, Mapping) and step in value:
            path, value = f"{path}.{_shorten(str(step))}", value[step]
        elif isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value):
            path, value = f"{path}[{step}]", value[step]
        elif missing and index == last:
            path, value = f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}", None
    return path, value
