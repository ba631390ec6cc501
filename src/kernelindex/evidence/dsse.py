"""DSSE envelopes: a payload, its type, and signatures over both.

After https://github.com/secure-systems-lab/dsse (protocol.md, envelope.md, version 1).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.errors import CanonicalError, EvidenceError
from kernelindex.manifests import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.evidence.keys import PublicKey, Signer

IN_TOTO_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature and the name of the key that is said to have made it."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A signed payload; nothing in it is to be believed before ``signer`` names a key."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    def signer(self, keys: Iterable[PublicKey]) -> PublicKey | None:
        """The first of ``keys`` that signed this payload under this type.

        A key's name in the envelope is only a hint: every key is tried.
        """
        message = pae(self.payload_type, self.payload)
        for key in keys:
            if any(key.verifies(one.sig, message) for one in self.signatures):
                return key
        return None

    def to_json(self) -> bytes:
        """The envelope as canonical JSON."""
        return canonical.dumps(
            {
                "payload": base64.b64encode(self.payload).decode(),
                "payloadType": self.payload_type,
                "signatures": [
                    {"keyid": one.keyid, "sig": base64.b64encode(one.sig).decode()}
                    for one in self.signatures
                ],
            }
        )


def pae(payload_type: str, payload: bytes) -> bytes:
    """The pre-authentication encoding: what is signed."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, signer: Signer, *, payload_type: str = IN_TOTO_TYPE) -> Envelope:
    """Sign a payload."""
    signature = Signature(signer.public.digest, signer.sign(pae(payload_type, payload)))
    return Envelope(payload_type, payload, (signature,))


def parse_envelope(data: bytes, *, max_bytes: int = canonical.MAX_BYTES) -> Envelope:
    """Read an envelope; says nothing of whether its signatures hold.

    Raises ``EvidenceError`` (``evidence.envelope``) for anything else.
    """
    try:
        document: Any = canonical.loads(data, max_bytes=max_bytes)
        signatures = tuple(
            Signature(str(one.get("keyid", "")), _decode(one["sig"]))
            for one in document["signatures"]
        )
        return Envelope(str(document["payloadType"]), _decode(document["payload"]), signatures)
    except (CanonicalError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise EvidenceError(
            f"not a DSSE envelope: {error}; wanted payload, payloadType and signatures",
            code="evidence.envelope",
        ) from error


def _decode(text: Any) -> bytes:
    """Base64, standard or URL-safe, as DSSE allows."""
    if not isinstance(text, str):
        raise TypeError("base64 text wanted")
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error as error:
        raise ValueError(f"bad base64 ({error})") from error
