"""Passes: what one timed call is, for torch and numpy candidates and for the anchor.

    inference   f(**inputs) without gradients
    forward     f(**inputs), inputs require gradients
    backward    backward of a forward that ran outside, retain_graph=True
    full        forward and backward, retain_graph=True

``torch.autograd.backward`` is bound before a candidate is imported: see ``bind_backward``. To
make a call ready, nothing is called through an object that a candidate made or was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex.runner.channel import Refusal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kernelindex.runner.probe.sets import Set, Sets
    from kernelindex.runner.probe.timers import Step

Function = Callable[..., Any]


class Work(Protocol):
    """The calls of one pass.

    ``begin`` refreshes contents and makes ready what every call needs (untimed); ``ready(set)``
    makes one call ready and returns it; ``end`` lets go of it all. ``mode`` is the context that
    calls run in. ``reuses``: a call writes over what the one before on its set left.
    """

    count: int
    reuses: bool

    def begin(self, refresh: int) -> None: ...

    def refresh_only(self, refresh: int) -> None:
        """Rewrite contents and nothing else."""

    def ready(self, index: int) -> Step: ...

    def end(self) -> None: ...

    def mode(self) -> AbstractContextManager[Any]: ...

    def capturing(self) -> AbstractContextManager[Any]:
        """The context that a capture runs in, ``begin`` and warm-up included."""

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Outputs by name, and gradients as ``grad_<input>``, after a call on a set."""

    def result_of(self, index: int, result: Any) -> Any:
        """What the candidate returned: of ``backward``, by the forward outside."""


class PlainWork:
    """``inference`` of any interface, and ``forward`` without autograd: nothing is recorded.

    ``training`` rolls static inputs too, as a ``forward`` does.
    """

    def __init__(
        self,
        function: Function,
        sets: Sets,
        prepared: Mapping[int, Any] | None = None,
        *,
        training: bool = False,
    ) -> None:
        self._function, self._sets, self._training = function, sets, training
        self._prepared = {} if training or prepared is None else prepared
        self.count, self.reuses = len(sets.sets), False

    def begin(self, refresh: int) -> None:
        """See ``Work``."""
        self.refresh_only(refresh)

    def refresh_only(self, refresh: int) -> None:
        """See ``Work``."""
        self._sets.refresh(refresh, training=self._training)

    def ready(self, index: int) -> Step:
        """See ``Work``; what ``prepare`` made of static inputs stands in their place."""
        self._sets.mark(index, inputs=True)
        return partial(self._function, **self._arguments(index))

    def _arguments(self, index: int) -> dict[str, Any]:
        one = self._sets.sets[index]
        if index not in self._prepared:
            return one.plain
        kept = {s.name for s in one.case.operation.inputs if s.role != "static"}
        return {**{name: one.plain[name] for name in kept}, **self._prepared[index]}

    def end(self) -> None:
        """See ``Work``."""

    def mode(self) -> AbstractContextManager[Any]:
        """No gradients, where torch is in use at all."""
        return _no_gradients()

    def capturing(self) -> AbstractContextManager[Any]:
        """See ``Work``."""
        return nullcontext()

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """See ``Work``."""
        return name_outputs(self._sets.sets[index], result), {}

    def result_of(self, index: int, result: Any) -> Any:
        """See ``Work``."""
        return result


class TorchWork:
    """``forward``, ``backward`` and ``full`` of a torch candidate."""

    def __init__(
        self, timed_pass: str, function: Function, sets: Sets, *, accumulate: bool
    ) -> None:
        self._backward = bind_backward()
        self._pass, self._function, self._sets = timed_pass, function, sets
        self._accumulate = accumulate
        self._forwards: dict[int, Any] = {}
        self._ends: dict[int, tuple[list[Any], list[Any]]] = {}
        self.count, self.reuses = len(sets.sets), accumulate

    def begin(self, refresh: int) -> None:
        """See ``Work``; for ``backward`` the forward of every set runs here.

        What forward returned is looked through here too, once: it may be a mapping of its own.
        """
        self._forget()
        self.refresh_only(refresh)
        for index in range(self.count):
            self._sets.drop_gradients(index)
        if self._pass == "backward":
            self._forwards = {index: self._run(index) for index in range(self.count)}
            self._ends = {
                index: _roots(self._sets.sets[index], result)
                for index, result in self._forwards.items()
            }

    def refresh_only(self, refresh: int) -> None:
        """See ``Work``."""
        self._sets.refresh(refresh, training=True)

    def _forget(self) -> None:
        self._ends.clear()
        self._forwards.clear()

    def _run(self, index: int) -> Any:
        return self._function(**self._sets.sets[index].given)

    def ready(self, index: int) -> Step:
        """See ``Work``.

        Gradients that accumulate are added to zeros: the addition is timed in full, and what a
        call leaves behind is its own gradient, which can be judged like any other. A graph of
        before is not valid any more once inputs are marked, so ``backward`` leaves them alone.
        """
        self._sets.mark(index, inputs=self._pass != "backward")
        if self._pass == "forward":
            return partial(self._function, **self._sets.sets[index].given)
        if self._accumulate:
            self._sets.zero_gradients(index)
        else:
            self._sets.drop_gradients(index)
        if self._pass == "backward":
            return self._backward_step(index)
        return self._full_step(index)

    def _backward_step(self, index: int) -> Step:
        roots, upstream = self._ends[index]
        return partial(self._backward, roots, upstream, retain_graph=True)

    def _full_step(self, index: int) -> Step:
        one, function, backward = self._sets.sets[index], self._function, self._backward

        def call() -> Any:
            result = function(**one.given)
            roots, upstream = _roots(one, result)
            backward(roots, upstream, retain_graph=True)
            return result

        return call

    def end(self) -> None:
        """See ``Work``."""
        self._forget()
        for index in range(self.count):
            self._sets.drop_gradients(index)

    def mode(self) -> AbstractContextManager[Any]:
        """Gradients are recorded, as torch does by default."""
        return nullcontext()

    def capturing(self) -> AbstractContextManager[Any]:
        """See ``Work``; gradients go to leaves of its own."""
        return self._sets.fresh_leaves()

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """See ``Work``; of ``backward``, the outputs are those of the forward outside."""
        one = self._sets.sets[index]
        outputs = name_outputs(one, self.result_of(index, result))
        if self._pass == "forward":
            return outputs, {}
        gradients = {
            f"grad_{name}": leaf.grad for name, leaf in one.leaves.items() if leaf.grad is not None
        }
        return outputs, gradients

    def result_of(self, index: int, result: Any) -> Any:
        """See ``Work``."""
        return self._forwards[index] if self._pass == "backward" else result


class FixedWork:
    """A piece of trusted work that has no inputs: the anchor and the sentinels."""

    count, reuses = 1, False

    def __init__(self, step: Step) -> None:
        self._step = step

    def begin(self, refresh: int) -> None:
        """See ``Work``."""

    def refresh_only(self, refresh: int) -> None:
        """See ``Work``."""

    def ready(self, index: int) -> Step:
        """See ``Work``."""
        return self._step

    def end(self) -> None:
        """See ``Work``."""

    def mode(self) -> AbstractContextManager[Any]:
        """Gradients are not wanted."""
        return _no_gradients()

    def capturing(self) -> AbstractContextManager[Any]:
        """See ``Work``."""
        return nullcontext()

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Nothing of it is compared."""
        return {}, {}

    def result_of(self, index: int, result: Any) -> Any:
        """See ``Work``."""
        return result


@cache
def bind_backward() -> Function:
    """``torch.autograd.backward`` as it was when this was first called."""
    from torch import autograd

    function: Function = autograd.backward
    return function


@contextmanager
def _no_gradients() -> Iterator[None]:
    import sys

    if "torch" not in sys.modules:
        yield
        return
    import torch

    with torch.no_grad():
        yield


def name_outputs(one: Set, result: Any) -> dict[str, Any]:
    """The results by output name, in operation order; refuses another number of them."""
    names = [spec.name for spec in one.case.operation.outputs]
    if isinstance(result, Mapping):
        found = dict(result)
    else:
        values = result if isinstance(result, tuple | list) else (result,)
        found = dict(zip(names, values, strict=False)) if len(values) == len(names) else {}
    if set(found) != set(names):
        text = f"the call returned {_shown(result)}; wanted {', '.join(names)}, in this order"
        raise Refusal("incorrect_shape", "output_count", text)
    return found


def _shown(result: Any) -> str:
    if isinstance(result, tuple | list):
        return f"{len(result)} values"
    return f"names {sorted(map(str, result))}" if isinstance(result, Mapping) else "one value"


def _roots(one: Set, result: Any) -> tuple[list[Any], list[Any]]:
    """Outputs that take gradients, and their upstream gradients."""
    outputs = name_outputs(one, result)
    names = [name for name in outputs if name in one.upstream and outputs[name].requires_grad]
    if not names:
        text = "no output of forward requires a gradient, so there is no backward to run"
        raise Refusal("unsupported", "no_backward", text)
    return [outputs[name] for name in names], [one.upstream[name] for name in names]
