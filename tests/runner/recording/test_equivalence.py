"""The registry's file of the runner's lines is what the descriptions say."""

from __future__ import annotations

from pathlib import Path

import kernelindex
from kernelindex.registry.equivalence import map_line
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.recording.equivalence import FILE, render
from kernelindex.runner.recording.software import Loaded, build_implementation
from kernelindex.runner.standings import SOURCE

ADVICE = "run: python -m kernelindex.runner.recording.equivalence"


def test_the_file_is_current() -> None:
    assert (Path(kernelindex.__file__).parent / FILE).read_text() == render(), ADVICE


def test_liger_s_line_is_the_one_of_its_published_runs() -> None:
    candidate = load_operation("moe-mlp").candidate("liger-kernel/LigerFusedMoEFunction")
    manifest = build_implementation(candidate, "moe-mlp", Loaded(), "sm_90")
    ours = map_line(SOURCE, manifest.document)
    theirs = map_line("liger-kernel-bench", manifest.document)
    assert ours is not None
    assert ours == theirs
