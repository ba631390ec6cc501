"""One judge's state and its commands, as ``kernelindex.runner.channel`` lists them."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner.channel import Refusal
from kernelindex.runner.dataclass_json import from_json
from kernelindex.runner.judge.expecting import Expectations, Question
from kernelindex.runner.judge.linting import lint
from kernelindex.runner.judge.refresh import is_training
from kernelindex.runner.judge.results import judge_file
from kernelindex.runner.operations import case_of
from kernelindex.runner.plan import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.judge.backend import Backend
    from kernelindex.runner.operations import Case

__all__ = ["Session"]


# Files of a large point are gigabytes; copying and hashing them leaves the interpreter free.
WRITERS = 3
READERS = 3


@dataclass(slots=True)
class _Loaded:
    point: Point
    case: Case
    expectations: Expectations


class Session:
    """The handlers of one judge; ``backend`` is made when the worker says hello."""

    def __init__(self, pick: Callable[[str], Backend]) -> None:
        self._pick = pick
        self._backend: Backend | None = None
        self._loaded: _Loaded | None = None

    @cached_property
    def handlers(self) -> Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
        """Each command's handler."""
        return {
            "hello": self.hello,
            "point": self.point,
            "make": self.make,
            "compare": self.compare,
            "lint": self.lint,
            "free": self.free,
        }

    def hello(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Pick the library of arrays for the device."""
        self._backend = self._pick(str(request["device"]))
        return {"facts": self._backend.facts()}

    def point(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take up a point; refuses one whose operation, axes or dtypes do not fit."""
        point = from_json(Point, request["point"])
        try:
            case = case_of(point)
            case.operation.tolerances_for(case.dtypes)
        except KernelIndexError as error:
            raise Refusal("unsupported", error.code, error.message) from error
        self._loaded = _Loaded(point, case, Expectations(self._ready, point, case))
        return {}

    def make(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write the input sets of a draw, and their upstream gradients where there are any."""
        loaded, draw = self._point, str(request["draw"])
        loaded.expectations.seed(draw, str(request["seed"]))
        folder = Path(request["dir"])
        files: dict[str, dict[str, Future[str]]] = {"": {}, "-upstream": {}}
        with ThreadPoolExecutor(WRITERS) as pool:
            for index in range(int(request["sets"])):
                meta = {"draw": draw, "set": index, "point": loaded.point.id}
                for part, arrays in self._parts(draw, index).items():
                    path = folder / f"{draw}-{index}{part}.tensors"
                    files[part][str(path)] = pool.submit(self._write, path, arrays, meta)
        sets, upstream = files.values()
        digests = [written.result() for written in (*sets.values(), *upstream.values())]
        return {"sets": list(sets), "upstream": list(upstream), "digests": digests}

    def compare(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Judge files of several candidates' results of one call."""
        loaded = self._point
        question = Question(
            draw=str(request["draw"]),
            index=int(request["set"]),
            offset=int(request["refresh"]),
            training=is_training(str(request["pass"])),
        )
        expected = loaded.expectations.answer(question)

        def judge(file: str) -> Mapping[str, Any]:
            return judge_file(self._ready, expected, Path(file), str(request["pass"]))

        files = request["files"]
        with ThreadPoolExecutor(READERS) as pool:
            results = dict(zip(files, pool.map(judge, files.values()), strict=True))
        self._ready.free()
        return {"results": results}

    def lint(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Whether the workload can tell right from wrong, on draws that were made."""
        return {"findings": lint(self._ready, self._point.point, self._point.expectations)}

    def free(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give memory back before timing starts."""
        self._point.expectations.forget()
        self._ready.free()
        return {}

    def _parts(self, draw: str, index: int) -> dict[str, Mapping[str, Any]]:
        """What is written of a set, by its file's ending."""
        expectations = self._point.expectations
        made = expectations.make(draw, index)
        gradients = made.upstream and expectations.gradients
        return {"": made.inputs} | ({"-upstream": made.upstream} if gradients else {})

    def _write(self, path: Path, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
        self._ready.write(path, arrays, meta)
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

    @property
    def _ready(self) -> Backend:
        if self._backend is None:
            raise Refusal("runtime_error", "no_hello", "the judge was not said hello to yet")
        return self._backend

    @property
    def _point(self) -> _Loaded:
        if self._loaded is None:
            raise Refusal("runtime_error", "no_point", "no point was taken up yet; send point")
        return self._loaded
