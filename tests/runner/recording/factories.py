"""Hand-made batch folders, as the worker writes them: what recording and ingesting read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from kernelindex.runner import batch_files, bound_files
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.planning import Ask, choose_point
from kernelindex.runner.protocols import build_plan
from kernelindex.stats import Random
from kernelindex.whole_file import write_whole
from tests.support.selfchecks import make_selfcheck

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.runner.plan import Plan, Point

SEED = "0123456789abcdef"
COMMITMENT = f"sha256:{hashlib.sha256(SEED.encode()).hexdigest()}"
TIMES_NS = {
    "pytorch/RMSNorm": 200_000.0,
    "pytorch/compile/RMSNorm": 120_000.0,
    "kernelindex/numpy-rms-norm": 900_000.0,
}
CPU_FACTS: dict[str, Any] = {
    "python": "3.12.3",
    "torch": "2.11.0",
    "operating_system": "Example Linux 12",
    "kernel": "Linux 6.1.0",
    "cpu": {
        "model": "Intel(R) Example 9000",
        "logical_cores": 2,
        "memory_bytes": 8 << 30,
    },
    "threads": 2,
    "timer": {"tick_ns": 21.0},
    "global_flags": {"matmul_allow_tf32": False},
    "environment_variables": {"OMP_NUM_THREADS": "2"},
    "packages": {"torch": "2.11.0", "numpy": "2.3.0"},
    "isolation": {"kind": "namespaces"},
}
GPU_FACTS: dict[str, Any] = {
    **CPU_FACTS,
    "cuda": "13.0",
    "driver": "580.65",
    "triton": "3.6.0",
    "gpu": {
        "name": "NVIDIA H200",
        "uuid_hash": f"sha256:{'0f' * 32}",
        "sm": "sm_90",
        "sms": 132,
        "memory_bytes": 150_754_820_096,
        "l2_bytes": 62_914_560,
        "tick_ns": 32.0,
        "power_limit_w": 700.0,
        "default_power_limit_w": 700.0,
        "ecc_enabled": True,
        "mig": False,
        "form_factor": "SXM",
        "clock_policy": "default",
    },
}


def make_plan(*, device: str = "cpu", number: int = 1, **ask: Any) -> Plan:
    """RMSNorm at 512 x 1024 with every candidate there is for the device."""
    stated = {"operation": "rms-norm", "axes": {"tokens": 512, "hidden": 1024}, "device": device}
    point = choose_point(Ask(**{**stated, **ask})).point
    return build_plan([point], runner="tests", number=number, device=device, protocol="quick")


def make_batch(
    folder: Path, plan: Plan | None = None, *, base_ns: float | None = None, **changes: Any
) -> Path:
    """A complete batch folder of a plan; ``changes`` replace parts of every series.

    ``base_ns`` is the forward time of every candidate where it is given.
    """
    plan = plan or make_plan()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / batch_files.PLAN, plan_to_json(plan).encode())
    journal = batch_files.Journal(folder)
    journal.write("started", commitment=COMMITMENT)
    facts = CPU_FACTS if plan.device == "cpu" else GPU_FACTS
    batch_files.write_json(folder / batch_files.FACTS, facts)
    batch_files.write_json(folder / batch_files.CALIBRATION, make_calibration(plan.device))
    number = 0
    for point in plan.points:
        for series in make_series(plan, point, base_ns):
            path = folder / batch_files.SERIES / f"{number}.json.gz"
            batch_files.write_json(path, {**series, **changes})
            number += 1
    batch_files.write_json(folder / batch_files.SEED, {"seed": SEED, "commitment": COMMITMENT})
    return end_batch(folder)


def end_batch(folder: Path, *, bound: bool = True, **changes: Any) -> Path:
    """End a batch as the worker does, in place of an end that its journal has.

    Not ``bound``: as workers did before the last line named the files.
    """
    path = folder / batch_files.JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(one for one in lines if b'"event":"ended"' not in one))
    journal = batch_files.Journal(folder)
    ended = {"status": "complete", "missing": [], **changes}
    files = {"files": bound_files.file_digests(folder)} if bound else {}
    journal.write("ended", **ended, **files)
    outcome = bound_files.outcome_of(ended, journal.lines, journal.head)
    batch_files.write_json(folder / batch_files.OUTCOME, outcome)
    return folder


def make_series(plan: Plan, point: Point, base_ns: float | None) -> list[dict[str, Any]]:
    """Every candidate in every pass and regime of the plan's rules."""
    rules = plan.rules
    return [
        one_series(point, candidate.id, timed_pass, cache, load, place, base_ns)
        for place, candidate in enumerate(point.candidates)
        for timed_pass in candidate.passes
        for cache in rules.cache
        for load in rules.load
    ]


def one_series(
    point: Point,
    candidate: str,
    timed_pass: str,
    cache: str,
    load: str,
    place: int,
    base_ns: float | None,
) -> dict[str, Any]:
    base = base_ns or TIMES_NS.get(candidate, 150_000.0 * (place + 1))
    base *= {"forward": 1.0, "backward": 2.0, "full": 3.0}.get(timed_pass, 1.0)
    outputs = {"y": {"passed": True, "finite": True, "frobenius": 1e-7, "worst_row": 2e-7}}
    if timed_pass in ("backward", "full"):
        outputs["grad_x"] = {"passed": True, "finite": True, "frobenius": 2e-7}
    return {
        "point": point.id,
        "candidate": candidate,
        "pass": timed_pass,
        "cache": cache,
        "load": load,
        "execution": "eager",
        "samplesNs": make_samples(base, place),
        "status": "passed",
        "reason": "",
        "text": "",
        "correctness": {"outputs": outputs, "draws": list(point.draws), "timedCallsChecked": 3},
        "trace": {
            "kernels": [{"name": "rms_norm_kernel", "share": 0.9, "launches": 1}],
            "busy_ratio": 0.97,
            "launches": 2,
        },
        "traits": {
            "peak_bytes": 4096,
            "deterministic": True,
            "setup_ns": 0,
            "energy": {"joules_per_call": 0.25, "watts": 400.0, "calls": 10},
        },
        "telemetry": [
            [{"sm_mhz": {"minimum": 1900, "maximum": 1980}, "power_w": {"median": 400.5}}]
        ],
        "firstCallNs": 5_000_000,
        "loaded": {
            "source_digest": f"sha256:{hashlib.sha256(candidate.encode()).hexdigest()}",
            "packages": {"torch": "2.11.0", "numpy": "2.3.0"},
        },
        "doubts": [],
    }


def make_samples(base_ns: float, place: int, noise: float = 0.002) -> list[list[list[float]]]:
    """3 generations of 8 rounds of 5 samples round a time, the same every time."""
    random = Random(7 + place)
    return [
        [[base_ns * (1 + noise * random.normal()) for _ in range(5)] for _ in range(8)]
        for _ in range(3)
    ]


def make_calibration(device: str = "cpu", **changes: Any) -> dict[str, Any]:
    random = Random(3)
    rounds = [[500_000.0 * (1 + 0.002 * random.normal()) for _ in range(8)] for _ in range(3)]
    return {
        "withinLimits": True,
        "selfchecks": [make_selfcheck(device)],
        "floor": [[5e3, 0.05], [5e4, 0.02], [5e5, 0.01], [5e6, 0.01]],
        "tickNs": 1.0,
        "anchor": {"id": "kernelindex/anchor-matmul", "medians": rounds},
        **changes,
    }
