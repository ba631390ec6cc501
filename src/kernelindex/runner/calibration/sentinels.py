"""Sentinels: trusted work of about 5, 50, 500 µs and 5 ms, measured in every generation.

Two processes that run the same sentinel should measure the same; how far apart they are is
what this batch cannot tell (``floor``). The short two move bytes, the long two multiply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.calibration.anchor import device_matmul, host_matmul
from kernelindex.runner.calibration.sizes import device_rates
from kernelindex.runner.channel import Refusal
from kernelindex.runner.probe.measuring import Regime
from kernelindex.runner.probe.work import FixedWork

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.probe.state import Session

NOMINAL_NS: Mapping[str, float] = {"5us": 5e3, "50us": 5e4, "500us": 5e5, "5ms": 5e6}
_MOVING = ("5us", "50us")
# Elements of an addition in place, and sides of a product, of about those times on one core.
_HOST_ELEMENTS = {"5us": 16_384, "50us": 131_072}
_HOST_SIDES = {"500us": 304, "5ms": 656}
_SWITCH_CALLS = 3
# Work that meets the power cap needs as long as a candidate after a switch to be steady again.
_SWITCH_SECONDS = {"5ms": 0.15}


def make_sentinel(which: str, device: str) -> Callable[[], object]:
    """One call of a sentinel on a device. Raises Refusal for an unknown name."""
    if which not in NOMINAL_NS:
        text = f"no sentinel {which!r}; there are {', '.join(NOMINAL_NS)}"
        raise Refusal("unsupported", "no_sentinel", text)
    if not device.startswith("cuda"):
        return _host_sentinel(which)
    rates = device_rates(device)
    if which in _MOVING:
        return device_copy(device, rates.moved_bytes(NOMINAL_NS[which]))
    return device_matmul(device, rates.matmul_side(NOMINAL_NS[which]))


def device_copy(device: str, moved_bytes: int) -> Callable[[], object]:
    """``y = -x`` in fp32: half of ``moved_bytes`` read, half written, by one kernel."""
    import torch

    x = torch.randn(max(1, moved_bytes // 8), device=device)
    y, negate = torch.empty_like(x), torch.neg
    return lambda: negate(x, out=y)


def _host_sentinel(which: str) -> Callable[[], object]:
    if which in _HOST_SIDES:
        return host_matmul(_HOST_SIDES[which])
    return host_copy(4 * _HOST_ELEMENTS[which])


def host_copy(size_bytes: int) -> Callable[[], object]:
    """``y = -x`` in fp32 by numpy, else a copy of as many bytes by the standard library."""
    try:
        import numpy as np
    except ImportError:
        source, target = bytes(size_bytes), memoryview(bytearray(size_bytes))

        def copy() -> None:
            target[:] = source

        return copy
    x = np.random.default_rng(1).standard_normal(size_bytes // 4, dtype=np.float32)
    y: Any = np.empty_like(x)
    negate = np.negative
    return lambda: negate(x, out=y)


def measure_sentinel(session: Session, which: str, calls: int) -> dict[str, Any]:
    """Cold, sustained samples of a sentinel: ``{samples_ns, nominal_ns, queue_filled}``."""
    kept = session.notes.setdefault("sentinels", {})
    if which not in kept:
        kept[which] = FixedWork(make_sentinel(which, session.device))
    work = kept[which]
    with work.mode():
        measured = session.meter.measure(
            work,
            f"sentinel/{which}",
            Regime(),
            calls,
            switch_calls=_SWITCH_CALLS,
            switch_seconds=_switch_seconds(which, session.device),
        )
    return {
        "samples_ns": measured.taken.samples_ns,
        "nominal_ns": NOMINAL_NS[which],
        "queue_filled": measured.taken.filled,
    }


def _switch_seconds(which: str, device: str) -> float:
    return _SWITCH_SECONDS.get(which, 0.0) if device.startswith("cuda") else 0.0
