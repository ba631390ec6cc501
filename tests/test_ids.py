from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.ids import SLUG, is_digest, parse_prefix, short, slugify

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DIGEST, True),
        (DIGEST.upper(), False),
        (DIGEST[:-1], False),
        (DIGEST + "\n", False),
        (DIGEST.removeprefix("sha256:"), False),
        ("md5:" + "0" * 64, False),
    ],
)
def test_digests(text: str, expected: bool) -> None:
    assert is_digest(text) is expected


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("01234567", "01234567"),
        ("sha256:0123456789", "0123456789"),
        (" BBB05FBE ", "bbb05fbe"),
        (DIGEST, "0123456789abcdef" * 4),
        ("0123456", None),
        ("0123456g", None),
        ("sha256:", None),
        (DIGEST + "0", None),
        ("01234567-8", None),
    ],
)
def test_prefixes(text: str, prefix: str | None) -> None:
    assert parse_prefix(text) == prefix


def test_short() -> None:
    assert short(DIGEST) == "01234567"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("rms_norm.v2-h4096", "rms_norm.v2-h4096"),
        ("RMSNorm (fused)", "rmsnorm-fused"),
        ("Müller & Söhne", "muller-sohne"),
        ("Straße Øresund", "strasse-oresund"),
        ("Ядро", "iadro"),
        ("µ-kernel Λ", "m-kernel-l"),
        ("ﬁne № ½", "fine-no-1-2"),
        ("日本語", "operationspec-01234567"),
        ("", "operationspec-01234567"),
        ("---", "operationspec-01234567"),
        ("A" * 150, "a" * 100),
    ],
)
def test_slugs(text: str, slug: str) -> None:
    assert slugify(text, "OperationSpec", DIGEST) == slug


def test_texts_that_are_not_latin_do_not_collapse_to_one_slug() -> None:
    other = "sha256:" + "f" * 64
    assert slugify("日本", "Project", DIGEST) != slugify("中国", "Project", other)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=150))
def test_any_text_has_a_slug(text: str) -> None:
    slug = slugify(text, "SoftwareProject", DIGEST)
    assert slug == text or re.fullmatch(SLUG, slug)
    assert slug == text or len(slug) <= 100
