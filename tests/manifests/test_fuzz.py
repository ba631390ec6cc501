"""Damaged manifests: each is a manifest or a refusal with a code, never another exception."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from typing import Literal

import pytest

from kernelindex.errors import CanonicalError, ManifestError
from kernelindex.manifests import API_VERSIONS, KINDS, _strict_json, canonical, load
from tests.manifests.factories import full
from tests.manifests.mutations import mutate_bytes, mutate_tree

CODES = {"accepted", "manifest.invalid"} | {
    f"canonical.{code}"
    for code in (
        "alias", "duplicate_key", "encoding", "integer_range", "not_finite", "surrogate",
        "syntax", "tag", "too_deep", "too_large",
    )
}  # fmt: skip


@cache
def seeds() -> list[bytes]:
    """One sound manifest of each kind and version."""
    return [
        json.dumps(full(kind, version), ensure_ascii=False).encode()
        for version in API_VERSIONS
        for kind in KINDS
    ]


def outcome(text: bytes, form: Literal["json", "yaml"]) -> str:
    """``accepted``, or the code of the refusal; an accepted one must stand a round trip."""
    try:
        manifest = load(text, form=form)
    except (CanonicalError, ManifestError) as error:
        json.dumps(error.to_dict())
        return error.code if error.message else "no message"
    again = canonical.dumps(canonical.reread(canonical.dumps(manifest.document)))
    assert again == canonical.dumps(manifest.document)
    return "accepted"


def fuzz(count: int, seed: int) -> Counter[str]:
    """Outcomes of ``count`` damaged inputs, a tenth of them read as YAML."""
    generator = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for index in range(count):
        text = generator.choice(seeds())
        if index % 2:
            text = json.dumps(mutate_tree(json.loads(text), generator)).encode()
        else:
            text = mutate_bytes(text, generator)
        form: Literal["json", "yaml"] = "yaml" if index % 10 >= 9 or index % 20 == 0 else "json"
        if form == "json":
            assert_readers_agree(text)
        outcomes[outcome(text, form)] += 1
    return outcomes


def assert_readers_agree(text: bytes) -> None:
    fast = canonical._read_fast(text)
    if fast is not canonical._UNDECIDED:
        assert fast == _strict_json.read(text)


def test_damaged_manifests_are_refused_with_a_code() -> None:
    outcomes = fuzz(2_000, seed=1)
    assert outcomes.total() == 2_000
    assert outcomes["accepted"] >= 50
    assert outcomes["manifest.invalid"] >= 500
    assert outcomes["canonical.syntax"] >= 300
    assert outcomes["canonical.duplicate_key"] >= 20
    assert set(outcomes) <= CODES


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_100_000_damaged_manifests_are_refused_with_a_code() -> None:
    outcomes = fuzz(100_000, seed=2)
    assert outcomes.total() == 100_000
    assert set(outcomes) == CODES - {"canonical.too_large"}
