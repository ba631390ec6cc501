"""The whole command loop with a numpy candidate: no torch is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="a numpy candidate needs numpy")

from kernelindex.runner.array_file import read_arrays, write_arrays  # noqa: E402
from kernelindex.runner.channel import Refusal  # noqa: E402
from kernelindex.runner.judge.refresh import refreshed  # noqa: E402
from kernelindex.runner.operations import load_module, make_case  # noqa: E402
from kernelindex.runner.probe.commands import Commands  # noqa: E402

AXES = {"tokens": 48, "hidden": 64}
DTYPES = {"x": "fp32", "weight": "fp32"}
ENTRY = "kernelindex.runner.operations.rms_norm.candidates:numpy_rows"


class Probe:
    """Commands with the numpy candidate of the RMS norm and its inputs in files."""

    def __init__(self, folder: Path, entry: str = ENTRY, file: str | None = None) -> None:
        self.folder, self.commands = folder, Commands()
        self.case = make_case("rms-norm", AXES, DTYPES)
        self.ask("hello", device="cpu", pad_bytes=4096, protocol={})
        candidate = {
            "id": "numpy/rows",
            "entry": entry,
            "file": file,
            "interface": "numpy",
            "passes": ["inference", "forward"],
        }
        point = {
            "id": "p",
            "operation": "rms-norm",
            "axes": AXES,
            "dtypes": DTYPES,
            "passes": ["inference"],
            "candidates": [candidate],
        }
        self.loaded = self.ask("load", point=point, candidate=candidate, plan_dir=str(folder))
        self.ask("inputs", sets=[self.write(index) for index in range(3)], upstream=[])

    def ask(self, command: str, **request: Any) -> dict[str, Any]:
        return dict(self.commands.handlers()[command](request))

    def write(self, index: int) -> str:
        path = self.folder / f"inputs-{index}"
        rng = np.random.default_rng(index)
        write_arrays(path, load_module("rms-norm").make_inputs_numpy(self.case, "own", rng))  # type: ignore[attr-defined]
        return str(path)

    def wanted(self, index: int, refresh: int, *, training: bool) -> Any:
        base = read_arrays(self.folder / f"inputs-{index}")
        inputs, _ = refreshed(self.case, base, {}, refresh, training=training)
        return load_module("rms-norm").reference_numpy(inputs, self.case)["y"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("timed_pass", "training"), [("inference", False), ("forward", True)])
def test_a_checked_call_computes_on_refreshed_contents(
    tmp_path: Path, timed_pass: str, training: bool
) -> None:
    probe, out = Probe(tmp_path), tmp_path / "out"
    for refresh in (0, 7):
        request = {"pass": timed_pass, "set": 1, "refresh": refresh, "poison": True}
        reply = probe.ask("call", **request, out=str(out))
        assert reply["outputs"] == ["y"]
        assert [one for one in reply["guards"] if one["status"]] == []
        wanted = probe.wanted(1, refresh, training=training)
        assert np.allclose(read_arrays(out)["y"], wanted, rtol=1e-5, atol=1e-6)


def test_loading_tells_source_and_time(tmp_path: Path) -> None:
    loaded = Probe(tmp_path).loaded
    assert loaded["source_digest"].startswith("sha256:")
    assert loaded["import_ns"] > 0
    assert loaded["guards"] == []


@pytest.mark.slow
def test_samples_and_what_one_timed_call_left(tmp_path: Path) -> None:
    probe, dump = Probe(tmp_path), tmp_path / "timed"
    regime = {"pass": "inference", "cache": "hot", "load": "sustained", "execution": "eager"}
    warmed = probe.ask("warm", **regime, seconds=0.01, calls=5)
    assert warmed["calls"] >= 6
    assert warmed["first_call_ns"] > 0
    reply = probe.ask("measure", **regime, calls=12, refresh=5, switch_calls=2)
    assert len(reply["samples_ns"]) == len(reply["order"]) == 12
    assert sum(reply["samples_ns"]) * reply["batch"] <= reply["timed_ns"]
    kept = probe.ask("kept", out=str(dump))
    assert kept["set"] in reply["order"]
    assert kept["refresh"] == 5
    wanted = probe.wanted(kept["set"], 5, training=False)
    assert np.allclose(read_arrays(dump)["y"], wanted, rtol=1e-5, atol=1e-6)
    assert reply["cycles"] is None
    assert reply["queue_filled"] is None


def test_a_burst_is_ten_samples_at_most(tmp_path: Path) -> None:
    reply = Probe(tmp_path).ask(
        "measure", **{"pass": "inference"}, cache="hot", load="burst", calls=99, idle_seconds=0.0
    )
    assert len(reply["samples_ns"]) == 10


def test_traits_and_blocks(tmp_path: Path) -> None:
    probe = Probe(tmp_path)
    found = probe.ask("traits", **{"pass": "inference"})
    assert found["deterministic"] is True
    assert found["peak_bytes"] is None
    assert probe.ask("block", **{"pass": "inference"}, calls=3)["timed_ns"] > 0
    assert "calls" in probe.ask("audits", **{"pass": "inference"})["names"]


@pytest.mark.parametrize(
    ("command", "request_", "code"),
    [
        ("call", {"pass": "backward", "set": 0, "out": "x"}, "no_pass"),
        ("call", {"pass": "inference", "set": 9, "out": "x"}, "no_set"),
        ("measure", {"pass": "inference", "calls": 1, "execution": "graph"}, "no_graphs"),
        ("sentinel", {"which": "1us", "calls": 1}, "no_sentinel"),
    ],
)
def test_what_is_not_offered_is_unsupported(
    tmp_path: Path, command: str, request_: dict[str, Any], code: str
) -> None:
    with pytest.raises(Refusal) as caught:
        Probe(tmp_path).ask(command, **request_)
    assert (caught.value.status, caught.value.code) == ("unsupported", code)


def test_commands_before_hello_are_refused() -> None:
    with pytest.raises(Refusal, match="hello"):
        Commands().handlers()["warm"]({"pass": "inference"})


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("raise ValueError('bad shape')", "runtime_error", "raised"),
        ("raise MemoryError", "resource_exceeded", "memory_exhausted"),
        ("return x, weight", "incorrect_shape", "output_count"),
        ("return [[1.0]]", "incorrect_dtype", "output_type"),
    ],
)
@pytest.mark.slow
def test_a_failing_candidate_is_an_outcome(
    tmp_path: Path, body: str, status: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "candidate_under_test", None)
    del sys.modules["candidate_under_test"]
    (tmp_path / "mine.py").write_text(f"def mine(x, weight):\n    {body}\n")
    probe = Probe(tmp_path, entry="mine", file="mine.py")
    request = {"pass": "inference", "set": 0, "refresh": 0, "poison": False}
    with pytest.raises(Refusal) as caught:
        probe.ask("call", **request, out=str(tmp_path / "out"))
    assert (caught.value.status, caught.value.code) == (status, code)


def test_the_anchor_is_a_candidate_like_any_other(tmp_path: Path) -> None:
    commands = Commands().handlers()
    commands["hello"]({"device": "cpu", "pad_bytes": 0, "protocol": {}})
    anchor = {"id": "a", "entry": "kernelindex.runner.calibration.anchor:matmul"}
    assert commands["load"]({"anchor": anchor})["packages"] == {}
    regime = {"pass": "inference", "cache": "hot", "load": "sustained", "execution": "eager"}
    reply = commands["measure"]({**regime, "calls": 4, "refresh": 0, "idle_seconds": 0.0})
    assert len(reply["samples_ns"]) == 4
