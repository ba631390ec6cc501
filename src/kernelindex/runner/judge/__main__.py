"""``python -m kernelindex.runner.judge --channel FD``: serve one worker until it says bye."""

from __future__ import annotations

import argparse

from kernelindex.runner.channel import serve
from kernelindex.runner.judge.backend import pick_backend
from kernelindex.runner.judge.session import Session


def main() -> None:
    """Read the descriptor and serve."""
    parser = argparse.ArgumentParser(description="The trusted side of a batch: inputs and errors.")
    parser.add_argument("--channel", type=int, required=True, help="inherited socket's descriptor")
    serve(parser.parse_args().channel, Session(pick_backend).handlers)


if __name__ == "__main__":
    main()
