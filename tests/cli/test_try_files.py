"""Strangers' files under ``ki try``, each run by the real worker: what is said, and the status."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.factories import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

HEAD = """
import os
import sys
import threading
import time

import numpy as np


def good(x, weight):
    return x * (1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)) * weight


KEPT = {}
CALLS = [0]

"""
FILES = {
    "right": ("return good(x, weight)", 0, "· correct"),
    "one_row": ("y = good(x, weight); y[7] += 1; return y", 1, "worst in row 7"),
    "odd": ("y = good(x, weight); y[:, x.shape[1] & ~1:] = 0; return y", 1, "wrong on uneven"),
    "wide": ("return good(x.astype('float64'), weight)", 1, "y is fp64; wanted fp32"),
    "short": ("return good(x, weight)[:-1]", 1, "incorrect shape"),
    "same": ("return x", 1, "y shares memory with the input x"),
    "nothing": ("good(x, weight)", 1, "y is a NoneType"),
    "raises": ("raise ValueError('no norm')", 1, "forward call: ValueError: no norm"),
    "ends": ("os._exit(0)", 1, "the process ended with exit status 0"),
    "prints": ("print('hello ' * 10_000); return good(x, weight)", 0, "· correct"),
    "kept": (
        "return KEPT.setdefault(x.tobytes() + weight.tobytes(), good(x, weight))",
        1,
        "y shares memory with the still held y of the call before",
    ),
    "late": (
        "y = np.zeros_like(x)\n"
        "    def fill():\n        time.sleep(0.01)\n        y[:] = good(x, weight)\n"
        "    threading.Thread(target=fill).start()\n    return y",
        1,
        "suspected reward hack",
    ),
    "stops": (
        "CALLS[0] += 1\n    return good(x, weight) if CALLS[0] < 4 else np.empty_like(x)",
        1,
        "suspected reward hack",
    ),
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    bodies = [f"def {name}(x, weight):\n    {body}\n" for name, (body, *_) in FILES.items()]
    path = tmp_path / "mine.py"
    path.write_text(HEAD + "\n\n".join(bodies))
    return path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the worker's processes need POSIX")
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_answered_in_words_and_by_its_status(
    terminal: Terminal, file: Path, name: str
) -> None:
    _, status, said = FILES[name]
    asked = ("--like", "rms-norm", "tokens=64", "hidden=128", "--device", "cpu")
    short = ("--against", "numpy-rms-norm", "--generations", "1", "--rounds", "1")
    done = terminal.ki("try", f"{file}:{name}", *asked, *short)
    assert said in " ".join(done.out.split()), done.out + done.err
    assert done.status == status
