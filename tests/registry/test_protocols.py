"""The pass of a v1alpha1 protocol is known by evidence or not at all."""

from __future__ import annotations

import json

from kernelindex.registry.protocols import PROTOCOLS, pass_of
from tests.support.shared import shared_path

LIGER_BACKWARD = "sha256:080e6e66e4ec75a131aa0c9121c74b8e8eed64e7b6d621d567c6a28f79548be8"
FLASHINFER = "sha256:7d44d206ad086b4bece35ce31f6531ebb11f07e0d9dcfb74c75be86d3ec02095"
SOL_V1_1 = "sha256:6383f62490dad270ad2146a94f67b48fba5cfcbc0b9b180f02665c69cc4433a0"


def test_passes() -> None:
    assert pass_of(LIGER_BACKWARD) == "backward"
    assert pass_of(FLASHINFER) == "inference"
    assert pass_of(SOL_V1_1) is None
    assert pass_of("sha256:" + "0" * 64) is None


def test_only_evidence_in_the_sources_words_sets_a_pass() -> None:
    stated = {digest for digest, protocol in PROTOCOLS.items() if protocol.timed_pass}
    assert stated == {LIGER_BACKWARD, FLASHINFER}
    assert len(PROTOCOLS) == 7


def test_the_seed_run_names_the_backward_protocol() -> None:
    seed = json.loads(shared_path("conformance/seed-run-01a0202b.json").read_text())
    assert seed["expected"]["digests"]["protocol"] == LIGER_BACKWARD
