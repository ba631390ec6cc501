"""Keys: known answers, text form, files, and that a private key is shown nowhere."""

from __future__ import annotations

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence.keys import PublicKey, Signer
from kernelindex.registry.runners import key_digest
from tests.evidence.factories import ALICE

# RFC 8032, 7.1, TEST 2.
SEED = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def test_the_vector_of_the_standard() -> None:
    signer = Signer.from_seed(SEED)
    assert signer.public.text == f"ed25519:{PUBLIC}"
    assert signer.sign(b"\x72") == SIGNATURE
    assert signer.public.verifies(SIGNATURE, b"\x72")
    assert not signer.public.verifies(SIGNATURE, b"\x73")


def test_a_key_is_named_by_the_digest_of_its_bytes() -> None:
    key = PublicKey.parse(f"ed25519:{PUBLIC}\n")
    assert key == Signer.from_seed(SEED).public
    assert key.digest == key_digest(key.text)
    assert key_digest("ed25519:00") is None


@pytest.mark.parametrize("text", ["", PUBLIC, f"ed25519:{PUBLIC}00", f"ed25519:{PUBLIC.upper()}"])
def test_other_texts_are_no_key(text: str) -> None:
    with pytest.raises(EvidenceError, match="wanted ed25519:") as caught:
        PublicKey.parse(text)
    assert caught.value.code == "evidence.key"


def test_a_private_key_survives_its_file_and_does_not_show_itself() -> None:
    again = Signer.from_pem(ALICE.to_pem(), "key.pem")
    assert again.public == ALICE.public
    assert repr(again) == f"Signer({ALICE.public.text})"
    with pytest.raises(EvidenceError, match=r"key\.pem holds no unencrypted ed25519"):
        Signer.from_pem(b"-----BEGIN NOTHING-----", "key.pem")


def test_a_point_that_is_no_key_verifies_nothing() -> None:
    assert not PublicKey(b"\xff" * 32).verifies(SIGNATURE, b"\x72")
    assert not ALICE.public.verifies(b"short", b"\x72")
