"""The program that is run first on a new machine."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="its candidate is a torch function")

from kernelindex.runner.probe import check

pytestmark = pytest.mark.slow


def test_every_line_passes_here(capsys: pytest.CaptureFixture[str]) -> None:
    code = check.main(["--device", "cpu", "--only", "facts,telemetry,calls,graphs,capture"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert code == 0
    assert sum(" call." in line for line in lines) == 8
    assert lines[-1].endswith("all: 0 failed")


def test_a_part_that_raises_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(report: check.Report, rig: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setitem(check.PARTS, "facts", broken)
    assert check.main(["--device", "cpu", "--only", "facts"]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_a_device_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    assert check.main(["--device", "cuda:0", "--only", "facts"]) == 1
    assert "FAIL" in capsys.readouterr().out
