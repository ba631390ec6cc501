"""CUDA graph execution: each set's call captured once, then replayed.

Inputs keep their addresses and are rewritten in place, so a replay computes on the refreshed
contents. A backward is captured anew at every ``begin``, since its forward ran outside.
A capture that fails may spoil the context: nothing more should be measured in that process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kernelindex.runner.probe.timers import Step
    from kernelindex.runner.probe.work import Work

_WARM_CALLS = 3


class GraphWork:
    """Another work's calls as replays of captured graphs."""

    def __init__(self, work: Work, *, capture_anew: bool) -> None:
        self._work, self._anew = work, capture_anew
        self._graphs: dict[int, tuple[Any, Any]] = {}
        self.count = work.count

    def begin(self, refresh: int) -> None:
        """See ``Work``; captures what is not captured yet."""
        if self._anew:
            self._graphs.clear()
        if self._graphs:
            self._work.refresh_only(refresh)
            return
        self._work.begin(refresh)
        for index in range(self.count):
            self._graphs[index] = capture(self._work, index)

    def refresh_only(self, refresh: int) -> None:
        """See ``Work``."""
        self._work.refresh_only(refresh)

    def ready(self, index: int) -> Step:
        """See ``Work``: a replay; its gradients are the graph's own buffers."""
        graph, _ = self._graphs[index]
        step: Step = graph.replay
        return step

    def end(self) -> None:
        """See ``Work``; graphs are kept, unless they are captured anew each time."""
        if self._anew:
            self._graphs.clear()
            self._work.end()

    def mode(self) -> AbstractContextManager[Any]:
        """See ``Work``."""
        return self._work.mode()

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """See ``Work``; the result is what the captured call returned."""
        return self._work.collect(index, self._graphs[index][1])

    def result_of(self, index: int, result: Any) -> Any:
        """See ``Work``."""
        return self._work.result_of(index, self._graphs[index][1])


def capture(work: Work, index: int) -> tuple[Any, Any]:
    """One call as a graph, and what it returned; refuses as ``unsupported`` where that fails.

    Three calls on a side stream come first, so that what is set up lazily is set up.
    """
    import torch

    try:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_CALLS):
                work.ready(index)()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        step = work.ready(index)
        with torch.cuda.graph(graph):
            result = step()
        graph.replay()
        torch.cuda.synchronize()
    except Exception as error:
        text = f"the call cannot be captured: {type(error).__name__}: {error}"[:500]
        raise Refusal("unsupported", "graph_capture", text) from error
    return graph, result
