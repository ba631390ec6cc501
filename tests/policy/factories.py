"""Small makers of the values policy judges; every argument has an unremarkable default."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import Any

from kernelindex.policy.entries import Entry, build_entry, entry_key
from kernelindex.policy.facts import (
    Correctness,
    DeviceClass,
    Direction,
    Line,
    Observed,
    Primary,
    Profile,
    ProtocolSemantics,
    RunFacts,
    Shape,
    TimedPass,
)
from kernelindex.policy.samples import RoundMedians, Samples
from kernelindex.registry.hardware import Attainable, Product
from kernelindex.stats import Random

NATIVE = ProtocolSemantics(profile=Profile.SOURCE_NATIVE, name="do_bench")
CONTROLLED = ProtocolSemantics(profile=Profile.CONTROLLED, name="kernelindex", version="1")
SHAPE = Shape(
    operation="moe-mlp",
    family="moe",
    mapped=True,
    axes=(("experts", 64), ("tokens", 8192)),
    dtypes=(("x", "bf16"),),
)
H100 = DeviceClass(
    vendor="nvidia",
    product="H100 SXM5 80GB",
    family="H100",
    architecture="sm_90",
    product_id="h100-sxm5-80gb",
)
FLOOR = ((5_000.0, 0.02), (50_000.0, 0.0045), (500_000.0, 0.0025), (5_000_000.0, 0.0025))


def digest(text: str) -> str:
    """A digest that depends on ``text`` alone."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def make_line(name: str = "liger", *, restated: bool = False) -> Line:
    return Line(
        id=f"{name}/moe",
        title=name.title(),
        project=name,
        entry_point="moe",
        restated=restated,
        restates="transformers" if restated else None,
    )


def make_primary(value: float = 1000.0, **changes: Any) -> Primary:
    plain: dict[str, Any] = {
        "metric": "latency",
        "statistic": "median",
        "unit": "ns",
        "direction": Direction.LOWER,
    }
    return Primary(value=value, **(plain | changes))


def make_run(name: str = "liger", value: float = 1000.0, **changes: Any) -> RunFacts:
    """A passed, reported run of line ``name``; ``changes`` are fields of RunFacts."""
    plain: dict[str, Any] = {
        "digest": digest(f"{name} {value!r}"),
        "status": "passed",
        "primary": make_primary(value),
        "primary_problem": None,
        "spread": None,
        "interval": None,
        "sample_count": 10,
        "shape": SHAPE,
        "timed_pass": TimedPass.BACKWARD,
        "protocol": NATIVE,
        "correctness_key": digest("correctness"),
        "correctness": Correctness(asserted=True, comparator="allclose"),
        "device": H100,
        "line": make_line(name),
        "revision": "1.0",
        "implementation_digest": digest(name),
        "workload_digest": digest("workload"),
        "operation_digest": digest("operation"),
        "implementation_operation_digest": digest("operation"),
        "protocol_digest": digest("protocol"),
        "environment_digest": digest("environment"),
        "stack": (("cuda", "13.0"), ("torch", "2.11")),
        "source": "liger-kernel-bench",
        "observed": Observed(text="2026-04-02T00:00:00Z", zone="utc", date="2026-04-02"),
    }
    return RunFacts(**(plain | changes))


def on(date: str | None) -> Observed:
    return Observed(text=date or "", zone="utc", date=date)


def make_entry(name: str = "liger", value: float = 1000.0, **changes: Any) -> Entry:
    run = make_run(name, value, **changes)
    return build_entry(entry_key(run), [run])


def make_product(**changes: Any) -> Product:
    """A made-up GPU: 1000 TFLOP/s bf16, 3 TB/s, 50 MB of L2, a tick of 32 ns."""
    plain: dict[str, Any] = {
        "id": "h100-sxm5-80gb",
        "vendor": "nvidia",
        "name": "Made Up",
        "family": "H100",
        "architecture": "sm_90",
        "form_factor": "sxm5",
        "memory_bytes": 80 * 2**30,
        "peaks_flops": {"bf16": 1e15, "fp32": 60e12, "tf32": 500e12},
        "bandwidth_bytes_s": 3e12,
        "l2_bytes": 50_000_000,
        "power_watts": 700.0,
        "source": "made up",
        "attainable": {
            "bf16": Attainable(value=8e14, source="made up"),
            "copy": Attainable(value=2.4e12, source="made up"),
        },
        "tick_ns": 32,
    }
    return Product(**(plain | changes))


def make_rounds(
    random: Random,
    *,
    median_ns: float = 141_000.0,
    generations: int = 5,
    rounds: int = 8,
    between: float = 0.001,
    within: float = 0.001,
) -> RoundMedians:
    """Log-normal round medians: ``between`` generations and ``within`` them, log sd."""
    made = []
    for _ in range(generations):
        shift = between * random.normal()
        made.append(
            tuple(median_ns * math.exp(shift + within * random.normal()) for _ in range(rounds))
        )
    return tuple(made)


def make_samples(rounds: RoundMedians, **changes: Any) -> Samples:
    plain: dict[str, Any] = {
        "batch": "b1",
        "runner": "r1",
        "samples_per_round": 20,
        "floor": FLOOR,
        "tick_ns": 32.0,
    }
    return Samples(rounds=rounds, **(plain | changes))


def with_samples(entry: Entry, samples: Samples) -> Entry:
    """The entry as a controlled one; its value is the median of all round medians."""
    values = sorted(value for one in samples.rounds for value in one)
    run = replace(
        entry.representative,
        protocol=CONTROLLED,
        primary=make_primary(values[len(values) // 2]),
        samples=samples,
    )
    return replace(entry, runs=(run,), representative=run)
