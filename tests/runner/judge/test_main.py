from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.runner.array_file import read_arrays, write_arrays
from kernelindex.runner.channel import Channel, Refused, Reply
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.judge.refresh import roll
from kernelindex.runner.operations.rms_norm.candidates import numpy_rows
from tests.runner.judge.judging import SEED, rms_point

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WITHOUT_TORCH = (
    "import sys; sys.modules['torch'] = None; "
    "from kernelindex.runner.judge.__main__ import main; main()"
)


@contextmanager
def a_judge(*command: str) -> Iterator[Channel]:
    """A judge in its own process; it must end by itself after ``bye``."""
    ours, theirs = socket.socketpair()
    arguments = [sys.executable, *command, "--channel", str(theirs.fileno())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(arguments, pass_fds=[theirs.fileno()], env=environment) as process:
        theirs.close()
        channel = Channel(ours)
        yield channel
        assert isinstance(channel.request("bye", 10), Reply)
        channel.close()
        assert process.wait(10) == 0


def _fields(answer: Any) -> Any:
    assert isinstance(answer, Reply), answer
    return answer.fields


def test_a_machine_without_torch_judges_numpy(tmp_path: Path) -> None:
    point = rms_point(dtype="fp32", interface="numpy")
    with a_judge("-c", WITHOUT_TORCH) as channel:
        assert _fields(channel.request("hello", 30, device="cpu"))["facts"]["backend"] == "numpy"
        refused = channel.request("make", 30, draw="own", seed=SEED, sets=1, dir=str(tmp_path))
        assert isinstance(refused, Refused)
        assert refused.text == "no point was taken up yet; send point"
        _fields(channel.request("point", 30, point=to_json(point), operation="rms-norm"))
        make = {"draw": "own", "seed": SEED, "sets": 2, "dir": str(tmp_path)}
        made = _fields(channel.request("make", 30, **make))
        inputs = read_arrays(tmp_path / "own-1.tensors")
        assert made["sets"] == [str(tmp_path / f"own-{index}.tensors") for index in (0, 1)]
        y = numpy_rows(roll(inputs["x"], 9), roll(inputs["weight"], 9))
        write_arrays(tmp_path / "right", {"y": y})
        write_arrays(tmp_path / "wrong", {"y": y * 1.001})
        compare = {"pass": "forward", "draw": "own", "set": 1, "refresh": 9, "trusted": None}
        files = {"mine": str(tmp_path / "right"), "other": str(tmp_path / "wrong")}
        results = _fields(channel.request("compare", 30, files=files, **compare))["results"]
        assert results["mine"]["status"] == "passed"
        assert results["other"]["reason"] == "wrong_values"
        _fields(channel.request("free", 30))


@pytest.mark.slow
def test_with_torch_gradients_are_made_and_lint_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="a judge with torch")
    point = rms_point()
    with a_judge("-m", "kernelindex.runner.judge") as channel:
        assert _fields(channel.request("hello", 60, device="cpu"))["facts"]["backend"] == "torch"
        _fields(channel.request("point", 30, point=to_json(point), operation="rms-norm"))
        make = {"draw": "own", "seed": SEED, "sets": 1, "dir": str(tmp_path)}
        made = _fields(channel.request("make", 30, **make))
        assert (len(made["sets"]), len(made["upstream"]), len(made["digests"])) == (1, 1, 2)
        assert _fields(channel.request("lint", 30))["findings"] == []
