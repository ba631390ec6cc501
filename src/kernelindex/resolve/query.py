"""Text questions: ``fused-moe tokens=8192 k=8 bf16 gpu:H100 pass:backward`` as a request.

    name=8192      an axis, by its name or an alias such as T=8192
    filter:value   gpu, pass, dtype, evidence, license, framework, source, metric, op
    words          exact names of GPUs, dtypes and passes; what is left names the operation

Nothing is matched by substring here: a word that is no exact name stays part of the
operation's name, and the interpretation may suggest a correction for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.hardware import find_gpu
from kernelindex.registry.operations import named_operation
from kernelindex.resolve.problems import Problem, closest
from kernelindex.resolve.request import Request, parse_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_TEXT = 1000
MAX_WORDS_OF_A_NAME = 5
PASS_WORDS = {
    "forward": "forward",
    "fwd": "forward",
    "backward": "backward",
    "bwd": "backward",
    "full": "full",
    "inference": "inference",
}
EVIDENCE_WORDS = ("reported", "reproducible", "verified", "replicated")
YES_WORDS = ("yes", "no")
FILTERS = {
    "gpu": "hardware",
    "hardware": "hardware",
    "device": "hardware",
    "pass": "pass",
    "dtype": "dtypes",
    "evidence": "minimum_evidence",
    "license": "licenses",
    "licence": "licenses",
    "framework": "framework",
    "source": "source",
    "metric": "metric",
    "op": "operation",
    "operation": "operation",
    "installable": "installable",
}
SPOKEN = tuple(name for name in FILTERS if name not in {"device", "licence", "operation"})
FILLER = frozenset({"on", "for", "the", "a", "an", "with", "in", "at", "fastest", "best", "kernel"})
_AXIS = re.compile(r"([A-Za-z][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_FILTER = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(.*)", re.DOTALL)
_WHOLE = re.compile(r"[0-9]+(?:_[0-9]+)*")


@dataclass(slots=True)
class _Draft:
    """What has been read so far; becomes a request document."""

    document: dict[str, Any] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def put(self, name: str, value: str, token: str) -> None:
        """Set a field once; a second, different value is a problem."""
        old = self.document.get(name)
        if old is not None and old != value:
            wanted = f"one value; it is already {old}"
            self.problems.append(Problem.of("query.repeated", token, value, wanted))
        self.document[name] = value

    def add(self, name: str, value: str) -> None:
        """Append to a list field without repeats."""
        values = self.document.setdefault(name, [])
        if value not in values:
            values.append(value)


def parse_query(text: str) -> Request | tuple[Problem, ...]:
    """Read a text question into the request that JSON would have given.

    Returns every problem, each with a correction where one is near, instead of a request
    when a filter is unknown, an axis is not a whole number, or nothing is asked.
    """
    if len(text) > MAX_TEXT:
        return (Problem.of("query.too_long", "", f"{len(text)} characters", f"at most {MAX_TEXT}"),)
    draft = _Draft()
    for token in _join_gpu_names(text.replace(",", " ").replace(";", " ").split()):
        _read_token(token, draft)
    _read_words(draft)
    if draft.problems:
        return tuple(draft.problems)
    if draft.policy:
        draft.document["policy"] = draft.policy
    return parse_request(draft.document)


def _join_gpu_names(tokens: list[str]) -> list[str]:
    """``gpu:RTX 4090`` as one token: words that complete a GPU's name belong to its filter."""
    joined: list[str] = []
    while tokens:
        token, *tokens = tokens
        match = _FILTER.fullmatch(token)
        if match and FILTERS.get(match[1].lower()) == "hardware":
            token, tokens = _longest_gpu(token, match[2], tokens)
        joined.append(token)
    return joined


def _longest_gpu(token: str, name: str, rest: list[str]) -> tuple[str, list[str]]:
    for count in range(min(len(rest), MAX_WORDS_OF_A_NAME), 0, -1):
        if find_gpu(" ".join([name, *rest[:count]])):
            return " ".join([token, *rest[:count]]), rest[count:]
    return token, rest


def to_query(request: Request, **changes: Any) -> str:
    """The text query of a request, with some fields replaced.

    Reading it back gives the same request.
    """
    asked = request.model_copy(update=changes)
    parts = [asked.operation or ""]
    parts += [f"{name}={value}" for name, value in asked.axes.items()]
    parts += asked.dtypes
    named = (("gpu", asked.hardware), ("pass", asked.timed_pass), ("framework", asked.framework))
    parts += [f"{name}:{value}" for name, value in named if value]
    parts += [f"{n}:{v}" for n, v in (("source", asked.source), ("metric", asked.metric)) if v]
    parts += [f"license:{text}" for text in asked.policy.licenses]
    if asked.policy.minimum_evidence != "reported":
        parts.append(f"evidence:{asked.policy.minimum_evidence}")
    if asked.policy.installable:
        parts.append("installable:yes")
    return " ".join(part for part in parts if part)


def _read_token(token: str, draft: _Draft) -> None:
    if token.startswith("sha256:"):
        draft.words.append(token)
    elif match := _AXIS.fullmatch(token):
        _read_axis(match[1], match[2], token, draft)
    elif match := _FILTER.fullmatch(token):
        _read_filter(match[1].lower(), match[2], token, draft)
    else:
        draft.words.append(token)


def _read_axis(name: str, value: str, token: str, draft: _Draft) -> None:
    if name.lower() in FILTERS and not _WHOLE.fullmatch(value):
        _read_filter(name.lower(), value, token, draft)
        return
    if not _WHOLE.fullmatch(value):
        wanted = "a whole number, as in tokens=8192"
        draft.problems.append(Problem.of("query.axis_value", token, value or "nothing", wanted))
        return
    axes = draft.document.setdefault("axes", {})
    if name in axes and axes[name] != int(value):
        wanted = f"one value; {name} is already {axes[name]}"
        draft.problems.append(Problem.of("query.repeated", token, value, wanted))
    axes[name] = int(value)


def _read_filter(name: str, value: str, token: str, draft: _Draft) -> None:
    target = FILTERS.get(name)
    if target is None:
        correction = closest(name, FILTERS)
        wanted = "one of the filters " + ", ".join(f"{known}:" for known in SPOKEN)
        hint = f"{correction}:{value}" if correction else None
        draft.problems.append(Problem.of("query.filter_unknown", token, f"{name}:", wanted, hint))
    elif not value:
        wanted = f"a value after {name}:"
        draft.problems.append(Problem.of("query.filter_empty", token, "nothing", wanted))
    else:
        _apply_filter(target, value, token, draft)


def _apply_filter(target: str, value: str, token: str, draft: _Draft) -> None:
    if target == "dtypes":
        draft.add("dtypes", value)
    elif target == "licenses":
        draft.policy.setdefault("licenses", []).append(value)
    elif target == "minimum_evidence":
        _choose(
            draft, token, value, EVIDENCE_WORDS, lambda word: draft.policy.update({target: word})
        )
    elif target == "installable":
        _choose(
            draft,
            token,
            value,
            YES_WORDS,
            lambda word: draft.policy.update({target: word == "yes"}),
        )
    elif target == "pass":
        _choose(
            draft, token, value, PASS_WORDS, lambda word: draft.put("pass", PASS_WORDS[word], token)
        )
    else:
        draft.put(target, value, token)


def _choose(
    draft: _Draft,
    token: str,
    value: str,
    allowed: Sequence[str] | dict[str, str],
    take: Callable[[str], None],
) -> None:
    """Take one of a closed set of words, or note the problem with the nearest of them."""
    word = value.lower()
    if word in allowed:
        take(word)
        return
    name = token.partition(":")[0]
    correction = closest(word, allowed)
    hint = f"{name}:{correction}" if correction else None
    wanted = "one of " + ", ".join(allowed)
    draft.problems.append(Problem.of("query.filter_value", token, value, wanted, hint))


def _read_words(draft: _Draft) -> None:
    """Sort the free words: GPU first (longest name wins), then operation, dtypes, pass."""
    words = _take_gpu(draft.words, draft)
    start, stop = _span(words, _is_operation)
    if stop:
        _put_operation(" ".join(words[start:stop]), draft)
        left = _take_dtypes_and_pass(words[:start] + words[stop:], draft)
        _note_unused(left, draft)
        return
    left = [word for word in _take_dtypes_and_pass(words, draft) if word.lower() not in FILLER]
    if left:
        _put_operation(" ".join(left), draft)


@lru_cache(maxsize=4096)
def _is_operation(name: str) -> bool:
    """Whether a name is exactly that of an operation of ours; kept, since a miss is slow."""
    return named_operation(name) is not None


def _put_operation(name: str, draft: _Draft) -> None:
    draft.put("operation", name, name)


def _note_unused(left: list[str], draft: _Draft) -> None:
    """Words beside a known operation narrow nothing; they stay part of its name as asked."""
    rest = [word for word in left if word.lower() not in FILLER]
    if rest and "operation" in draft.document:
        draft.document["operation"] = " ".join([draft.document["operation"], *rest])


def _take_gpu(words: list[str], draft: _Draft) -> list[str]:
    start, stop = _span(words, lambda name: bool(find_gpu(name)))
    if not stop:
        return words
    name = " ".join(words[start:stop])
    draft.put("hardware", name, name)
    return _take_gpu(words[:start] + words[stop:], draft)


def _take_dtypes_and_pass(words: list[str], draft: _Draft) -> list[str]:
    left = []
    for word in words:
        match = resolve_dtype(word)
        if match.dtype or match.ambiguous:
            draft.add("dtypes", word)
        elif word.lower() in PASS_WORDS:
            draft.put("pass", PASS_WORDS[word.lower()], word)
        else:
            left.append(word)
    return left


def _span(words: list[str], known: Callable[[str], bool]) -> tuple[int, int]:
    """The longest, then leftmost run of words that is an exact known name; (0, 0) if none."""
    for length in range(min(len(words), MAX_WORDS_OF_A_NAME), 0, -1):
        for start in range(len(words) - length + 1):
            if known(" ".join(words[start : start + length])):
                return start, start + length
    return 0, 0
