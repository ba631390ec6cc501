"""Envelopes: the standard's vector, another implementation as oracle, and forgeries."""

from __future__ import annotations

import json

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import dsse
from tests.evidence.factories import ALICE, BOB

PAYLOAD = b'{"hello":"world"}'


def test_the_encoding_of_the_standard() -> None:
    assert dsse.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_only_the_key_that_signed_is_the_signer() -> None:
    envelope = dsse.parse_envelope(dsse.seal(PAYLOAD, ALICE).to_json())
    assert envelope.payload == PAYLOAD
    assert envelope.signer([BOB.public, ALICE.public]) == ALICE.public
    assert envelope.signer([BOB.public]) is None
    assert envelope.signer([]) is None


def test_the_type_is_signed_too() -> None:
    document = json.loads(dsse.seal(PAYLOAD, ALICE).to_json())
    document["payloadType"] = "application/other"
    envelope = dsse.parse_envelope(json.dumps(document).encode())
    assert envelope.signer([ALICE.public]) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"payload":"e30=","payloadType":"t","signatures":[{}]}',
        b'{"payload":"???","payloadType":"t","signatures":[]}',
        b'{"payload":1,"payloadType":"t","signatures":[]}',
        b'{"payload":"e30=","payload":"e30=","payloadType":"t","signatures":[]}',
    ],
)
def test_what_is_no_envelope_is_refused(text: bytes) -> None:
    with pytest.raises(EvidenceError) as caught:
        dsse.parse_envelope(text)
    assert caught.value.code == "evidence.envelope"


def test_another_implementation_accepts_ours_and_we_accept_its() -> None:
    oracle = pytest.importorskip("securesystemslib.dsse", reason="securesystemslib not installed")
    from securesystemslib.signer import CryptoSigner, SSlibKey

    key = SSlibKey(ALICE.public.digest, "ed25519", "ed25519", {"public": ALICE.public.raw.hex()})
    ours = oracle.Envelope.from_dict(json.loads(dsse.seal(PAYLOAD, ALICE).to_json()))
    assert ours.pae() == dsse.pae(dsse.IN_TOTO_TYPE, PAYLOAD)
    assert list(ours.verify([key], 1)) == [ALICE.public.digest]

    signer = CryptoSigner.generate_ed25519()
    theirs = oracle.Envelope(PAYLOAD, dsse.IN_TOTO_TYPE, {})
    theirs.sign(signer)
    public = bytes.fromhex(signer.public_key.keyval["public"])
    from kernelindex.evidence.keys import PublicKey

    read = dsse.parse_envelope(json.dumps(theirs.to_dict()).encode())
    assert read.signer([PublicKey(public)]) == PublicKey(public)
