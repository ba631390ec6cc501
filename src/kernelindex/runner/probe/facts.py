"""Facts of the environment, in the terms of an ExecutionEnvironment manifest's fields."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

# Distributions whose version can change a kernel's time or result; those installed are named.
LIBRARIES = (
    *("torch", "triton", "numpy", "liger-kernel", "transformers", "sonic-moe", "quack-kernels"),
    *("nvidia-cutlass-dsl", "nvidia-cublas", "nvidia-cuda-runtime", "nvidia-cudnn-cu13"),
    *("nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12", "nvidia-cudnn-cu12", "nvidia-ml-py"),
    *("flash-attn", "flashinfer-python", "apex", "xformers", "cupy-cuda13x", "kernels"),
)
# Variables that change what code runs; values of others are nobody's business.
VARIABLES = (
    *("CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"),
    *("CUDA_MODULE_LOADING", "NVIDIA_TF32_OVERRIDE", "PYTORCH_CUDA_ALLOC_CONF"),
    *("PYTORCH_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TRITON_INTERPRET"),
)


def describe_environment(
    device: str, sensors: Any = None, tick_ns: float | None = None
) -> dict[str, Any]:
    """Everything known of machine, software and settings; unknown values are left out.

    ``gpu`` is there on a device only. Identities are hashed, host names are not told.
    """
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "operating_system": operating_system(),
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": describe_cpu(),
        "packages": installed(LIBRARIES),
        "environment_variables": {k: os.environ[k] for k in VARIABLES if k in os.environ},
        "timer": {"tick_ns": tick_ns},
    }
    if device.startswith("cuda"):
        facts["gpu"] = describe_gpu(int(device.partition(":")[2] or 0), sensors, tick_ns)
        facts["driver"] = facts["gpu"].get("driver")
    if "torch" in sys.modules:
        facts |= describe_torch()
    return {name: value for name, value in facts.items() if value is not None}


def installed(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of those distributions that are installed, in one pass over them all."""
    wanted = {name.replace("_", "-").lower() for name in names}
    found = {}
    for one in distributions():
        name = (one.metadata["Name"] or "").replace("_", "-").lower()
        if name in wanted:
            found[name] = one.version
    return dict(sorted(found.items()))


def operating_system(path: Path = Path("/etc/os-release")) -> str | None:
    """The name and version that the system gives itself."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("PRETTY_NAME", "").strip("\"'") or None


def describe_cpu() -> dict[str, Any]:
    """Model, cores this process may use, main memory in bytes."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "model": _cpu_model() or platform.processor() or platform.machine(),
        "machine": platform.machine(),
        "logical_cores": len(os.sched_getaffinity(0)),
        "memory_bytes": pages * size,
    }


def _cpu_model(path: Path = Path("/proc/cpuinfo")) -> str | None:
    if not path.is_file():
        return None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return None


def describe_torch() -> dict[str, Any]:
    """Versions of torch, CUDA, Triton, and the switches that change results or times."""
    import torch

    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    triton = installed(("triton",)).get("triton")
    return {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "triton": triton,
        "threads": torch.get_num_threads(),
        "global_flags": {
            "matmul_allow_tf32": bool(matmul.allow_tf32),
            "matmul_bf16_reduced": bool(matmul.allow_bf16_reduced_precision_reduction),
            "matmul_fp16_reduced": bool(matmul.allow_fp16_reduced_precision_reduction),
            "cudnn_allow_tf32": bool(cudnn.allow_tf32),
            "cudnn_benchmark": bool(cudnn.benchmark),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
        },
    }


def describe_gpu(index: int, sensors: Any, tick_ns: float | None) -> dict[str, Any]:
    """The GPU by torch, and by NVML where it answers."""
    import torch

    seen = torch.cuda.get_device_properties(index)
    facts = {
        "name": seen.name,
        "sm": f"sm_{seen.major}{seen.minor}",
        "sms": seen.multi_processor_count,
        "memory_bytes": seen.total_memory,
        "l2_bytes": seen.L2_cache_size,
        "tick_ns": tick_ns,
        "vendor": "nvidia",
    }
    told = sensors.facts() if hasattr(sensors, "facts") else {}
    facts |= told
    facts["form_factor"] = guess_form_factor(str(seen.name), told)
    facts["clock_policy"] = clock_policy(told)
    return {name: value for name, value in facts.items() if value is not None}


def guess_form_factor(name: str, told: dict[str, Any]) -> str | None:
    """``SXM`` or ``PCIe`` by name, else by power: no PCIe card of NVIDIA's draws over 600 W."""
    upper = name.upper()
    for mark, form in (("SXM", "SXM"), ("PCIE", "PCIe"), ("NVL", "PCIe")):
        if mark in upper:
            return form
    limit = told.get("default_power_limit_w")
    if limit is None:
        return None
    return "SXM" if limit > 600 else None


def clock_policy(told: dict[str, Any]) -> str | None:
    """``application`` where application clocks differ from their default, else ``default``.

    NVML does not tell locked clocks; telemetry shows them.
    """
    now, usual = told.get("application_sm_mhz"), told.get("default_application_sm_mhz")
    if not told:
        return None
    return "application" if now is not None and usual is not None and now != usual else "default"


def bus_id(index: int) -> str | None:
    """The PCI address of a device, as NVML wants it; None where torch does not tell it."""
    import torch

    seen = torch.cuda.get_device_properties(index)
    if not hasattr(seen, "pci_bus_id"):
        return None
    return f"{seen.pci_domain_id:08x}:{seen.pci_bus_id:02x}:{seen.pci_device_id:02x}.0"
