"""Compiles Liger's configurations side by side into the caches of a planned batch.

    python benchmarks/warm_liger.py plan.json CACHES
    python -m kernelindex.runner.worker plan.json --out batch --caches CACHES

Its autotuner compiles hundreds of kernels one after the other at the first call; sixteen processes
need about 70 s. The worker finds them in the folder that it keeps for the candidate's process, and
times no first call of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from kernelindex.runner.worker.places import folder_name  # noqa: E402

CANDIDATE = "liger-kernel/LigerFusedMoEFunction"


def folders(plan: Path, caches: Path) -> list[Path]:
    """Where the worker keeps what Triton compiled for the candidate, a folder for each point."""
    points = json.loads(plan.read_bytes())["points"]
    return [
        caches / folder_name(f"{point['id']}-{one['id']}") / "triton"
        for point in points
        for one in point["candidates"]
        if one["id"] == CANDIDATE
    ]


def main(plan: Path, caches: Path) -> int:
    """Exit status 0 where every process compiled its share."""
    workers = min(16, os.cpu_count() or 4)
    failed = 0
    for folder in folders(plan, caches):
        folder.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "TRITON_CACHE_DIR": str(folder), "TRITON_HOME": str(folder)}
        command = [sys.executable, str(HERE / "moe_mlp.py"), "--compile-liger"]
        started = [
            subprocess.Popen([*command, f"{share},{workers}"], env=env) for share in range(workers)
        ]
        failed += sum(process.wait() != 0 for process in started)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
