"""``python -m kernelindex.runner.worker PLAN --out DIR``: run a plan, or take it up again."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.errors import KernelIndexError
from kernelindex.runner.plan import load_plan
from kernelindex.runner.sandbox.isolation import KINDS
from kernelindex.runner.worker.batch import COMPLETE, Batch, Options, open_bench
from kernelindex.runner.worker.bench import real_programs
from kernelindex.runner.worker.machine import require_machine
from kernelindex.runner.worker.summary import summary_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.worker.bench import Bench

EXIT_COMPLETE, EXIT_REFUSED, EXIT_CUT_SHORT = 0, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the worker; 0 complete, 3 cut short (run the same command again), 2 refused."""
    options = _parser().parse_args(arguments)
    try:
        plan = load_plan(options.plan)
        require_machine(plan)
        kinds = tuple(options.isolation) if options.isolation else None
        chosen = Options(
            programs=real_programs(), kinds=kinds, scratch=options.scratch, caches=options.caches
        )
        bench = open_bench(plan, options.plan.parent, options.out, chosen)
    except (KernelIndexError, OSError, ValueError) as error:
        print(f"refused: {error}", file=sys.stderr)
        return EXIT_REFUSED
    return run(bench)


def run(bench: Bench) -> int:
    """Measure and print the table; SIGTERM and SIGINT end it after the command under way."""
    _listen(bench)
    bench.say(f"batch {bench.plan.runner}/{bench.plan.number}: {bench.isolation.text}")
    batch = Batch.take_up(bench)
    status = batch.run()
    print(summary_table(batch.series))
    bench.say(f"{status}: {bench.folder}")
    return EXIT_COMPLETE if status == COMPLETE else EXIT_CUT_SHORT


def _listen(bench: Bench) -> None:
    def stop(_number: int, _frame: object) -> None:
        bench.stop = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kernelindex.runner.worker", description=__doc__)
    parser.add_argument("plan", type=Path, help="the plan's file")
    parser.add_argument("--out", type=Path, required=True, help="the batch folder")
    parser.add_argument("--isolation", action="append", choices=KINDS, help="allow only this kind")
    parser.add_argument("--scratch", type=Path, help="where temporary files go")
    parser.add_argument("--caches", type=Path, help="where compiled code is kept between batches")
    return parser


if __name__ == "__main__":
    sys.exit(main())
