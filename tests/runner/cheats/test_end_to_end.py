"""Every cheat and twin through the real worker, in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.runner.cheats.catalogue import Entry, entries_on
from kernelindex.runner.cheats.running import run_catalogue
from kernelindex.runner.cheats.scoring import table

pytest.importorskip("torch", reason="the fixtures are torch functions")

# Seconds that a command may take. Whoever hangs is waited for, beside its twin alone; others are
# a dozen at once, and load torch on a machine that other tests use as well.
NETS = {"guards": 150.0, "audits": 150.0, "judge": 150.0, "outside": 150.0, "time": 30.0}


def net_of(entry: Entry) -> str:
    if entry.status == "timeout":
        return "time"
    return entry.caught_by if entry.caught_by in NETS else "outside"


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("net", NETS)
def test_cheats_are_caught_and_twins_pass_on_a_host(net: str, tmp_path: Path) -> None:
    chosen = [one for one in entries_on("cpu") if net_of(one) == net]
    scores = run_catalogue(chosen, "cpu", tmp_path, patience_s=NETS[net])
    assert len(scores) == len(chosen)
    assert all(one.right for one in scores), table(scores)


@pytest.mark.gpu
@pytest.mark.timeout(600)
def test_cheats_are_caught_and_twins_pass_on_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the fixtures are torch functions")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    chosen = [one for one in entries_on("cuda:0") if "cpu" not in one.devices]
    scores = run_catalogue(chosen, "cuda:0", tmp_path)
    assert all(one.right for one in scores), table(scores)
