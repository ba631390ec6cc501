"""Examples of the OpenAPI document: the workload of record and what it leads to."""

from __future__ import annotations

QUERY = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H100 pass:backward"
)
QUESTION = {
    "operation": "moe-mlp",
    "axes": {"tokens": 8192, "hidden": 2048, "intermediate": 768, "experts": 64, "k": 8},
    "dtypes": ["bf16"],
    "hardware": "H100",
    "pass": "backward",
    "policy": {"minimum_evidence": "reported"},
}
RUN = "01a0202b"
"""The run that the project was specified from, by the id it had elsewhere."""
RUN_DIGEST = "sha256:f8a2de273433b96a469573ac0ca80bc2dcec1527791da0516822f1783f3737d0"
LEADER = "a1db5a53"
COHORT = "a834895d"
IDENTS = {
    "operation": "moe-mlp",
    "implementation": "liger-benchmark-moe-expert-loop-moe-mlp",
    "project": "liger-kernel",
    "workload": "c19d004b",
    "protocol": "f6fc58a5",
    "environment": "97491b4a",
}

# Short answers as they are; long ones are shown by their addresses' own examples.
SEARCHED = {
    "query": "rms norm",
    "hits": [
        {
            "kind": "operation",
            "slug": "rms-norm",
            "title": "RMS normalization",
            "subtitle": "normalization",
            "score": 6.5,
            "run_count": 184,
        }
    ],
    "suggestions": [],
}
EXPORTED = {
    "exports": [
        {
            "name": "catalog-2026-11-30.jsonl.zst",
            "digest": f"sha256:{'5a' * 32}",
            "size_bytes": 31245880,
            "media_type": "application/zstd",
        }
    ]
}
SCHEMAS = {
    "schemas": [
        {
            "api_version": "kernelindex.dev/v1alpha2",
            "kind": "BenchmarkRun",
            "title": "One measurement",
            "path": "/schemas/v1alpha2/BenchmarkRun",
        }
    ]
}
PROBLEM = {
    "type": "/api#query.filter_unknown",
    "title": "A filter of the question is not known",
    "status": 422,
    "detail": "Got gpuu: at gpuu:H100; wanted one of the filters gpu:, pass:, dtype:. "
    "Did you mean gpu:H100?",
    "code": "query.filter_unknown",
    "problems": [
        {
            "code": "query.filter_unknown",
            "where": "gpuu:H100",
            "seen": "gpuu:",
            "wanted": "one of the filters gpu:, pass:, dtype:",
            "correction": "gpu:H100",
            "text": "Got gpuu: at gpuu:H100; wanted one of the filters gpu:, pass:, dtype:. "
            "Did you mean gpu:H100?",
        }
    ],
}
