"""The public export: every manifest it holds validates and digests to the value it gives."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import zstandard

from kernelindex.manifests import V1ALPHA2, Manifest, canonical, parse
from tests.support.shared import shared_path

EXPORT = "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"
DIGEST_FIELDS = ("semanticDigest", "workloadDigest", "implementationDigest", "runDigest")
SERVING_FIELDS = ("modelDigest", "stackDigest", "configurationDigest")
COUNTS = {
    "OperationSpec": 449,
    "WorkloadCase": 5371,
    "WorkloadSuite": 256,
    "ImplementationRevision": 4250,
    "BenchmarkRun": 7857,
    "ModelRevision": 6,
    "ServingStackRevision": 71,
    "ServingConfiguration": 130,
    "ServingWorkload": 17,
    "ServingRun": 722,
}


def lines(every: int) -> Iterator[bytes]:
    with shared_path(EXPORT).open("rb") as packed:
        reader = zstandard.ZstdDecompressor().stream_reader(packed)
        for index, line in enumerate(io.BufferedReader(reader)):
            if index % every == 0:
                yield line


def documents(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Each manifest of a row with the digest that the row gives it."""
    manifest = row.get("manifest")
    if manifest is None:
        return
    if "kind" in manifest:
        fields = DIGEST_FIELDS + SERVING_FIELDS
        yield manifest, next((row[field] for field in fields if field in row), None)
    else:
        yield manifest["run"], row["runDigest"]
        yield manifest["protocol"], row["protocolKey"]
        yield manifest["environment"], row["environmentKey"]


def check(every: int) -> Counter[str]:
    """Count by kind after comparing each digest and document."""
    counts: Counter[str] = Counter()
    for line in lines(every):
        read: Any = canonical.loads(line)
        for document, digest in documents(read["row"]):
            manifest: Manifest = parse(document)
            assert digest in (None, manifest.digest), manifest.name
            assert manifest.document == document
            counts[manifest.kind] += 1
    return counts


def test_a_sample_of_the_export_has_its_digests() -> None:
    counts = check(every=40)
    assert sum(counts[kind] for kind in COUNTS) >= 450
    assert counts["BenchmarkRun"] >= 190


@pytest.mark.slow
def test_the_whole_export_has_its_digests() -> None:
    counts = check(every=1)
    assert {kind: counts[kind] for kind in COUNTS} == COUNTS
    assert sum(COUNTS.values()) == 19_129
    assert counts["SoftwareProject"] == 615


def test_the_export_is_valid_in_v1alpha2_too() -> None:
    for line in lines(every=200):
        read: Any = canonical.loads(line)
        for document, _ in documents(read["row"]):
            newer = parse({**document, "apiVersion": V1ALPHA2})
            assert newer.document["spec"] == document["spec"]
