"""How fast manifests are canonicalised, validated and read: one core, best of several rounds.

``python -m benchmarks.manifests`` prints a table, ``--json`` one figure a line. With the
public export at hand (``KI_SHARED`` or ``../shared``) its manifests are used too.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import rfc8785

from benchmarks.report import Figure, as_markdown, emit
from kernelindex.manifests import V1ALPHA1, canonical, digest_of, parse
from kernelindex.manifests.kinds import metadata_model, spec_model

EXPORT = "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"
ROUNDS = 5
TARGETS = {"plain": ">= 2,500/s", "fast": ">= 7,000/s", "validate": ">= 20,000/s"}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.manifests")
    parser.add_argument("--json", action="store_true", help="one JSON figure a line")
    options = parser.parse_args(arguments)
    figures = [*two_kilobytes(), *export_figures(), import_time()]
    if options.json:
        emit(figures)
    else:
        sys.stdout.write(as_markdown(figures))


def rate(run: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Items a second, in the best of ``ROUNDS`` passes over ``items``."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = perf_counter()
        for item in items:
            run(item)
        best = min(best, perf_counter() - start)
    return len(items) / best


def per_second(value: float) -> str:
    return f"{value:,.0f}/s"


def suite(cases: int) -> dict[str, Any]:
    """A WorkloadSuite manifest; 22 cases make about 2 KB of canonical bytes."""
    axes = {"tokens": 8192, "hidden": 2048, "experts": 64, "k": 8}
    return {
        "apiVersion": V1ALPHA1,
        "kind": "WorkloadSuite",
        "metadata": {"name": "a-suite"},
        "spec": {
            "operationSpecDigest": "sha256:" + "ab" * 32,
            "cases": [{"externalId": f"case {i}", "axes": axes} for i in range(cases)],
            "correctness": {"comparator": "elementwise_close", "description": "Every case."},
            "aggregation": {"metric": "latency", "statistic": "geomean"},
        },
    }


def two_kilobytes() -> Iterator[Figure]:
    """Canonicalisation and digest of one manifest of 2 KB, with and without a double in it."""
    value = suite(22)
    size = len(canonical.dumps(value))
    awkward = {**value, "number": 1.0}
    for work, run, one, target in (
        ("canonicalise, rfc8785 alone", rfc8785.dumps, value, TARGETS["plain"]),
        ("canonicalise, guarded fast path", canonical.dumps, value, TARGETS["fast"]),
        ("canonicalise, guard falls back (1.0)", canonical.dumps, awkward, TARGETS["plain"]),
        ("digest", digest_of, value, ""),
        ("read strictly", canonical.loads, canonical.dumps(value), ""),
    ):
        speed = per_second(rate(run, [one] * 500))
        yield Figure(work=f"{work}, {size:,} bytes", value=speed, target=target)


def export_figures() -> Iterator[Figure]:
    """Reading, validation and the whole way over the manifests of the public export."""
    documents = export_documents()
    if not documents:
        yield Figure(work="export", value="not here", note="set KI_SHARED")
        return
    texts = [
        json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() for one in documents
    ]
    note = f"{len(documents):,} manifests, {sum(map(len, texts)) // len(texts):,} bytes in the mean"
    bodies = [{k: one[k] for k in ("apiVersion", "kind", "spec")} for one in documents]
    yield Figure(work="export: read strictly", value=per_second(rate(canonical.loads, texts)))
    yield Figure(
        work="export: validate", value=per_second(rate(validate, documents)),
        target=TARGETS["validate"], note=note,
    )  # fmt: skip
    yield Figure(work="export: canonicalise", value=per_second(rate(canonical.dumps, bodies)))
    whole = rate(read_and_parse, texts)
    yield Figure(
        work="export: read, validate, normalise, digest", value=per_second(whole),
        target="19,129 in 5 s", note=f"19,129 in {19_129 / whole:.2f} s",
    )  # fmt: skip


def validate(document: dict[str, Any]) -> None:
    metadata_model().model_validate(document["metadata"])
    spec_model(document["kind"], document["apiVersion"]).model_validate(document["spec"])


def read_and_parse(text: bytes) -> None:
    parse(canonical.loads(text))


def export_documents() -> list[dict[str, Any]]:
    """The digest-bearing manifests of the export, or none where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("KI_SHARED", beside)) / EXPORT
    if not path.exists():
        return []
    import zstandard

    found = []
    with path.open("rb") as packed:
        for line in io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(packed)):
            row = json.loads(line)
            manifest = row["row"].get("manifest")
            if manifest and row["table"] != "projects":
                found.append(manifest if "kind" in manifest else manifest["run"])
    return found


def import_time() -> Figure:
    """Importing the package in a fresh interpreter, less the interpreter itself."""

    def seconds(code: str) -> float:
        times = []
        for _ in range(7):
            start = perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(perf_counter() - start)
        return min(times)

    spent = seconds("import kernelindex.manifests") - seconds("pass")
    return Figure(
        work="import kernelindex.manifests", value=f"{spent * 1e3:.0f} ms", target="120 ms"
    )


if __name__ == "__main__":
    main()
