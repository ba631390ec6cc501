from __future__ import annotations

import base64
import hashlib

import pytest

from kernelindex.community.tokens import (
    hash_token,
    hide_tokens,
    is_same,
    key_id,
    make_token,
)


def test_a_token_holds_256_random_bits_and_a_public_id() -> None:
    token = make_token()
    prefix, ident, secret = token.split("_", 2)
    assert (prefix, len(ident)) == ("ki", 10)
    assert len(base64.urlsafe_b64decode(secret + "=")) == 32
    assert key_id(token) == ident
    assert len({make_token() for _ in range(100)}) == 100


def test_what_is_stored_is_a_hash_of_the_whole_token() -> None:
    token = "ki_" + "0" * 10 + "_" + "x" * 43
    assert hash_token(token) == hashlib.sha256(b"kernelindex token\0" + token.encode()).hexdigest()
    assert is_same(token, hash_token(token))
    assert not is_same(token[:-1] + "y", hash_token(token))
    assert not is_same("ki_" + "1" * 10 + "_" + "x" * 43, hash_token(token))


@pytest.mark.parametrize(
    "text",
    ["", "ki_", "ki_0123456789_short", "KI_0123456789_" + "x" * 43, "ki_012345678Z_" + "x" * 43,
     "ki_0123456789_" + "x" * 44, "ki_0123456789_" + "x" * 42 + "\n"],
)  # fmt: skip
def test_other_text_is_no_token(text: str) -> None:
    assert key_id(text) is None


def test_a_log_line_keeps_the_id_and_loses_the_secret() -> None:
    token = make_token()
    hidden = hide_tokens(f'POST /x "Bearer {token}" and {token}!')
    assert token[14:] not in hidden
    assert hidden == f'POST /x "Bearer {token[:14]}…" and {token[:14]}…!'
