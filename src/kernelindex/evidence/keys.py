"""Ed25519 keys of runners: their text form, their name by digest, signing and checking.

A public key is written ``ed25519:<64 hex digits>`` (the 32 bytes of RFC 8032); its digest,
``sha256:`` of those bytes, is what runs and envelopes name it by.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.errors import EvidenceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "ed25519:"
_TEXT = re.compile(r"ed25519:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """32 bytes that check signatures; made by ``parse`` or from a ``Signer``."""

    raw: bytes

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """The key of its one-line text.

        Raises ``EvidenceError`` (``evidence.key``) for any other text.
        """
        if not _TEXT.fullmatch(text.strip()):
            raise EvidenceError(
                f"{text.strip()[:80]!r} is no public key; wanted {PREFIX}<64 hex digits>, as "
                "`ki evidence keys list` prints it",
                code="evidence.key",
            )
        return cls(bytes.fromhex(text.strip()[len(PREFIX) :]))

    @property
    def text(self) -> str:
        """The one-line text."""
        return PREFIX + self.raw.hex()

    @property
    def digest(self) -> str:
        """``sha256:`` of the 32 bytes: the key's name in runs and envelopes."""
        return f"sha256:{hashlib.sha256(self.raw).hexdigest()}"

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature over the message is this key's."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


class Signer:
    """A private key in memory; it shows itself nowhere."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key().public_bytes_raw())

    @classmethod
    def new(cls) -> Signer:
        """A key drawn by the system's random generator."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> Signer:
        """The key of a 32-byte seed (RFC 8032), for tests and vectors."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pem(cls, data: bytes, where: str) -> Signer:
        """The key of an unencrypted PKCS 8 PEM text; ``where`` is named in the refusal.

        Raises ``EvidenceError`` (``evidence.key``) where it holds no ed25519 private key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(data, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise EvidenceError(
                f"{where} holds no unencrypted ed25519 private key (PEM); make one: "
                "ki evidence keys new NAME --owner OWNER",
                code="evidence.key",
            )
        return cls(key)

    def to_pem(self) -> bytes:
        """The key as PKCS 8 PEM, for its file and nothing else."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of the signature."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"Signer({self.public.text})"
