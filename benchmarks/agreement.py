"""Our timer beside triton.testing.do_bench and NVBench, on the same kernels of one GPU.

``python benchmarks/agreement.py --out FILE`` on a machine with a GPU, torch, triton and, where
wanted, NVBench's Python package (``cuda-bench``). Each generation is a process of its own; in it
our timer (twice: its own A/A; once more with do_bench's flush) and do_bench take turns for 8 rounds
of a cold cache, then NVBench measures the same kernels. Medians are compared by generation, as
verdicts are. A generation is kept as ``FILE.<n>.json`` and taken up again where an earlier try had
measured it.

do_bench's flush only writes: it leaves the L2 full of dirty lines, which the kernel has to write
back. Ours reads after writing. ``ours dirty`` is our timer after do_bench's flush: a difference
beside it has another cause. A late host is one suspect, since do_bench does not hold the device
until a call is queued.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.stats import (
    deviation,
    generation_log_ratios,
    mean,
    median,
    paired_log_ratio,
    student_t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.timers.cuda import CudaTimer

ROUNDS = 8
SAMPLES = 20
GENERATIONS = 3
AGREEMENT = 0.01
# Nothing within 1 % is asked of a kernel that our own timer does not repeat within half of that.
WIDEST_AA = 0.005
# NVBench holds the device until a call is queued: one that waits for the device would never return.
WAITING = frozenset({"Liger MoE forward"})


def kernels(torch: Any) -> dict[str, Callable[[], object]]:
    """Calls from about 10 µs to 2 ms, of one launch to several."""

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    functional = torch.nn.functional
    small, rows, wide = normal(1024, 1024), normal(8192, 4096), normal(4096, 32768)
    weight = normal(4096)
    square, large = normal(4096, 4096), normal(8192, 8192)
    calls: dict[str, Callable[[], object]] = {
        "copy 2 MB": small.clone,
        "RMSNorm 8192x4096": lambda: functional.rms_norm(rows, (4096,), weight, 1e-6),
        "softmax 4096x32768": lambda: torch.softmax(wide, -1),
        "GEMM 4096": lambda: square @ square,
        "GEMM 8192": lambda: large @ large,
    }
    return calls | grouped(torch, normal) | liger(torch, rows, weight)


def grouped(torch: Any, normal: Callable[..., Any]) -> dict[str, Callable[[], object]]:
    """torch's grouped GEMM over 64 experts of 1,024 rows."""
    x, w = normal(65536, 2048), normal(64, 2048, 1536)
    ends = torch.arange(1024, 65537, 1024, device="cuda", dtype=torch.int32)
    return {"grouped GEMM 64x1024": lambda: torch._grouped_mm(x, w, offs=ends)}


def liger(torch: Any, rows: Any, weight: Any) -> dict[str, Callable[[], object]]:
    """Liger's RMSNorm and fused MoE forward, where installed."""
    try:
        from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    except ImportError:
        return {}
    norm = {
        "Liger RMSNorm": lambda: LigerRMSNormFunction.apply(rows, weight, 1e-6, 0.0, "llama", False)
    }
    try:
        from kernelindex.runner.operations.moe_mlp.candidates import liger as liger_moe

        gate_up = torch.randn(64, 1536, 2048, device="cuda", dtype=torch.bfloat16) * 0.02
        down = torch.randn(64, 2048, 768, device="cuda", dtype=torch.bfloat16) * 0.02
        x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
        kept = torch.randn(8192, 64, device="cuda").topk(8)
        share, index = torch.softmax(kept.values, -1).bfloat16(), kept.indices.int()
        return norm | {"Liger MoE forward": lambda: liger_moe(x, gate_up, down, index, share)}
    except ImportError:
        return norm


def measure_generation(out: Path) -> None:
    """One process: every kernel by our timer, do_bench and NVBench; samples in ns."""
    import torch
    import triton.testing

    from kernelindex.runner.probe.timers.cuda import open_cuda_timer

    timer = open_cuda_timer(0)
    dirty = flush_like_do_bench(timer, triton.runtime.driver.active)
    timers = {"ours": timer, "ours again": timer, "ours dirty": dirty}
    calls = kernels(torch)
    found: dict[str, dict[str, Any]] = {}
    for name, call in calls.items():
        warm(torch, call)
        found[name] = take_turns(call, timers, triton.testing.do_bench)
    for name, samples in nvbench(torch, calls).items():
        found[name]["NVBench"] = [samples]
    unfinished = out.with_suffix(".part")
    unfinished.write_text(json.dumps(found))
    unfinished.replace(out)


def flush_like_do_bench(timer: CudaTimer, driver: Any) -> CudaTimer:
    """The same timer, calibration included, after the flush that triton's driver gives do_bench."""
    cache = driver.get_empty_cache_for_benchmark()
    dirty = copy(timer)
    dirty.flush = partial(driver.clear_cache, cache)
    dirty.flush_ns = cache.nbytes / 4000.0  # at 4 TB/s, as our own flush is taken to run
    return dirty


def take_turns(
    call: Callable[[], object],
    timers: dict[str, CudaTimer],
    do_bench: Callable[..., list[float]],
) -> dict[str, list[list[float]]]:
    """Rounds of samples by timer, in ns; ``timers`` take turns in their order, then do_bench."""
    ready = always(call)
    # Once a timer: both halves of the A/A are held alike.
    paces = {one: one.find_pace(ready, cold=True, sets=1) for one in dict.fromkeys(timers.values())}
    rounds: dict[str, list[list[float]]] = {key: [] for key in (*timers, "do_bench")}
    for _ in range(ROUNDS):
        for key, timer in timers.items():
            hold_ns, lead_ns = paces[timer].hold_ns, paces[timer].lead_ns
            taken = timer.take(SAMPLES, ready, cold=True, hold_ns=hold_ns, lead_ns=lead_ns)
            rounds[key].append(taken.samples_ns)
        rep = max(5, SAMPLES * median(rounds["ours"][-1]) / 1e6)
        times = do_bench(call, warmup=5, rep=rep, return_mode="all")
        rounds["do_bench"].append([1e6 * one for one in times])
    return rounds


def always(call: Callable[[], object]) -> Callable[[int], Callable[[], object]]:
    """The same call for every input set."""
    return lambda _: call


def warm(torch: Any, call: Callable[[], object]) -> None:
    """Compile and reach steady clocks."""
    for _ in range(20):
        call()
    torch.cuda.synchronize()


def nvbench(torch: Any, calls: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """NVBench's cold samples of each kernel, ns; nothing where it is not installed."""
    try:
        from cuda import bench
        from cuda.bench.results import BenchmarkResult
    except ImportError as error:
        print(f"NVBench not measured: {error}", file=sys.stderr)
        return {}
    calls = {name: call for name, call in calls.items() if name not in WAITING}
    for at, call in enumerate(calls.values()):
        bench.register(benchmark(torch, call)).set_name(f"k{at}")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/out.json"
        options = ["--jsonbin", path, "--min-samples", "100", "--timeout", "4"]
        bench.run_all_benchmarks(["agreement", *options])
        result = BenchmarkResult.from_json(path)
    return {
        name: [1e9 * float(one) for one in result[f"k{at}"][0].samples or ()]
        for at, name in enumerate(calls)
    }


def benchmark(torch: Any, call: Callable[[], object]) -> Callable[[Any], None]:
    """A kernel as NVBench wants it: on NVBench's own stream."""

    def run(state: Any) -> None:
        def launch(at: Any) -> None:
            stream = torch.cuda.ExternalStream(at.get_stream().addressof())
            with torch.cuda.stream(stream):
                call()

        state.exec(launch, batched=False)

    return run


def summarise(generations: list[dict[str, dict[str, list[list[float]]]]]) -> list[dict[str, Any]]:
    """A row a kernel: medians, our own A/A half-width, ratios with 95 % intervals, ``agrees``.

    Left out is what a generation lacks: NVBench, or our dirty rounds in one kept from before them.
    """
    rows = []
    for name in generations[0]:
        medians = {
            key: [[median(one) for one in found[name][key] if one] for found in generations]
            for key in generations[0][name]
            if all(key in found[name] for found in generations)
        }
        ours = medians["ours"]
        row: dict[str, Any] = {
            "kernel": name,
            "ours_ns": over_all(ours),
            "aa_half_width": paired_log_ratio(ours, medians["ours again"]).half_width(),
        }
        row["do_bench"] = ratio(paired_log_ratio(medians["do_bench"], ours))
        if dirty := medians.get("ours dirty"):
            row["ours_dirty_ns"] = over_all(dirty)
            row["do_bench_dirty"] = ratio(paired_log_ratio(medians["do_bench"], dirty))
            row["agrees"] = agrees(medians["do_bench"], dirty, row["aa_half_width"])
        if medians.get("NVBench") and all(medians["NVBench"]):
            row["NVBench"] = by_generation(medians["NVBench"], ours)
        rows.append(row)
    return rows


def over_all(medians: list[list[float]]) -> float:
    """The median round of all generations."""
    return median([value for rounds in medians for value in rounds])


def agrees(theirs: list[list[float]], ours: list[list[float]], aa_half_width: float) -> str:
    """Whether theirs is within 1 % of ours in every generation: a host is late in some alone."""
    if aa_half_width >= WIDEST_AA:
        return "not asked"
    ratios = [math.exp(one) for one in generation_log_ratios(theirs, ours)]
    return "yes" if all(abs(one - 1.0) <= AGREEMENT for one in ratios) else "no"


def ratio(estimate: Any) -> dict[str, float]:
    """Ratio to ours, and the half-width of its interval."""
    return {"ratio": 2.718281828459045**estimate.log_ratio, "half_width": estimate.half_width()}


def by_generation(theirs: list[list[float]], ours: list[list[float]]) -> dict[str, float]:
    """The same where only generations are paired."""
    ratios = [median(a) / median(b) for a, b in zip(theirs, ours, strict=True)]
    quantile = student_t_quantile(0.975, len(ratios) - 1)
    return {
        "ratio": mean(ratios),
        "half_width": quantile * deviation(ratios) / len(ratios) ** 0.5,
    }


def as_lines(rows: list[dict[str, Any]]) -> list[str]:
    """A Markdown table; ``*`` where our own A/A half-width is 0.5 % or more."""
    lines = [
        "| kernel | ours | own A/A half-width | do_bench / ours | ours dirty |"
        " do_bench / ours dirty | agrees | NVBench / ours |",
        "|---|---:|---:|---:|---:|---:|---|---:|",
    ]
    for row in rows:
        wide = " *" if row["aa_half_width"] >= WIDEST_AA else ""
        dirty = f"{row['ours_dirty_ns'] / 1e3:.1f} µs" if "ours_dirty_ns" in row else ""
        cells = [
            row["kernel"],
            f"{row['ours_ns'] / 1e3:.1f} µs",
            f"{row['aa_half_width']:.2%}{wide}",
            as_cell(row.get("do_bench")),
            dirty,
            as_cell(row.get("do_bench_dirty")),
            row.get("agrees", ""),
            as_cell(row.get("NVBench")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def as_cell(found: dict[str, float] | None) -> str:
    """A ratio and its half-width; nothing where it was not measured."""
    return f"{found['ratio']:.4f} ± {found['half_width']:.4f}" if found else ""


def main() -> int:
    """Measure the generations, write the samples and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--generation", action="store_true", help="measure one, in this process")
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    wanted = parser.parse_args()
    if wanted.generation:
        measure_generation(wanted.out)
        return 0
    generations = []
    for at in range(wanted.generations):
        part = wanted.out.with_suffix(f".{at}.json")
        command = [sys.executable, __file__, "--generation", "--out", str(part)]
        if not part.exists():
            subprocess.run(command, check=True, stdout=sys.stderr)
        generations.append(json.loads(part.read_text()))
    rows = summarise(generations)
    wanted.out.write_text(json.dumps({"rows": rows, "generations": generations}))
    print("\n".join(as_lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
