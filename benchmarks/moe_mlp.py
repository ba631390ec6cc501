"""Compares expert MLPs on one GPU: every candidate that imports, interleaved, in two load regimes.

    python benchmarks/moe_mlp.py --out results.json                # everything, about six minutes
    python benchmarks/moe_mlp.py --only ours,liger --sections interleaved,errors

Workload of record: T = 8192, H = 2048, I = 768, E = 64, K = 8, bf16, weights as leaf tensors.
Every sample: L2 flushed, gradients dropped, CUDA events. `burst` is the median of the first 10
samples after 1.2 s of idleness, `sustained` that of about 250 in a row; energy is the board's over
a loop of its own. Candidates alternate inside each round and the order turns from round to round.
Runs from a bare copy of the tree with PyTorch, Triton and nvidia-ml-py.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import torch  # noqa: E402

from moe_mlp_candidates import (  # noqa: E402
    CANDIDATES,
    DISTRIBUTIONS,
    Forward,
    Inputs,
    compile_liger,
    start_liger_workers,
)

RECORD = (8192, 64, 2048, 768, 8)
PASSES = ("forward", "backward", "full")
FAST = ("ours", "sonic", "liger", "torch_grouped_mm")
GRAPHS = ("ours", "sonic")  # Liger's capture fails, and a failed capture spoils the process
TENSORS = ("out", "dx", "dgate_up", "ddown", "dweights")
FLUSH_BYTES = 256 * 2**20


def draw(
    tokens: int,
    experts: int,
    hidden: int,
    inter: int,
    top_k: int,
    seed: int = 42,
    skew: bool = False,
    grad: bool = True,
) -> Inputs:
    """Inputs drawn in the order of Liger's script; skewed, expert e has weight 1 / (e + 1)."""
    torch.manual_seed(seed)
    make = {"dtype": torch.bfloat16, "device": "cuda"}
    x = torch.randn(tokens, hidden, **make)
    gate_up = torch.randn(experts, 2 * inter, hidden, **make) * 0.02
    down = torch.randn(experts, hidden, inter, **make) * 0.02
    logits = torch.randn(tokens, experts, device="cuda")
    if skew:
        order = torch.arange(1, experts + 1, device="cuda").float()
        gumbel = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
        logits = gumbel - order.log()
    index = logits.topk(top_k, dim=-1).indices.to(torch.int32)
    w = torch.softmax(logits.gather(1, index.long()), dim=-1).to(torch.bfloat16)
    for leaf in (x, gate_up, down, w):
        leaf.requires_grad_(grad)
    return x, gate_up, down, index, w


def leaves(inputs: Inputs) -> list[torch.Tensor]:
    return [inputs[0], inputs[1], inputs[2], inputs[4]]


def reference(inputs: Inputs, dy: torch.Tensor) -> list[torch.Tensor]:
    """Output and gradients in fp32 from the inputs' values."""
    from kernelindex.kernels.moe_mlp import reference as plain

    x, gate_up, down, index, w = (
        t.detach().float() if t.is_floating_point() else t for t in inputs
    )
    with torch.no_grad():
        out = plain.forward(x, gate_up, down, index, w)
        return [out, *plain.backward(dy.float(), x, gate_up, down, index, w)]


class Timer:
    """Times calls with a cold L2 and reads the board's energy."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self.nvml = pynvml
        self.board = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")

    def samples(self, call: Callable[[], Any], grads: list[torch.Tensor], n: int) -> list[float]:
        """Milliseconds of n calls."""
        events = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(n)
        ]
        for start, stop in events:
            for grad in grads:
                grad.grad = None
            self.flush.zero_()
            start.record()
            call()
            stop.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(stop) for start, stop in events]

    def warmed(self, call: Callable[[], Any], grads: list[torch.Tensor], n: int) -> list[float]:
        """Milliseconds of n calls after two that are not timed."""
        for _ in range(2):
            call()
        return [round(one, 4) for one in self.samples(call, grads, n)]

    def regimes(self, call: Callable[[], Any], grads: list[torch.Tensor]) -> dict[str, Any]:
        """Burst and sustained medians, energy, clock and power of one candidate's pass."""
        torch.cuda.synchronize()
        time.sleep(1.2)
        burst = self.samples(call, grads, 10)
        n = max(10, min(250, int(1200 / statistics.median(burst))))
        sustained = self.samples(call, grads, n)
        return {"burst_ms": burst, "sustained_ms": sustained, **self.energy(call, grads)}

    def energy(self, call: Callable[[], Any], grads: list[torch.Tensor]) -> dict[str, float]:
        """Millijoules a call over at least 0.5 s without flushes; the counter ticks every 0.1 s."""
        torch.cuda.synchronize()
        before, begin, calls = self._joules(), time.perf_counter(), 0
        while time.perf_counter() - begin < 0.5:
            for grad in grads:
                grad.grad = None
            for _ in range(8):
                call()
            torch.cuda.synchronize()
            calls += 8
        seconds = time.perf_counter() - begin
        clock = self.nvml.nvmlDeviceGetClockInfo(self.board, self.nvml.NVML_CLOCK_SM)
        spent = self._joules() - before
        return {"energy_mj": 1e3 * spent / calls, "power_w": spent / seconds, "sm_mhz": clock}

    def _joules(self) -> float:
        return self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.board) / 1e3


def make_passes(forward: Forward) -> dict[str, Callable[[], Any]]:
    """Forward alone; backward of one forward outside for a fixed gradient; both."""
    y = forward()
    dy = torch.randn_like(y)

    def full() -> None:
        out = forward()
        out.backward(torch.randn_like(out), retain_graph=True)

    return {
        "forward": forward,
        "backward": lambda: y.backward(dy, retain_graph=True),
        "full": full,
    }


def start_candidates(names: list[str], inputs: Inputs, results: dict[str, Any]) -> dict[str, Any]:
    """The candidates that import and run, with their first call's seconds and peak memory."""
    ready = {}
    for name in names:
        for leaf in leaves(inputs):
            leaf.grad = None
        torch.cuda.empty_cache()
        begin = time.perf_counter()
        try:
            forward = CANDIDATES[name](*inputs)
            y = forward()
            y.backward(torch.randn_like(y))
            torch.cuda.synchronize()
            first = time.perf_counter() - begin
            results[name] = {"first_call_s": round(first, 2), **peak_memory(forward, inputs)}
            ready[name] = make_passes(forward)
        except Exception as error:  # a candidate that is not installed or does not run
            results[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(f"start {name}: {results[name]}", flush=True)
    return ready


def peak_memory(forward: Forward, inputs: Inputs) -> dict[str, int]:
    """Bytes above the inputs: at the peak of forward and backward, and kept between them."""
    for leaf in leaves(inputs):
        leaf.grad = None
    torch.cuda.synchronize()
    base = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    y = forward()
    saved = torch.cuda.memory_allocated() - base
    y.backward(torch.randn_like(y))
    torch.cuda.synchronize()
    return {"peak_bytes": torch.cuda.max_memory_allocated() - base, "saved_bytes": saved}


def run_interleaved(timer: Timer, names: list[str], rounds: int, results: dict[str, Any]) -> None:
    """Rounds of every pass and candidate, the order turning; slow candidates in the first only."""
    inputs = draw(*RECORD)
    ready = start_candidates(names, inputs, results)
    for number in range(rounds):
        for name_of_pass in PASSES:
            order = list(ready) if number % 2 == 0 else list(ready)[::-1]
            for name in order:
                if number and name not in FAST:
                    continue
                sample = timer.regimes(ready[name][name_of_pass], leaves(inputs))
                results[name].setdefault(name_of_pass, []).append(sample)
    for name in ready:
        results[name]["medians"] = {p: summarise(results[name][p]) for p in PASSES}
        print(name, json.dumps(results[name]["medians"]), flush=True)


def summarise(rounds: list[dict[str, Any]]) -> dict[str, float]:
    """Median over rounds of each round's median."""
    return {
        key: round(
            statistics.median(
                statistics.median(r[key]) if isinstance(r[key], list) else r[key] for r in rounds
            ),
            4,
        )
        for key in rounds[0]
    }


def run_errors(names: list[str], results: dict[str, Any]) -> None:
    """Relative Frobenius error of every tensor against fp32, three draws, and repeated bits."""
    for seed in (7, 8, 9):
        inputs = draw(*RECORD, seed=seed)
        dy = torch.randn_like(inputs[0])
        wanted = reference(inputs, dy)
        for name in names:
            try:
                first = gradients(CANDIDATES[name](*inputs), inputs, dy)
                again = gradients(CANDIDATES[name](*inputs), inputs, dy)
            except Exception as error:
                results.setdefault(name, {})["error"] = str(error)[:300]
                continue
            entry = results.setdefault(name, {})
            for label, got, ref in zip(TENSORS, first, wanted, strict=True):
                norm = (got.float() - ref).norm() / ref.norm()
                entry.setdefault(label, []).append(float(f"{norm.item():.4g}"))
            same = all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
            entry.setdefault("same_bits", []).append(same)
    print("errors", json.dumps(results), flush=True)


def gradients(forward: Forward, inputs: Inputs, dy: torch.Tensor) -> list[torch.Tensor]:
    for leaf in leaves(inputs):
        leaf.grad = None
    y = forward()
    y.backward(dy)
    return [y.detach(), *(leaf.grad.detach().clone() for leaf in leaves(inputs))]


def run_sweep(timer: Timer, names: list[str], deadline: float, results: dict[str, Any]) -> None:
    """One skewed routing, T at E = 128, E at T = 8192; milliseconds of each pass, eager.

    The points that say most come first; a candidate that twice compiled for 20 s is left out after.
    """
    _, _, hidden, inter, top_k = RECORD
    points = [(8192, 64, True), (256, 128, False), (1024, 128, False), (8192, 8, False)]
    points += [(t, 128, False) for t in (8192, 1, 128, 32768, 16, 512, 4, 64, 2048, 4096)]
    points += [(8192, e, False) for e in (16, 32, 64)]
    slow = dict.fromkeys(names, 0)
    for tokens, experts, skew in points:
        entry = results.setdefault(f"T={tokens} E={experts}{' skewed' if skew else ''}", {})
        inputs = draw(tokens, experts, hidden, inter, top_k, skew=skew)
        for name in names:
            begin = time.perf_counter()
            if begin > deadline or slow[name] > 1:
                entry[name] = {"error": "out of time" if begin > deadline else "compiles too long"}
                continue
            entry[name] = sweep_point(timer, name, inputs, graph=tokens <= 1024 and name in GRAPHS)
            slow[name] += time.perf_counter() - begin > 20
        for name in reversed([n for n in names if "error" not in entry[n]]):
            if time.perf_counter() > deadline:
                entry[name]["second_turn"] = "out of time"
            else:
                add_turn(entry[name], sweep_point(timer, name, inputs, graph=False))
        line = {
            n: [shown(v[p]) for p in (*PASSES, "graph_forward") if p in v] for n, v in entry.items()
        }
        print(f"T={tokens} E={experts} skew={skew}", json.dumps(line), flush=True)
        del inputs
        torch.cuda.empty_cache()


def add_turn(entry: dict[str, Any], again: dict[str, Any]) -> None:
    """Samples of a second turn, in the opposite order, beside those of the first."""
    if "error" in again:
        entry["second_turn"] = again["error"]
        return
    for name_of_pass in PASSES:
        entry[name_of_pass] += again[name_of_pass]


def shown(found: list[float] | float | str) -> float | str:
    """The median of samples; anything else as it is."""
    return round(statistics.median(found), 4) if isinstance(found, list) else found


def sweep_point(timer: Timer, name: str, inputs: Inputs, graph: bool) -> dict[str, Any]:
    """Samples of each pass, in ms."""
    try:
        forward = CANDIDATES[name](*inputs)
        entry: dict[str, Any] = {
            p: timer.warmed(call, leaves(inputs), 20) for p, call in make_passes(forward).items()
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    if graph:
        entry["graph_forward"] = graph_forward(timer, forward)
    return entry


def graph_forward(timer: Timer, forward: Forward) -> float | str:
    """Milliseconds of a forward replayed from a CUDA graph, without gradients."""
    try:
        with torch.no_grad():
            forward()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                forward()
        return round(statistics.median(timer.warmed(graph.replay, [], 20)), 4)
    except Exception as error:
        torch.cuda.synchronize()
        return f"{type(error).__name__}: {error}"[:120]


def describe_machine() -> dict[str, Any]:
    versions = {}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"gpu": torch.cuda.get_device_name(), "python": sys.version.split()[0], **versions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("moe_mlp.json"))
    parser.add_argument("--only", default=",".join(CANDIDATES), help="candidates, comma-separated")
    parser.add_argument("--sections", default="interleaved,errors,sweep")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=420, help="seconds; the sweep stops there")
    parser.add_argument("--compile-liger", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    if options.compile_liger:
        worker, workers = map(int, options.compile_liger.split(","))
        compile_liger(worker, workers, draw(1024, 8, *RECORD[2:], seed=1))
        return
    deadline = time.perf_counter() + options.budget
    names = options.only.split(",")
    if "liger" in names:
        for process in start_liger_workers(__file__, min(12, os.cpu_count() or 4)):
            process.wait()
    timer = Timer()
    results: dict[str, Any] = {
        "machine": describe_machine(),
        "workload": dict(zip("TEHIK", RECORD, strict=True)),
    }
    fast = [name for name in names if name in FAST]
    sections: dict[str, Callable[[dict[str, Any]], None]] = {
        "interleaved": lambda out: run_interleaved(timer, names, options.rounds, out),
        "errors": lambda out: run_errors(fast, out),
        "sweep": lambda out: run_sweep(timer, fast, deadline, out),
    }
    for section in options.sections.split(","):
        try:
            sections[section](results.setdefault(section, {}))
        finally:
            options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
