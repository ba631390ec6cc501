"""The rules the H200 numbers were taken by: two methods, three passes."""

from __future__ import annotations

from functools import cache
from typing import Any

from kernelindex.manifests import Manifest, parse

__all__ = ["build_protocol"]

V2 = "kernelindex.dev/v1alpha2"
L2_FLUSH_BYTES = 256 << 20
IDLE_BEFORE_NS = 1_200_000_000

_TIMED = {
    "forward": "the module's call",
    "backward": "y.backward(dO, retain_graph=True) for one fixed random dO, forward outside",
    "full": "the call and y.backward(dO, retain_graph=True), dO drawn inside",
}
_METHODS: dict[str, dict[str, Any]] = {
    "interleaved": {
        "title": "interleaved, sustained",
        "notes": "Two or three rounds, candidates in turn and in reverse in every other round "
        "of one process; 1.2 s idle, 10 samples, then the 250 that count. The result is the "
        "median of the rounds' medians.",
        "measurement": {"samples": 250},
        "load": {"regime": "sustained", "minimumSamples": 250, "idleBefore": IDLE_BEFORE_NS},
        "process": {"model": "shared"},
        "interleaving": {"order": "balanced", "rounds": 2, "anchor": "none"},
    },
    "loop": {
        "title": "plain loop",
        "notes": "One candidate after the other in one process, 40 samples after three calls: the "
        "load lies between burst and sustained and is not stated as either.",
        "measurement": {"samples": 40, "warmupIterations": 3},
        "process": {"model": "shared"},
        "interleaving": {"order": "none"},
    },
}


@cache
def build_protocol(method: str, timed_pass: str) -> Manifest:
    """The protocol of one method and pass."""
    rules = _METHODS[method]
    includes = ["random_numbers"] if timed_pass == "full" else []
    spec: dict[str, Any] = {
        "harness": {"name": f"KernelIndex MoE scripts, {method}", "version": "2026-11-30"},
        "measurement": {
            "timer": "cuda_events",
            "synchronization": "once after all samples",
            "compileIncluded": False,
            "setupIncluded": False,
            "primaryStatistic": "median",
            **rules["measurement"],
        },
        "correctness": {
            "reference": "fp32 (TF32 off) on the same bf16 values, another draw of equal shape",
            "comparator": "relative_frobenius",
        },
        "comparability": {
            "family": "kernelindex_h200_2026_11",
            "notes": f"Timed: {_TIMED[timed_pass]}. {rules['notes']}",
        },
        "timedPass": timed_pass,
        "timedRegion": {"includes": includes},
        "cache": {"regime": "cold", "flushBytes": L2_FLUSH_BYTES},
        "execution": "eager",
        "stopping": {"rule": "fixed_samples"},
        "inputs": {"sets": 1, "seed": "fixed"},
        **{key: rules[key] for key in ("load", "process", "interleaving") if key in rules},
    }
    if timed_pass != "forward":
        spec |= {"gradients": "leaf", "gradientBuffers": "fresh"}
    if timed_pass == "backward":
        spec["inputs"]["upstreamGradient"] = "constant"
    metadata = {
        "name": f"kernelindex-h200-2026-11-{method}-{timed_pass}",
        "title": f"KernelIndex H200 scripts · {timed_pass} pass, {rules['title']}",
    }
    return parse(
        {"apiVersion": V2, "kind": "BenchmarkProtocol", "metadata": metadata, "spec": spec}
    )
