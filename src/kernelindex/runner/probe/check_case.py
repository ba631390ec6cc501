"""A small RMS norm in a probe of this process, for ``check`` and for tests on a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelindex.runner.operations import load_module, make_case
from kernelindex.runner.plan import PASSES
from kernelindex.runner.probe.commands import Commands
from kernelindex.runner.tensor_file import write_tensors

_MODULE = "kernelindex.runner.operations.rms_norm"


@dataclass(slots=True)
class Rig:
    """Commands with a candidate and two input sets loaded."""

    commands: Commands
    folder: Path
    facts: dict[str, Any]
    passes: tuple[str, ...] = PASSES

    def ask(self, command: str, **request: Any) -> dict[str, Any]:
        """One command's reply; raises Refusal."""
        return dict(self.commands.handlers()[command](request))


def make_rig(
    device: str,
    folder: Path,
    *,
    tokens: int = 4096,
    hidden: int = 2048,
    function: str = "eager",
    gradients: str = "leaf",
) -> Rig:
    """Say hello, load a candidate of the RMS norm and two sets of its inputs."""
    commands = Commands()
    rules = {"pad_bytes": 1 << 20, "gaps": "worked"}
    facts = commands.hello({"device": device, "pad_bytes": 1 << 20, "protocol": rules})["facts"]
    rig = Rig(commands, folder, facts)
    axes = {"tokens": tokens, "hidden": hidden}
    dtypes = {"x": "bf16" if device.startswith("cuda") else "fp32", "weight": "fp32"}
    candidate = {
        "id": "check/rms-norm",
        "entry": f"{_MODULE}.candidates:{function}",
        "passes": list(PASSES),
    }
    point = {
        "id": "check",
        "operation": "rms-norm",
        "axes": axes,
        "dtypes": dtypes,
        "passes": list(PASSES),
        "gradients": gradients,
        "candidates": [candidate],
    }
    rig.ask("load", point=point, candidate=candidate, plan_dir=str(folder))
    sets, upstream = write_sets(folder, axes, dtypes)
    rig.ask("inputs", sets=sets, upstream=upstream)
    return rig


def write_sets(
    folder: Path, axes: dict[str, int], dtypes: dict[str, str], count: int = 2
) -> tuple[list[str], list[str]]:
    """Write input sets and upstream gradients of the RMS norm; their files."""
    import torch

    case, module = make_case("rms-norm", axes, dtypes), load_module("rms-norm")
    sets, upstream = [], []
    for index in range(count):
        generator = torch.Generator().manual_seed(index)
        inputs = module.make_inputs(case, "own", generator, "cpu")
        sets.append(str(folder / f"inputs-{index}.kit"))
        write_tensors(Path(sets[-1]), inputs, {"draw": "own"})
        gradient = torch.randn(case.shape("y"), generator=generator).to(inputs["x"].dtype)
        upstream.append(str(folder / f"upstream-{index}.kit"))
        write_tensors(Path(upstream[-1]), {"y": gradient}, {"draw": "own"})
    return sets, upstream
