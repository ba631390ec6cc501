"""Random damage to manifests, for fuzzing; deterministic for a given generator."""

from __future__ import annotations

import copy
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2.0, 0.5, -0.0, 1e20, 1e-7, 2**53 - 1, 2**53, "", " ", "text",
    "Text", "8.12 ms", "0.5 ns", "2026-02-30T00:00:00Z", "sha256:" + "0" * 64, "https://a", "é",
    "\ue000", "😀", "a" * 300, [], [[]], {}, {"a": 1}, [None], "passed", "m * 2",
)  # fmt: skip
KEYS = ("name", "digest", "surprise", "Key", "k", "", "é", "value", "shape")
TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9007199254740993", b'"\\ud800"', b"null",
    b'{"a":1,"a":2}', b"[" * 70, b"]" * 3, b"}", b"\xff", b"\xed\xa0\x80", b"\x00", b"\\u0061",
    b'"', b":", b",", b"\xef\xbb\xbf", b"//", b"'", b"0" * 40, b"&a ", b"*a", b"!!x ", b"- ",
    b"\n", b"# ", b"? ", b"<<: ", b"%YAML 9.9\n---\n", b"...", b"| ", b"\t",
)  # fmt: skip


def mutate_tree(document: Any, generator: random.Random) -> Any:
    """A copy of ``document`` in which one to three places are changed."""
    result = copy.deepcopy(document)
    for _ in range(generator.randint(1, 3)):
        places = list(_places(result))
        if places:
            _change(*generator.choice(places), generator)
    return result


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key
        if isinstance(item, (dict, list)):
            yield from _places(item)


def _change(parent: Any, key: Any, generator: random.Random) -> None:
    action = generator.randrange(4)
    if action == 0:
        del parent[key]
    elif action == 1 and isinstance(parent, dict):
        parent[generator.choice(KEYS)] = parent.pop(key)
    elif action == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[key] = copy.deepcopy(generator.choice(VALUES))


def mutate_bytes(text: bytes, generator: random.Random) -> bytes:
    """``text`` with one to four bytes or pieces cut, doubled, changed or put in."""
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(text) + 1)
        until = min(len(text), at + generator.choice((1, 1, 2, 8, 64)))
        if generator.random() < 0.1:
            text = text.replace(b"{", b'{"k":1,"k":2,', 1)
        piece = (
            b"",
            text[at:until] * 2,
            bytes([generator.randrange(256)]),
            generator.choice(TOKENS),
        )[generator.randrange(4)]
        keeps = generator.random() < 0.5
        text = text[:at] + piece + text[at if keeps else until :]
    return text
