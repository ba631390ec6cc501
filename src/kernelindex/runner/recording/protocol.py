"""The rules of a plan as protocols: one for each pass and regime, nothing that was realised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.manifests import Manifest, parse
from kernelindex.policy.reading import CONTROLLED_HARNESS
from kernelindex.runner.plan import GRADIENT_PASSES
from kernelindex.runner.recording.workload import COMPARATOR, V2

if TYPE_CHECKING:
    from kernelindex.runner.plan import Plan, Point, Rules
    from kernelindex.runner.regimes import Regime

NAME = "kernelindex-controlled"
VERSION = 1
DRAWS = {"empty": "empty_group", "overfull": "overfull_group"}
FLUSH_MULTIPLE = 3
SECOND_NS = 1_000_000_000
CONFIDENCE = 0.95


def build_protocol(plan: Plan, point: Point, regime: Regime, *, spins: bool = False) -> Manifest:
    """The BenchmarkProtocol of one pass in one regime.

    ``plan.material["emulates"]`` names the source's protocol that a batch follows in place
    of ours; it is then a protocol of its own and its numbers never rank with ours. ``spins``:
    the device could fill no gap with work, whatever the plan says.
    """
    rules, on_device = plan.rules, plan.device != "cpu"
    emulated = plan.material.get("emulates")
    worked = on_device and not spins and is_worked(rules, regime)
    spec: dict[str, Any] = {
        "harness": {"name": CONTROLLED_HARNESS, "version": _version(emulated, worked=worked)},
        "measurement": _measurement(rules, on_device=on_device),
        "correctness": {
            "reference": "the operation's reference in fp32 or fp64 on the same input values",
            "comparator": COMPARATOR,
        },
        "timedPass": regime.timed_pass,
        "controlled": {"name": _name(emulated), "version": VERSION},
        "timedRegion": {"includes": _region(point, regime, on_device=on_device)},
        "cache": _cache(regime, on_device=on_device),
        "load": _load(rules, regime),
        "execution": regime.execution,
        "process": {
            "model": "fresh_per_generation",
            "generations": rules.generations,
            "randomPadding": rules.pad_bytes > 0,
            "isolated": True,
        },
        "interleaving": {
            "order": "balanced",
            "rounds": rules.rounds,
            "switchWarmupSamples": rules.switch_warmup_calls,
            "anchor": "per_candidate",
        },
        "stopping": _stopping(plan),
        "warmup": {
            "until": "steady",
            "minimumIterations": rules.warmup_calls,
            "minimumDuration": _ns(rules.warmup_seconds),
            "steady": ["samples", "compile_cache"],
        },
        "inputs": _inputs(rules, regime),
        "checks": {
            "draws": sorted(DRAWS.get(draw, draw) for draw in point.draws),
            "timedCalls": rules.checks_per_generation > 0,
        },
        "queueFilled": on_device,
        "traced": on_device,
    }
    if regime.timed_pass in GRADIENT_PASSES:
        spec |= {"gradients": point.gradients, "gradientBuffers": point.gradient_buffers}
    metadata = {
        "name": _slug(emulated, regime, point, worked=worked),
        "title": _title(emulated, regime, worked=worked),
    }
    kind = "BenchmarkProtocol"
    return parse({"apiVersion": V2, "kind": kind, "metadata": metadata, "spec": spec})


def is_worked(rules: Rules, regime: Regime) -> bool:
    """Whether gaps before calls on a device held work and no spin (docs/adr/0015)."""
    return rules.gaps == "worked" and regime.load == "sustained" and regime.cache == "cold"


def _version(emulated: Any, *, worked: bool) -> str:
    """The harness's version, in the cohort's key: what differs in meaning never ranks together.

    A run whose gaps are spun, every burst among them, keeps the version it always had.
    """
    ways = [f"as {emulated}"] * (emulated is not None) + ["gaps worked"] * worked
    return ", ".join((str(VERSION), *ways))


def _measurement(rules: Rules, *, on_device: bool) -> dict[str, Any]:
    return {
        "timer": "cuda_events" if on_device else "host_monotonic",
        "synchronization": "device synchronised after each round" if on_device else "call returns",
        "compileIncluded": False,
        "setupIncluded": False,
        "warmupIterations": rules.warmup_calls,
        "warmupDuration": _ns(rules.warmup_seconds),
        "measuredIterations": 1,
        "inputRegeneration": "rotating sets, rolled by an offset drawn for each round",
        "outlierPolicy": "none: every sample is kept",
        "primaryStatistic": "median",
    }


def _region(point: Point, regime: Regime, *, on_device: bool) -> list[str]:
    found = ["allocation"]
    trains = regime.timed_pass in GRADIENT_PASSES
    if trains and (point.gradient_buffers == "accumulated" or point.gradients == "non_leaf"):
        found.append("gradient_accumulation")
    if not on_device:
        found.append("host_work")
    return sorted(found)


def _cache(regime: Regime, *, on_device: bool) -> dict[str, Any]:
    if regime.cache == "hot":
        return {"regime": "hot"}
    reset = {"persistingLinesReset": True} if on_device else {}
    return {"regime": "cold", "flushMultiple": FLUSH_MULTIPLE, **reset}


def _load(rules: Rules, regime: Regime) -> dict[str, Any]:
    if regime.load == "burst":
        return {"regime": "burst", "idleBefore": _ns(rules.burst_idle_seconds)}
    switched = _ns(rules.switch_warmup_seconds)
    return {
        "regime": "sustained",
        "minimumSamples": rules.min_samples,
        "minimumDuration": switched + _ns(rules.round_seconds),
    }


def _stopping(plan: Plan) -> dict[str, Any]:
    rules = plan.rules
    rule = "interval_width" if rules.max_generations > rules.generations else "time"
    found: dict[str, Any] = {"rule": rule, "minimumRounds": rules.rounds}
    if rule == "interval_width":
        target = rules.half_width_target
        found |= {"relativeHalfWidth": target, "confidence": CONFIDENCE}
    return found | {"maximumDuration": _ns(plan.time_budget_seconds)}


def _inputs(rules: Rules, regime: Regime) -> dict[str, Any]:
    found: dict[str, Any] = {"sets": rules.rotation_sets, "seed": "drawn_per_batch"}
    if regime.timed_pass in GRADIENT_PASSES:
        found["upstreamGradient"] = "rotating" if rules.rotation_sets > 1 else "constant"
    found["weights"] = "constant" if regime.timed_pass == "inference" else "refreshed"
    return found


def _ns(seconds: float) -> int:
    return round(seconds * SECOND_NS)


def _name(emulated: Any) -> str:
    return NAME if emulated is None else f"{NAME}-as-{emulated}"


def _slug(emulated: Any, regime: Regime, point: Point, *, worked: bool) -> str:
    parts = [_name(emulated), f"v{VERSION}", regime.timed_pass, regime.cache, regime.load]
    trains = regime.timed_pass in GRADIENT_PASSES
    training = [point.gradients, point.gradient_buffers] if trains else []
    gaps = ["worked-gaps"] * worked
    return "-".join([*parts, regime.execution, *training, *gaps]).replace("_", "-")


def _title(emulated: Any, regime: Regime, *, worked: bool) -> str:
    whose = "KernelIndex controlled" if emulated is None else f"KernelIndex, as {emulated}"
    gaps = ", gaps worked" * worked
    return f"{whose} v{VERSION} · {regime.timed_pass}, {regime.cache}, {regime.load}{gaps}"
