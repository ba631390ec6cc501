"""A judge of the standard library only: a file that says ``right`` is right."""

from __future__ import annotations

import argparse
from pathlib import Path

from kernelindex.runner.channel import serve

ERRORS = {"finite": True, "frobenius": 0.001, "worst_row": 0.002, "max_abs": 0.1, "max_rel": 0.1}


def make(request):
    assert isinstance(request["seed"], str)
    folder = Path(request["dir"])
    files = {"sets": [], "upstream": []}
    for kind, names in files.items():
        for number in range(request["sets"]):
            path = folder / f"{kind}-{number}"
            path.write_text(request["draw"])
            names.append(str(path))
    return {**files, "digests": []}


def judge_file(path: str):
    right = Path(path).read_text() == "right"
    return {
        "status": "passed" if right else "incorrect_numerical",
        "reason": "" if right else "wrong_values",
        "text": "" if right else "y is wrong",
        "outputs": {"y": {"passed": right, **ERRORS}},
    }


def compare(request):
    return {"results": {name: judge_file(path) for name, path in request["files"].items()}}


HANDLERS = {
    "hello": lambda request: {"facts": {"judge": "fake"}},
    "point": lambda request: {},
    "make": make,
    "compare": compare,
    "lint": lambda request: {"findings": []},
    "free": lambda request: {},
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", type=int)
    serve(parser.parse_args().channel, HANDLERS)
