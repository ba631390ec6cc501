"""The probe on a real GPU: what ``probe.check`` prints, as tests."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="a GPU is used through torch")

from kernelindex import stats  # noqa: E402
from kernelindex.runner.calibration.selfcheck import check_session  # noqa: E402
from kernelindex.runner.probe.check_case import Rig, make_rig  # noqa: E402
from kernelindex.runner.probe.machine import open_session  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]
DEVICE = "cuda:0"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return make_rig(DEVICE, tmp_path)


def measure(rig: Rig, timed_pass: str, cache: str = "cold", calls: int = 40, **more: object):  # type: ignore[no-untyped-def]
    regime = {"pass": timed_pass, "cache": cache, "load": "sustained", "execution": "eager"}
    return rig.ask("measure", **{**regime, **more}, calls=calls, switch_calls=10)


def test_every_proof_of_the_selfcheck_holds() -> None:
    found = check_session(open_session(DEVICE, {}))
    assert [one.text for one in found.checks if not one.passed] == []


def test_replaced_events_change_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = stats.median(measure(rig, "inference")["samples_ns"])
    monkeypatch.setattr(torch.cuda.Event, "elapsed_time", lambda *_: 0.0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    patched = stats.median(measure(rig, "inference")["samples_ns"])
    assert patched == pytest.approx(honest, rel=0.1)


@pytest.mark.parametrize("timed_pass", ["inference", "forward", "backward", "full"])
def test_calls_are_queued_in_time_and_fit_into_the_wall(rig: Rig, timed_pass: str) -> None:
    measure(rig, timed_pass)
    begun = time.perf_counter_ns()
    reply = measure(rig, timed_pass)
    wall = time.perf_counter_ns() - begun
    assert reply["queue_filled"] >= 0.9 * len(reply["samples_ns"])
    assert sum(reply["samples_ns"]) <= 1.02 * wall
    assert reply["cycles"] is not None


def test_cold_is_slower_than_hot(tmp_path: Path) -> None:
    small = make_rig(DEVICE, tmp_path, tokens=1024, hidden=4096)  # 16 MiB: inside the L2
    cold, hot = (
        stats.median(measure(small, "inference", c)["samples_ns"]) for c in ("cold", "hot")
    )
    assert cold > 1.05 * hot


def test_a_call_that_synchronizes_is_told(rig: Rig) -> None:
    session = rig.commands.session

    def waits(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        y = x * weight.to(x.dtype)
        y[0, 0].item()
        return y

    session.function = waits
    session.works.clear()
    session.meter.paces.clear()
    assert measure(rig, "inference")["pace"]["synchronizes"] is True


def test_graphs_replay_refreshed_contents(rig: Rig, tmp_path: Path) -> None:
    from kernelindex.runner.tensor_file import read_tensors

    for timed_pass in ("inference", "full"):
        dump = tmp_path / "graph.kit"
        measure(rig, timed_pass, execution="graph", refresh=3)
        kept = rig.ask("kept", out=str(dump))
        request = {"pass": timed_pass, "set": kept["set"], "refresh": 3}
        rig.ask("call", **request, poison=False, out=str(tmp_path / "eager.kit"))
        eager, graph = read_tensors(tmp_path / "eager.kit"), read_tensors(dump)
        assert set(eager) == set(graph)
        for name in eager:
            assert torch.equal(eager[name], graph[name]), (timed_pass, name)


def test_peak_and_saved_memory(rig: Rig) -> None:
    found = rig.ask("traits", **{"pass": "full"})
    output = 4096 * 2048 * 2
    assert output <= found["peak_bytes"] <= 4 * output
    assert 4096 * 4 <= found["saved_bytes"] <= output
    assert found["energy"]["joules_per_call"] > 0


def test_trace_names_kernels(rig: Rig) -> None:
    traced = rig.ask("trace", **{"pass": "full"})
    assert traced["launches"] >= 2
    assert 0.5 < traced["busy_ratio"] <= 1.0
