"""What a candidate is like: memory, bits that repeat, energy of a call, graph capture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.probe.graphs import capture_all

if TYPE_CHECKING:
    from kernelindex.runner.probe.sets import Set
    from kernelindex.runner.probe.telemetry import Sensors
    from kernelindex.runner.probe.work import Work

_ENERGY_SECONDS = 0.5


def measure_peak_bytes(work: Work) -> int:
    """Bytes of device memory above what was held before one call, at its peak."""
    import torch

    step = work.ready(0)  # gradients of the call before are gone, or held as buffers of zeros
    torch.cuda.synchronize()
    held = int(torch.cuda.memory_allocated())
    torch.cuda.reset_peak_memory_stats()
    result = step()
    torch.cuda.synchronize()
    peak = int(torch.cuda.max_memory_allocated())
    del result
    return max(0, peak - held)


def measure_saved_bytes(function: Any, one: Set, *, device: bool) -> int:
    """Bytes kept between forward and backward, outputs and inputs apart.

    The larger of what autograd was given to save and, on a device, what stayed allocated: a
    candidate may keep tensors out of autograd's sight.
    """
    import torch

    inputs = {t.untyped_storage().data_ptr() for t in one.given.values()}
    storages: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in inputs:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    before = int(torch.cuda.memory_allocated()) if device else 0
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function(**one.given)
    outputs = storages_of(result)
    kept = sum(size for where, size in storages.items() if where not in outputs)
    if not device:
        return kept
    torch.cuda.synchronize()
    stayed = int(torch.cuda.memory_allocated()) - before - sum(outputs.values())
    return max(kept, stayed)


def storages_of(result: Any) -> dict[int, int]:
    """Address and bytes of the storages of what a call returned."""
    values = result.values() if isinstance(result, Mapping) else result
    values = values if isinstance(result, tuple | list | Mapping) else (result,)
    storages = [value.untyped_storage() for value in values if hasattr(value, "untyped_storage")]
    return {storage.data_ptr(): storage.nbytes() for storage in storages}


def is_deterministic(work: Work) -> bool:
    """Whether two calls on equal contents give the same bits, gradients included."""
    first = {name: _copy(value) for name, value in _results(work).items()}
    again = _results(work)
    return set(first) == set(again) and all(_same_bits(first[k], again[k]) for k in first)


def _results(work: Work) -> dict[str, Any]:
    outputs, gradients = work.collect(0, work.ready(0)())
    return {**outputs, **gradients}


def _copy(value: Any) -> Any:
    return value.detach().clone() if hasattr(value, "detach") else value.copy()


def _same_bits(one: Any, other: Any) -> bool:
    if not hasattr(one, "detach"):
        return bool(one.tobytes() == other.tobytes() and one.shape == other.shape)
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.numel():
        return True
    pair = [t.detach().contiguous().reshape(-1).view(torch.uint8) for t in (one, other)]
    return bool(torch.equal(*pair))


def measure_energy(work: Work, sensors: Sensors, synchronize: Any) -> dict[str, float] | None:
    """Joules of one call and watts, back to back for half a second without flushes.

    None where the sensors have no energy counter. NVML's advances about every 0.1 s, so a
    tenth of the half second is its error at most. Making calls ready is counted: zeros written
    where gradients accumulate, which no sample of a call's time holds.
    """
    if "energy_j" not in sensors.quick():
        return None
    synchronize()
    before, begun, calls = sensors.quick()["energy_j"], time.perf_counter(), 0
    while time.perf_counter() - begun < _ENERGY_SECONDS:
        for _ in range(8):
            work.ready(calls % work.count)()
            calls += 1
        synchronize()
    seconds = time.perf_counter() - begun
    spent = sensors.quick()["energy_j"] - before
    return {"joules_per_call": spent / calls, "watts": spent / seconds, "calls": calls}


def is_capturable(work: Work) -> tuple[bool, str]:
    """Whether a call can be captured as a CUDA graph, and why not; may spoil the process."""
    import torch

    try:
        capture_all(work, 0)
        torch.cuda.synchronize()
    except Refusal as error:
        return False, error.text
    except RuntimeError as error:
        return False, str(error)[:500]
    return True, ""
