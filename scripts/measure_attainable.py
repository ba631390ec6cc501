"""Measure what a GPU attains on dense matrix products and a copy, and its timer's tick.

    python scripts/measure_attainable.py > attainable.json

Runs alone (torch only, no kernelindex). Two regimes: ``burst`` is the best median of the
first 10 samples after 1.5 s idle over three rounds, ``sustained`` the median of 250 samples
back to back. The figures go to ``registry/data/hardware.json`` by hand, with their date.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

SIDE = 8192
COPY_BYTES = 2**30


def sample_ms(call: Callable[[], object], count: int) -> list[float]:
    """Device event times of ``count`` calls in ms; queued before any is read."""
    events = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
        for _ in range(count)
    ]
    for start, stop in events:
        start.record()
        call()
        stop.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(stop) for start, stop in events]


def measure(call: Callable[[], object], work: float) -> dict[str, float]:
    """Work per second in both regimes; ``work`` is FLOP or bytes of one call."""
    sample_ms(call, 5)
    bursts = []
    for _ in range(3):
        time.sleep(1.5)
        bursts.append(statistics.median(sample_ms(call, 10)))
    sustained = statistics.median(sample_ms(call, 250))
    return {"burst": work / min(bursts) * 1e3, "sustained": work / sustained * 1e3}


def matmul(dtype: torch.dtype) -> Callable[[], object]:
    """A square product of ``SIDE`` in this dtype; fp8 with unit scales into bf16."""
    if dtype is torch.float8_e4m3fn:
        left = torch.randn(SIDE, SIDE, device="cuda").to(dtype)
        right = torch.randn(SIDE, SIDE, device="cuda").to(dtype).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(left, right, one, one, out_dtype=torch.bfloat16)
    left = torch.randn(SIDE, SIDE, device="cuda", dtype=dtype)
    right = torch.randn(SIDE, SIDE, device="cuda", dtype=dtype)
    out = torch.empty_like(left)
    return lambda: torch.mm(left, right, out=out)


def measure_tick_ns() -> dict[str, object]:
    """The greatest step that divides most event times, and the share that it divides."""
    buffers = [torch.empty(n, device="cuda") for n in range(1000, 3_000_000, 30_011)]
    times = [round(t * 1e6) for b in buffers for t in sample_ms(b.zero_, 40)]
    steps = {step: sum(t % step in (0, 1, step - 1) for t in times) for step in (16, 32, 64, 1024)}
    return {
        "samples": len(times),
        "gcd_ns": math.gcd(*times),
        "share": {str(step): round(hits / len(times), 3) for step, hits in steps.items()},
    }


def main() -> int:
    """Print the figures as JSON."""
    properties = torch.cuda.get_device_properties(0)
    flops = 2.0 * SIDE**3
    rates = {
        name: measure(matmul(dtype), flops)
        for name, dtype in (
            ("bf16", torch.bfloat16),
            ("fp16", torch.float16),
            ("fp8_e4m3fn", torch.float8_e4m3fn),
            ("fp32", torch.float32),
            ("fp64", torch.float64),
        )
    }
    torch.backends.cuda.matmul.allow_tf32 = True
    rates["tf32"] = measure(matmul(torch.float32), flops)
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    rates["copy"] = measure(lambda: target.copy_(source), 2.0 * COPY_BYTES)
    found = {
        "name": properties.name,
        "total_memory": properties.total_memory,
        "l2_bytes": properties.L2_cache_size,
        "torch": torch.__version__,
        "rates": rates,
        "tick": measure_tick_ns(),
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
