from __future__ import annotations

import pytest

from kernelindex.errors import CanonicalError
from kernelindex.manifests import load
from kernelindex.manifests._strict_yaml import loads


def test_plain_scalars_are_what_json_can_say() -> None:
    read = loads(
        "date: 2026-08-01\ninstant: 2026-08-01T12:00:00Z\nyes_no: [yes, off, True, false]\n"
        "numbers: [1, -2, 1.5, 1e3, 1_000, 0x1f, 007, +1, .5, 12:30, .inf, .nan, 1.]\n"
        "nothing: [~, null, '~']\nversion: '2.9'\n"
    )
    assert read == {
        "date": "2026-08-01",
        "instant": "2026-08-01T12:00:00Z",
        "yes_no": ["yes", "off", True, False],
        "numbers": [
            1, -2, 1.5, 1000.0, "1_000", "0x1f", "007", "+1", ".5", "12:30", ".inf", ".nan", "1.",
        ],
        "nothing": [None, None, "~"],
        "version": "2.9",
    }  # fmt: skip
    assert isinstance(read["numbers"][0], int)


def test_anchors_and_allowed_tags() -> None:
    read = loads("a: &x [1, {b: c}]\nd: *x\ne: !!str 5\nf: ! 6\ng: !!map {h: !!seq []}\n")
    assert read == {
        "a": [1, {"b": "c"}],
        "d": [1, {"b": "c"}],
        "e": "5",
        "f": "6",
        "g": {"h": []},
    }


def test_a_merge_key_is_an_ordinary_key() -> None:
    assert loads("a: &x {b: 1}\nc:\n  <<: *x\n") == {"a": {"b": 1}, "c": {"<<": {"b": 1}}}


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]\n" for n in range(1, 7)
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2", "duplicate_key"),
        ('a: 1\n"\\x61": 2', "duplicate_key"),
        ("a: {b: 1, b: 1}", "duplicate_key"),
        ("a: !!python/object:os.system x", "tag"),
        ("a: !custom x", "tag"),
        ("a: !!float 1", "tag"),
        ("a: !!timestamp 2026-08-01", "tag"),
        ("a: !!set {b}", "tag"),
        ("a: *b", "alias"),
        ("a: &a [*a]", "alias"),
        (BOMB, "alias"),
        ("a: &a x\nb: [" + ",".join(["*a"] * 65) + "]", "alias"),
        ("a: &a " + "x" * 100_000 + "\nb: [" + ",".join(["*a"] * 12) + "]", "alias"),
        ("a: 1\n---\na: 2", "syntax"),
        ("", "syntax"),
        ("# nothing", "syntax"),
        ("a: [", "syntax"),
        ("a: b: c", "syntax"),
        ("\tx: 1", "syntax"),
        ("1: a", "syntax"),
        ("? [a]\n: b", "syntax"),
        ("a: 1e400", "not_finite"),
        ("a: 9007199254740992", "integer_range"),
        ("[" * 65 + "]" * 65, "too_deep"),
        ("a: &a " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 30 + "*a" + "]" * 30, "too_deep"),
        (b"a: \xff", "encoding"),
        (b"a: " + b"x" * (1 << 20), "too_large"),
    ],
)
def test_refusals(text: bytes | str, code: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        loads(text)
    assert caught.value.code == f"canonical.{code}"


def test_a_refusal_says_where() -> None:
    with pytest.raises(CanonicalError, match=r"\$\.spec\.name: key 'name' again"):
        loads("spec:\n  name: a\n  name: b\n")
    with pytest.raises(CanonicalError, match="line 2 column"):
        loads("a: 1\n b: 2\n")


def test_yaml_and_json_give_one_digest() -> None:
    as_yaml = """
    apiVersion: kernelindex.dev/v1alpha1
    kind: SoftwareProject
    metadata: {name: a-thing}
    spec: {name: A Thing, kind: library}
    """
    as_json = (
        '{"spec":{"kind":"library","name":"A Thing"},"metadata":{"name":"other"},'
        '"kind":"SoftwareProject","apiVersion":"kernelindex.dev/v1alpha1"}'
    )
    assert load(as_yaml, form="yaml").digest == load(as_json).digest
