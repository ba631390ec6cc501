"""The few calls of the CUDA driver that timing needs, through ctypes.

Not through ``torch.cuda.Event``: a candidate can replace that, and what it replaces is never
called here. Names and numbers are those of NVIDIA's driver API reference (event management,
context management). Functions are bound once, before a candidate is imported.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_float, c_int, c_size_t, c_uint, c_void_p
from typing import Any

from kernelindex.errors import KernelIndexError

LIBRARIES = ("libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1")
_SUCCESS = 0
_NOT_READY = 600
_PERSISTING_L2_LIMIT = 6
_ATTRIBUTES = {
    "l2_bytes": 38,
    "max_persisting_l2_bytes": 108,
    "multiprocessors": 16,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "compute_major": 75,
    "compute_minor": 76,
}
_SIGNATURES: dict[str, list[Any]] = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [POINTER(c_int)],
    "cuDeviceGet": [POINTER(c_int), c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuDeviceGetCount": [POINTER(c_int)],
    "cuDeviceTotalMem_v2": [POINTER(c_size_t), c_int],
    "cuCtxGetCurrent": [POINTER(c_void_p)],
    "cuCtxSynchronize": [],
    "cuCtxGetLimit": [POINTER(c_size_t), c_int],
    "cuCtxSetLimit": [c_int, c_size_t],
    "cuCtxResetPersistingL2Cache": [],
    "cuEventCreate": [POINTER(c_void_p), c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventQuery": [c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventElapsedTime": [POINTER(c_float), c_void_p, c_void_p],
    "cuEventDestroy_v2": [c_void_p],
    "cuMemGetInfo_v2": [POINTER(c_size_t), POINTER(c_size_t)],
}


class DriverError(KernelIndexError):
    """Raised when the CUDA driver is absent or refuses a call (``details["result"]``)."""

    code = "cuda.driver"


class Driver:
    """The driver's functions, bound; needs a current context for all but ``version``."""

    __slots__ = ("_calls", "_query", "_record")

    def __init__(self) -> None:
        library = _load()
        self._calls = {name: _bind(library, name) for name in _SIGNATURES}
        self._record = self._calls["cuEventRecord"]
        self._query = self._calls["cuEventQuery"]

    def call(self, name: str, *arguments: Any) -> None:
        """Call one function; raises DriverError with the driver's result code."""
        result = self._calls[name](*arguments)
        if result != _SUCCESS:
            raise DriverError(f"{name} answered {result}; see CUresult", result=result)

    def version(self) -> int:
        """The CUDA version the driver supports, as 1000 x major + 10 x minor."""
        found = c_int()
        self.call("cuDriverGetVersion", byref(found))
        return found.value

    def device_memory(self, index: int) -> int:
        """Bytes of a device's memory, without a context; raises DriverError where there is none."""
        self.call("cuInit", 0)
        count, device, found = c_int(), c_int(), c_size_t()
        self.call("cuDeviceGetCount", byref(count))
        if index >= count.value:
            raise DriverError(f"devices that the driver sees: {count.value}, numbered from 0")
        self.call("cuDeviceGet", byref(device), index)
        self.call("cuDeviceTotalMem_v2", byref(found), device)
        return found.value

    def attribute(self, name: str, index: int) -> int:
        """One attribute of a device; names are those of ``_ATTRIBUTES``."""
        device, found = c_int(), c_int()
        self.call("cuDeviceGet", byref(device), index)
        self.call("cuDeviceGetAttribute", byref(found), _ATTRIBUTES[name], device)
        return found.value

    def synchronize(self) -> None:
        """Wait for all work of the context, on every stream."""
        self.call("cuCtxSynchronize")

    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the device."""
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value, total.value

    def persisting_l2_bytes(self) -> int:
        """Bytes of L2 set aside for lines that persist."""
        found = c_size_t()
        self.call("cuCtxGetLimit", byref(found), _PERSISTING_L2_LIMIT)
        return found.value

    def reset_persisting_l2(self) -> None:
        """Turn persisting lines into normal ones and set nothing aside for new ones."""
        self.call("cuCtxResetPersistingL2Cache")
        self.call("cuCtxSetLimit", _PERSISTING_L2_LIMIT, 0)

    def create_event(self) -> c_void_p:
        """A timing event."""
        event = c_void_p()
        self.call("cuEventCreate", byref(event), 0)
        return event

    def record(self, event: c_void_p, stream: int) -> None:
        """Record an event on a stream (0: the legacy default stream)."""
        result = self._record(event, stream)
        if result != _SUCCESS:
            raise DriverError(f"cuEventRecord answered {result}; see CUresult", result=result)

    def reached(self, event: c_void_p) -> bool:
        """Whether the device has passed a recorded event; raises where work before it failed."""
        result = self._query(event)
        if result not in (_SUCCESS, _NOT_READY):
            raise DriverError(f"cuEventQuery answered {result}; see CUresult", result=result)
        return bool(result == _SUCCESS)

    def elapsed_ns(self, start: c_void_p, end: c_void_p) -> float:
        """Time between two events that were reached, in ns."""
        found = c_float()
        self.call("cuEventElapsedTime", byref(found), start, end)
        return found.value * 1e6


def _load() -> ctypes.CDLL:
    reasons = []
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
    raise DriverError(f"no CUDA driver: {reasons[0]}; install it, or use device cpu")


def _bind(library: ctypes.CDLL, name: str) -> Any:
    function = getattr(library, name, None)
    if function is None:  # a driver that kept only the newer name
        plain = name.removesuffix("_v2")
        function = getattr(library, plain if plain != name else f"{name}_v2", None)
    if function is None:
        raise DriverError(f"the CUDA driver has no {name}; a driver of CUDA 11 or newer is needed")
    function.argtypes = _SIGNATURES[name]
    function.restype = c_int
    return function
