from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.runner.channel import Refusal
from kernelindex.runner.probe import facts
from kernelindex.runner.probe.failures import as_refusal, classify


def test_environment_of_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    found = facts.describe_environment("cpu", tick_ns=40.0)
    assert found["packages"]["numpy"].count(".") >= 1
    assert found["cpu"]["logical_cores"] >= 1
    assert found["cpu"]["memory_bytes"] > 1 << 28
    assert found["environment_variables"]["OMP_NUM_THREADS"] == "1"
    assert "hidden" not in str(found)
    assert "gpu" not in found


def test_operating_system_is_what_it_calls_itself(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('NAME="X"\nPRETTY_NAME="X Linux 3 (y)"\n')
    assert facts.operating_system(release) == "X Linux 3 (y)"
    assert facts.operating_system(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("name", "limit", "form"),
    [
        ("NVIDIA H200", 700.0, "SXM"),
        ("NVIDIA H100 PCIe", 350.0, "PCIe"),
        ("NVIDIA H200 NVL", 600.0, "PCIe"),
        ("NVIDIA A100-SXM4-80GB", 400.0, "SXM"),
        ("NVIDIA L4", 72.0, None),
        ("NVIDIA H100", None, None),
    ],
)
def test_form_factor(name: str, limit: float | None, form: str | None) -> None:
    told = {} if limit is None else {"default_power_limit_w": limit}
    assert facts.guess_form_factor(name, told) == form


def test_clock_policy_tells_application_clocks_from_default() -> None:
    usual = {"application_sm_mhz": 1980, "default_application_sm_mhz": 1980}
    assert facts.clock_policy(usual) == "default"
    assert facts.clock_policy({**usual, "application_sm_mhz": 1500}) == "application"
    assert facts.clock_policy({}) is None


class OutOfResources(Exception):
    pass


class OutOfMemoryError(RuntimeError):
    pass


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (MemoryError(), "resource_exceeded", "memory_exhausted"),
        (OutOfMemoryError("x"), "resource_exceeded", "memory_exhausted"),
        (RuntimeError("CUDA error: out of memory"), "resource_exceeded", "memory_exhausted"),
        (OutOfResources("shared memory"), "compile_error", "out_of_resources"),
        (NotImplementedError("no bf16"), "unsupported", "not_implemented"),
        (ValueError("x"), "runtime_error", "raised"),
    ],
)
def test_exceptions_have_a_status(error: Exception, status: str, code: str) -> None:
    assert classify(error) == (status, code)


def test_refusals_pass_and_others_say_what_was_done() -> None:
    with pytest.raises(Refusal, match="full: ValueError: bad"), as_refusal("full"):
        raise ValueError("bad")
    with pytest.raises(Refusal) as caught, as_refusal("full"):
        raise Refusal("unsupported", "package_missing", "x")
    assert caught.value.code == "package_missing"
