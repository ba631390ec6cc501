"""CUDA graph execution: each set's call captured once, then replayed.

Inputs keep their addresses and are rewritten in place, so a replay computes on the refreshed
contents. A backward is captured anew at every ``begin``, since its forward ran outside.
A capture that fails may spoil the context: nothing more should be measured in that process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kernelindex.runner.probe.timers import Step
    from kernelindex.runner.probe.work import Work

_WARM_CALLS = 3


@dataclass(frozen=True, slots=True)
class Captured:
    """One set's call as a graph, with what it gave: buffers that a replay writes again.

    Detached, so that no autograd graph of the capture outlives it.
    """

    graph: Any
    outputs: dict[str, Any]
    gradients: dict[str, Any]


class GraphWork:
    """Another work's calls as replays of captured graphs.

    ``capture_anew`` at every ``begin``: where the addresses of what is captured change then.
    """

    def __init__(self, work: Work, *, capture_anew: bool) -> None:
        self._work, self._anew = work, capture_anew
        self._captured: dict[int, Captured] = {}
        self.count, self.reuses = work.count, True

    def begin(self, refresh: int) -> None:
        """See ``Work``; captures what is not captured yet."""
        if self._anew:
            self._captured.clear()
        if self._captured:
            self._work.refresh_only(refresh)
        else:
            self._captured = capture_all(self._work, refresh)

    def refresh_only(self, refresh: int) -> None:
        """See ``Work``."""
        self._work.refresh_only(refresh)

    def ready(self, index: int) -> Step:
        """See ``Work``: a replay; outputs and gradients are the graph's own buffers."""
        step: Step = self._captured[index].graph.replay
        return step

    def end(self) -> None:
        """See ``Work``; graphs are kept, unless they are captured anew each time."""
        if self._anew:
            self._captured.clear()
            self._work.end()

    def mode(self) -> AbstractContextManager[Any]:
        """See ``Work``."""
        return self._work.mode()

    def capturing(self) -> AbstractContextManager[Any]:
        """See ``Work``."""
        return self._work.capturing()

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """See ``Work``."""
        return self._captured[index].outputs, self._captured[index].gradients

    def result_of(self, index: int, result: Any) -> Any:
        """See ``Work``."""
        outputs = tuple(self._captured[index].outputs.values())
        return outputs if len(outputs) != 1 else outputs[0]


def capture_all(work: Work, refresh: int) -> dict[int, Captured]:
    """Every set's call as a graph; refuses as ``unsupported`` where that fails.

    All of it is on one stream, forwards outside included: autograd runs a backward on the
    stream of its forward, which must be the one that captures.
    """
    import torch

    stream = torch.cuda.Stream()
    try:
        torch.cuda.synchronize()
        with work.capturing():
            with torch.cuda.stream(stream):
                work.begin(refresh)
                for index in range(work.count):
                    for _ in range(_WARM_CALLS):
                        work.ready(index)()
            torch.cuda.synchronize()
            captured = {index: _capture(work, index, stream) for index in range(work.count)}
        torch.cuda.synchronize()
    except Exception as error:
        text = f"the call cannot be captured: {type(error).__name__}: {error}"[:500]
        raise Refusal("unsupported", "graph_capture", text) from error
    return captured


def _capture(work: Work, index: int, stream: Any) -> Captured:
    import torch

    graph = torch.cuda.CUDAGraph()
    step = work.ready(index)
    with torch.cuda.graph(graph, stream=stream):
        result = step()
    graph.replay()
    outputs, gradients = work.collect(index, result)
    return Captured(graph, {name: one.detach() for name, one in outputs.items()}, gradients)
