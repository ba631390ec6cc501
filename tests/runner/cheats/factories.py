"""A candidate between guards or on an audit's bench, without a worker."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from kernelindex.runner.operations.case import make_case
from kernelindex.runner.probe.audits import Bench
from kernelindex.runner.probe.guards import Guards
from kernelindex.runner.probe.poison import poisoned_heap
from kernelindex.runner.probe.sets import TorchSets
from kernelindex.runner.probe.state import CheckedCall
from kernelindex.runner.probe.timers.host import HostTimer
from kernelindex.runner.probe.work import PlainWork, TorchWork, bind_backward
from kernelindex.runner.tensor_file import write_tensors

AXES = {"tokens": 256, "hidden": 512}
DTYPES = {"x": "fp32", "weight": "fp32"}
SETS = 3


def make_sets(
    folder: Path, axes: dict[str, int] | None = None, *, non_leaf: bool = False
) -> TorchSets:
    """Three sets of inputs of an RMS norm with upstream gradients, on the host."""
    import torch

    case = make_case("rms-norm", axes or AXES, DTYPES)
    generator = torch.Generator().manual_seed(11)
    names: dict[str, list[str]] = {"inputs": [], "upstream": []}
    for index in range(SETS):
        x = torch.randn(case.shape("x"), generator=generator)
        weight = 1 + 0.25 * torch.randn(case.shape("weight"), generator=generator)
        upstream = torch.randn(case.shape("y"), generator=generator)
        for kind, tensors in (
            ("inputs", {"x": x, "weight": weight}),
            ("upstream", {"y": upstream}),
        ):
            path = folder / f"{kind}-{index}.kit"
            write_tensors(path, tensors)
            names[kind].append(str(path))
    return TorchSets(case, "cpu", names["inputs"], names["upstream"], non_leaf=non_leaf)


def make_work(function: Any, sets: TorchSets, timed_pass: str, *, accumulate: bool = False) -> Any:
    """The calls of a pass."""
    if timed_pass == "inference":
        return PlainWork(function, sets, None, training=False)
    bind_backward()
    return TorchWork(timed_pass, function, sets, accumulate=accumulate)


def make_bench(
    function: Any,
    folder: Path,
    timed_pass: str = "inference",
    seed: int = 5,
    *,
    non_leaf: bool = False,
    accumulate: bool = False,
) -> Bench:
    """What an audit gets; its clock is that of this thread, which other work does not disturb."""
    sets = make_sets(folder, non_leaf=non_leaf)
    return Bench(
        timed_pass=timed_pass,
        device="cpu",
        work=make_work(function, sets, timed_pass, accumulate=accumulate),
        sets=sets,
        timer=HostTimer(),
        seed=seed,
        clock=time.thread_time_ns,
    )


def checked_codes(
    guards: Guards,
    function: Any,
    sets: TorchSets,
    timed_pass: str = "inference",
    calls: int = 2,
    *,
    accumulate: bool = False,
) -> list[str]:
    """Codes of what the guards find in a few checked calls."""
    work, codes = make_work(function, sets, timed_pass, accumulate=accumulate), []
    for index in range(calls):
        one = sets.sets[index]
        training = timed_pass != "inference"
        state = CheckedCall(
            timed_pass,
            "cpu",
            one.case,
            inputs=one.given if training else one.plain,
            leaves=one.leaves if training else {},
            upstream=one.upstream if timed_pass in ("backward", "full") else {},
            poisoned=True,
        )
        with work.mode():
            work.begin(index)
            step = work.ready(index)
            guards.before(state)
            with poisoned_heap([one.case.nbytes("x")]):
                result = step()
            state.result = work.result_of(index, result)
            state.outputs, state.gradients = work.collect(index, result)
            codes += [found.code for found in guards.after(state)]
            work.end()
    return codes
