"""One traced, untimed run: which device kernels ran, and how much of the time they were busy.

Traced by torch's profiler (Kineto), read from its Chrome trace: events of the categories
kernel, gpu_memcpy and gpu_memset. Busy time is the length of their union.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.runner.probe.timers import Step

_DEVICE_KINDS = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_HOST_KIND = "cpu_op"
_MOST_KERNELS = 200
_NAME_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Span:
    """One event of a trace; µs."""

    name: str
    start: float
    duration: float


def trace_call(step: Step, synchronize: Step, *, device: bool) -> list[Span]:
    """Run one call under the profiler; the spans of the device's work, or of the host's ops."""
    from torch.profiler import ProfilerActivity, profile

    kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA] if device else [ProfilerActivity.CPU]
    synchronize()
    with profile(activities=kinds) as profiler:
        step()
        synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8", errors="replace"))["traceEvents"]
    return read_spans(events, _DEVICE_KINDS if device else frozenset({_HOST_KIND}))


def read_spans(events: Iterable[dict[str, Any]], kinds: frozenset[str]) -> list[Span]:
    """Complete events of these categories, by start."""
    spans = [
        Span(str(one.get("name", ""))[:_NAME_LIMIT], float(one["ts"]), float(one["dur"]))
        for one in events
        if one.get("ph") == "X" and one.get("cat") in kinds
    ]
    return sorted(spans, key=lambda one: one.start)


def busy_us(spans: Sequence[Span]) -> float:
    """The length of the union of the spans, µs."""
    total, until = 0.0, float("-inf")
    for one in spans:
        end = one.start + one.duration
        total += max(0.0, end - max(one.start, until))
        until = max(until, end)
    return total


def own_spans(spans: Sequence[Span]) -> list[Span]:
    """Nested host spans with the time of those inside taken out of those around them."""
    own = [one.duration for one in spans]
    open_: list[int] = []
    for at, one in enumerate(spans):
        while open_ and _end(spans[open_[-1]]) <= one.start:
            open_.pop()
        if open_:
            own[open_[-1]] -= one.duration
        open_.append(at)
    return [Span(one.name, one.start, max(0.0, own[at])) for at, one in enumerate(spans)]


def _end(one: Span) -> float:
    return one.start + one.duration


def share_by_name(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """``{name, share, launches}`` with the largest share first; shares are of the summed time."""
    durations: dict[str, list[float]] = {}
    for one in spans:
        durations.setdefault(one.name, []).append(one.duration)
    whole = sum(one.duration for one in spans) or 1.0
    rows = [(sum(found) / whole, name, len(found)) for name, found in durations.items()]
    rows.sort(key=lambda row: (-row[0], row[1]))
    return [
        {"name": name, "share": share, "launches": count}
        for share, name, count in rows[:_MOST_KERNELS]
    ]
