"""``python -m tests.runner.support.run_fake PLAN OUT``: the worker's ``run`` over the fakes."""

from __future__ import annotations

import sys
from pathlib import Path

from kernelindex.runner.plan import load_plan
from kernelindex.runner.worker.__main__ import run
from kernelindex.runner.worker.batch import Options, open_bench
from tests.runner.support.plans import fake_programs

if __name__ == "__main__":
    plan, out = Path(sys.argv[1]), Path(sys.argv[2])
    options = Options(programs=fake_programs(), kinds=("limits",), scratch=out.parent)
    sys.exit(run(open_bench(load_plan(plan), plan.parent, out, options)))
