"""What an audit may do with a candidate: write contents, call, and time one call.

Contents are drawn from what was loaded, by a key: rows are permuted and signs flipped, so that
no content is a roll of another, as those of refreshes are. Rows of one call move alike.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.stats import Random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kernelindex.runner.probe.sets import Sets
    from kernelindex.runner.probe.timers import Step, Timer
    from kernelindex.runner.probe.work import Work

# Queued before a timed call on a device: what eager autograd takes to issue a call.
HOLD_NS = 500_000.0
_STATE = -1  # a refresh offset that no worker draws: the contents are an audit's


@dataclass(slots=True)
class Bench:
    """One pass of one candidate under audit.

    ``wait`` sleeps (seconds) and ``synchronize`` waits for the device; both were taken before
    the candidate's import.
    """

    timed_pass: str
    device: str
    work: Work
    sets: Sets
    timer: Timer
    seed: int = 1
    wait: Callable[[float], object] = time.sleep
    clock: Callable[[], int] = time.perf_counter_ns
    random: Random = field(init=False)
    used: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    @property
    def count(self) -> int:
        """How many input sets rotate."""
        return len(self.sets.sets)

    @property
    def training(self) -> bool:
        """Whether weights change between calls."""
        return self.timed_pass != "inference"

    @property
    def per_call_names(self) -> list[str]:
        """Inputs that are new at every call."""
        return [spec.name for spec in self._specs if spec.role != "static"]

    @property
    def static_names(self) -> list[str]:
        """Inputs that stay, weights: refreshed in training only."""
        return [spec.name for spec in self._specs if spec.role == "static"]

    @property
    def _specs(self) -> Sequence[Any]:
        return self.sets.sets[0].case.operation.inputs

    def fresh_key(self) -> int:
        """A key of contents never used before."""
        self.used += 1
        return (self.seed << 20) + self.used

    def write(self, index: int, key: int, names: Iterable[str]) -> None:
        """Write contents of a key into the named inputs of a set, at their addresses."""
        one, flipped = self.sets.sets[index], self.per_call_names
        for name in names:
            _copy(one.plain[name], vary(one.base[name], key, flip=name in flipped))
        _renew(one)
        one.state = (_STATE, self.training)

    def write_upstream(self, index: int, key: int) -> None:
        """Write contents of a key into the upstream gradients of a set."""
        one = self.sets.sets[index]
        for name, tensor in one.upstream.items():
            _copy(tensor, vary(one.upstream_base[name], key, flip=True))
        one.state = (_STATE, self.training)

    def write_all(self, keys: Mapping[int, int]) -> None:
        """Write per-call inputs and upstream gradients of several sets; then make them ready."""
        for index, key in keys.items():
            self.write(index, key, self.per_call_names)
            self.write_upstream(index, self.upstream_key(key))
        self.begin()

    @staticmethod
    def upstream_key(key: int) -> int:
        """The key of the upstream gradients that go with a key of inputs."""
        return key + (1 << 40)

    def begin(self) -> None:
        """Make the pass ready with the contents as they are: for backward, runs the forwards."""
        for one in self.sets.sets:
            one.state = (_STATE, self.training)
        with self.work.mode():
            self.work.begin(_STATE)

    def call(self, order: Sequence[int]) -> Any:
        """Make untimed calls on sets in this order, and wait; gives the last result."""
        result: Any = None
        with self.work.mode():
            for index in order:
                result = self.work.ready(index)()
        self.timer.synchronize()
        return result

    def time(self, index: int, late: Callable[[], None] = lambda: None) -> float:
        """Time one call on a set (ns): on a device by its timer, in a cold cache.

        ``late`` runs once the call is ready, untimed.

        On a host by the clock alone: its timer makes several calls of short ones, and a flush of
        a large cache takes longer than all calls of an audit.
        """

        def ready(_: int) -> Step:
            step = self.work.ready(index)
            late()
            return step

        with self.work.mode():
            if self.device.startswith("cuda"):
                return self.timer.take(1, ready, cold=True, hold_ns=HOLD_NS).samples_ns[0]
            step = ready(0)
            begun = self.clock()
            step()
            return float(self.clock() - begun)

    def answer(self, index: int) -> dict[str, Any]:
        """Copies of the outputs and gradients of one untimed call on a set, of that call alone."""
        self.sets.drop_gradients(index)
        return self.copies(index, self.call([index]))

    def copies(self, index: int, result: Any) -> dict[str, Any]:
        """Copies of the outputs and gradients that a call on a set left."""
        outputs, gradients = self.work.collect(index, result)
        made = gradients if self.timed_pass == "backward" else {**outputs, **gradients}
        return {name: _kept(tensor) for name, tensor in made.items()}

    @contextmanager
    def moved(self, index: int) -> Iterator[None]:
        """While open, the per-call inputs of a set lie at other addresses, with their contents."""
        one = self.sets.sets[index]
        kept = dict(one.plain), dict(one.given), dict(one.leaves)
        for name in self.per_call_names:
            _move(one, name)
        try:
            yield
        finally:
            for held, before in zip((one.plain, one.given, one.leaves), kept, strict=True):
                held.update(before)

    def restore(self) -> None:
        """Put the loaded contents back; a later refresh starts from them."""
        self.work.end()
        for one in self.sets.sets:
            one.state = (_STATE, not self.training)
        self.sets.refresh(0, training=self.training)


def vary(base: Any, key: int, *, flip: bool) -> Any:
    """Contents for a key: rows permuted alike for one number of rows; signs of rows flipped.

    Signs of floating tensors of two axes and more only: routing weights and labels stay valid.
    """
    if len(base.shape) == 0 or base.shape[0] < 2:
        return base
    if hasattr(base, "untyped_storage"):
        return _vary_tensor(base, key, flip)
    import numpy as np

    rng = np.random.default_rng(key)
    moved = base[rng.permutation(base.shape[0])]
    if flip and base.ndim > 1 and base.dtype.kind == "f" and (base < 0).any():
        shape = (base.shape[0],) + (1,) * (base.ndim - 1)
        moved *= rng.choice(np.array([-1, 1], base.dtype), shape)
    return moved


def _vary_tensor(base: Any, key: int, flip: bool) -> Any:
    import torch

    rows = base.shape[0]
    generator = torch.Generator(device="cpu").manual_seed(key)
    order = torch.randperm(rows, generator=generator)
    signs = torch.randint(0, 2, (rows,), generator=generator) * 2 - 1
    moved = base.index_select(0, order.to(base.device))
    if flip and base.dim() > 1 and base.is_floating_point() and bool((base < 0).any()):
        shape = (rows,) + (1,) * (base.dim() - 1)
        moved *= signs.to(base.device, base.dtype).view(shape)
    return moved


def _copy(target: Any, contents: Any) -> None:
    if not hasattr(target, "untyped_storage"):
        target[...] = contents
        return
    import torch

    with torch.no_grad():
        target.copy_(contents)


def _move(one: Any, name: str) -> None:
    copied = _kept(one.plain[name])
    one.plain[name] = copied
    if name in one.leaves:
        leaf = copied.clone().requires_grad_()
        one.plain[name], one.leaves[name], one.given[name] = leaf.detach(), leaf, leaf
    elif name in one.given:
        one.given[name] = copied


def _renew(one: Any) -> None:
    """A non-leaf weight is its leaf times one: make it again from what was written."""
    for name, leaf in one.leaves.items():
        if one.given[name] is not leaf:
            one.given[name] = leaf * 1


def _kept(tensor: Any) -> Any:
    return tensor.detach().clone() if hasattr(tensor, "untyped_storage") else tensor.copy()
