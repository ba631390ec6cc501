"""Small plans over the fake programs, and running them."""

from __future__ import annotations

import sys
from pathlib import Path

from kernelindex.runner.plan import Candidate, Plan, Point, Rules
from kernelindex.runner.worker.batch import Batch, Options, open_bench
from kernelindex.runner.worker.bench import Programs

HERE = Path(__file__).parent
QUICK = {
    "generations": 2,
    "max_generations": 2,
    "rounds": 2,
    "round_seconds": 0.001,
    "min_samples": 2,
    "max_samples": 5,
    "warmup_seconds": 0.0,
    "switch_warmup_calls": 0,
    "switch_warmup_seconds": 0.0,
    "rotation_sets": 2,
    "load": ("sustained",),
    "burst_samples": 2,
    "burst_idle_seconds": 0.0,
    "command_timeout_seconds": 60.0,
    "checks_per_generation": 1,
    "pad_bytes": 100,
}


def fake_programs() -> Programs:
    python = (sys.executable, "-P")
    return Programs((*python, str(HERE / "fake_probe.py")), (*python, str(HERE / "fake_judge.py")))


def make_plan(*behaviours: str, passes=("forward",), points=1, budget=900.0, **rules) -> Plan:
    candidates = tuple(
        Candidate(id=one, entry=f"support:{one}", passes=tuple(passes)) for one in behaviours
    )
    made = [
        Point(
            id=f"point-{number}",
            operation="rms-norm",
            axes={"rows": 4},
            dtypes={"x": "fp32"},
            passes=tuple(passes),
            candidates=candidates,
            draws=("own", "stress"),
        )
        for number in range(points)
    ]
    return Plan(
        number=3,
        runner="test-runner",
        device="cpu",
        points=tuple(made),
        time_budget_seconds=budget,
        rules=Rules(**{**QUICK, **rules}),
    )


def open_plan(plan: Plan, folder: Path, kinds=("limits",)) -> Batch:
    chosen = Options(programs=fake_programs(), kinds=kinds, scratch=folder.parent)
    return Batch.take_up(open_bench(plan, folder.parent, folder, chosen))


def run_plan(plan: Plan, folder: Path, kinds=("limits",)) -> tuple[str, Batch]:
    batch = open_plan(plan, folder, kinds)
    return batch.run(), batch
