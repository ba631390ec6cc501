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
