"""``python -m kernelindex.runner.probe --channel FD``: answer the worker until it says bye."""

from __future__ import annotations

import argparse
import sys

from kernelindex.runner.channel import serve
from kernelindex.runner.probe.commands import Commands


def main(arguments: list[str] | None = None) -> int:
    """Serve the inherited socket."""
    parser = argparse.ArgumentParser(prog="kernelindex.runner.probe", description=__doc__)
    parser.add_argument("--channel", type=int, required=True, help="inherited socket's descriptor")
    serve(parser.parse_args(arguments).channel, Commands().handlers())
    return 0


if __name__ == "__main__":
    sys.exit(main())
