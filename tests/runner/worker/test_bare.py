"""The worker runs where only Python is: an import hook refuses everything else."""

import subprocess
import sys
from pathlib import Path

import kernelindex

SOURCE = Path(kernelindex.__file__).parent.parent
PROGRAM = """
import sys

class OnlyStandard:
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first != "kernelindex" and first not in sys.stdlib_module_names:
            raise ImportError(f"{name} is not of the standard library")

sys.meta_path.insert(0, OnlyStandard())
sys.path.insert(0, sys.argv[1])
import kernelindex.runner.worker.__main__ as worker
import kernelindex.runner.sandbox.enter, kernelindex.runner.sandbox.trial
index = ("manifests", "registry", "policy", "catalog", "site", "api", "sources", "resolve")
seen = [name for name in sys.modules if name.split(".")[1:2] and name.split(".")[1] in index
        and name.startswith("kernelindex.")]
assert not seen, seen
sys.exit(worker.main(["/nonexistent.json", "--out", "/nonexistent"]))
"""


def test_the_worker_imports_the_standard_library_only() -> None:
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2, done.stderr
    assert "refused: /nonexistent.json: cannot be read" in done.stderr
