"""One judge in this process, its point, and candidates' files made by plain functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernelindex.runner.dataclass_json import from_json, to_json
from kernelindex.runner.judge.backend import Backend, pick_backend
from kernelindex.runner.judge.refresh import is_training, refreshed
from kernelindex.runner.judge.session import Session
from kernelindex.runner.operations import Case, case_of
from kernelindex.runner.plan import Point

SEED = "a seed of the batch"


def rms_point(
    *,
    dtype: str = "bf16",
    weight: str = "fp32",
    tokens: int = 96,
    hidden: int = 256,
    interface: str = "torch",
    **changes: Any,
) -> Point:
    """A point of RMSNorm with one candidate, ``mine``."""
    passes = ["forward", "backward", "full"] if interface == "torch" else ["forward"]
    candidate = {"id": "mine", "entry": "m:f", "passes": passes, "interface": interface}
    body = {
        "id": "rms-norm/test",
        "operation": "rms-norm",
        "axes": {"tokens": tokens, "hidden": hidden},
        "dtypes": {"x": dtype, "weight": weight},
        "passes": passes,
        "candidates": [candidate],
        **changes,
    }
    return from_json(Point, body)


class Judging:
    """A session at a point, with ``judge`` doing what worker and probe do between them."""

    def __init__(self, folder: Path, point: Point, backend: Backend | None = None) -> None:
        self.folder, self.point = folder, point
        self.backend = backend or pick_backend("cpu")
        self.session = Session(lambda _: self.backend)
        self.session.hello({"device": "cpu"})
        self.session.point({"point": to_json(point), "operation": point.operation})
        self.case: Case = case_of(point)

    def make(self, draw: str = "own", sets: int = 1) -> dict[str, Any]:
        """The reply to ``make``."""
        request = {"draw": draw, "seed": SEED, "sets": sets, "dir": str(self.folder)}
        return dict(self.session.make(request))

    def judge(
        self,
        function: Any,
        timed_pass: str = "full",
        draw: str = "own",
        offset: int = 0,
        spoil: Any = None,
        index: int = 0,
    ) -> dict[str, Any]:
        """The result for a candidate that computes with ``function``, then is spoiled."""
        made = self.make(draw, index + 1)
        results = self.results(function, made, timed_pass, draw, offset, index)
        if spoil is not None:
            spoil(results)
        return self.compare(results, timed_pass, draw, offset, index)

    def compare(
        self, results: Any, timed_pass: str, draw: str = "own", offset: int = 0, index: int = 0
    ) -> dict[str, Any]:
        """The judge's result for arrays that a candidate wrote."""
        path = self.folder / "out.tensors"
        self.backend.write(path, results, {})
        return self.compare_file(path, timed_pass, draw, offset, index)

    def compare_file(
        self, path: Path, timed_pass: str, draw: str = "own", offset: int = 0, index: int = 0
    ) -> dict[str, Any]:
        """The judge's result for a file."""
        request = {
            "files": {"mine": str(path)},
            "pass": timed_pass,
            "draw": draw,
            "set": index,
            "refresh": offset,
            "trusted": None,
        }
        return dict(self.session.compare(request)["results"]["mine"])

    def results(
        self, function: Any, made: Any, timed_pass: str, draw: str, offset: int, index: int
    ) -> dict[str, Any]:
        """Outputs and gradients from the files that ``make`` wrote, as a probe gets them."""
        case = self.case.for_draw(draw)
        base = self.backend.read(Path(made["sets"][index]), 1 << 30)
        upstream = {}
        if made["upstream"]:
            upstream = self.backend.read(Path(made["upstream"][index]), 1 << 30)
        training = is_training(timed_pass)
        inputs, upstream = refreshed(case, base, upstream, offset, training=training)
        if not upstream or timed_pass == "forward":
            result = function(**inputs)
            return {"y": result.detach() if hasattr(result, "detach") else result}
        for tensor in inputs.values():
            if tensor.is_floating_point():
                tensor.requires_grad_()
        y = function(**inputs)
        y.backward(upstream["y"])
        grads = {f"grad_{name}": tensor.grad for name, tensor in inputs.items()}
        return {"y": y.detach(), **grads}
