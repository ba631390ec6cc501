"""Rotating input sets on the device, refreshed between measurements without being sent again.

A set's tensors keep their addresses; a refresh rewrites their contents by rolling what was
loaded (``kernelindex.runner.judge.refresh``, which the judge uses as well), so that contents
change where a candidate might remember addresses. What was loaded is kept apart and is never
handed to a candidate.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex.runner.judge.refresh import refreshed
from kernelindex.runner.probe.choosing import draw_unit
from kernelindex.runner.probe.gradients import bind_gradients
from kernelindex.runner.tensor_file import read_header, read_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import torch

    from kernelindex.runner.operations.case import Case
    from kernelindex.runner.probe.gradients import Buffer

LEAST_STEP, STEPS = 4, 4


@dataclass(slots=True)
class Set:
    """One set: ``given`` is what a candidate gets in training, ``plain`` in inference.

    ``leaves`` are the differentiable inputs' leaf tensors, whose ``.grad`` is the gradient;
    where the point says ``non_leaf``, the given weight is the leaf times one.
    ``base`` and ``upstream_base`` are the contents as loaded.
    """

    case: Case
    base: Mapping[str, Any]
    plain: dict[str, Any]
    upstream_base: Mapping[str, Any] = field(default_factory=dict)
    upstream: dict[str, Any] = field(default_factory=dict)
    leaves: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    state: tuple[int, bool] = (0, False)


class Sets(Protocol):
    """The input sets of one draw."""

    @property
    def sets(self) -> Sequence[Set]:
        """The sets, in the order of their files."""

    def refresh(self, offset: int, *, training: bool) -> None:
        """Rewrite every set's contents for this offset; static ones only in training."""

    def mark(self, index: int, *, inputs: bool) -> None:
        """Mark upstream gradients and, with ``inputs``, what is new at every call as written to.

        In use they are, so nothing that goes by a tensor's version may gain by it here.
        """

    def drop_gradients(self, index: int) -> None:
        """Set the gradients of a set to None."""

    def zero_gradients(self, index: int) -> None:
        """Give the leaves of a set gradients of zeros, in the same memory until dropped."""

    def fresh_leaves(self) -> AbstractContextManager[None]:
        """While open, leaves are tensors that no graph was made of yet."""


class TorchSets:
    """Sets of tensors; ``non_leaf`` weights are made as ``leaf * 1`` under autograd.

    That multiplication costs backward what Liger's benchmark costs it, where weights are made
    as ``randn(requires_grad=True) * 0.02``: its own backward and an accumulation into the leaf.
    The factor is one so that the contents are exactly the judge's.
    """

    def __init__(
        self,
        case: Case,
        device: str,
        files: Sequence[str],
        upstream: Sequence[str],
        *,
        non_leaf: bool,
    ) -> None:
        self._non_leaf = non_leaf
        self._gradients = bind_gradients()
        self._buffers: dict[tuple[int, str], Buffer] = {}
        self._versions: dict[tuple[int, str], tuple[Any, int]] = {}  # as they were left
        self._draw = draw_unit
        self.sets: Sequence[Set] = [
            self._load(case, device, one, upstream[at] if at < len(upstream) else None)
            for at, one in enumerate(files)
        ]

    def refresh(self, offset: int, *, training: bool) -> None:
        """See ``Sets``; graphs made before are no longer valid afterwards."""
        for one in self.sets:
            if one.state != (offset, training):
                _write_torch(one, offset, training)
                one.state = (offset, training)

    def mark(self, index: int, *, inputs: bool) -> None:
        """See ``Sets``; a leaf shares the version of its plain tensor.

        Versions go up by a number drawn each time, writing included: it tells nothing either.
        """
        one, torch = self.sets[index], self._gradients
        marked = dict(one.upstream)
        if inputs:
            per_call = (s.name for s in one.case.operation.inputs if s.role != "static")
            marked |= {f"{name} of inputs": one.plain[name] for name in per_call}
        step = LEAST_STEP + int(self._draw() * STEPS)
        for name, tensor in marked.items():
            held, left = self._versions.get((index, name), (None, 0))
            # A tensor that took another's place has a count of its own.
            before = left if held is tensor else torch.version(tensor)
            self._versions[index, name] = tensor, torch.raise_version(tensor, before + step)

    def drop_gradients(self, index: int) -> None:
        """See ``Sets``; buffers of ours go as well."""
        for name, leaf in self.sets[index].leaves.items():
            self._gradients.drop(leaf)
            self._buffers.pop((index, name), None)

    def zero_gradients(self, index: int) -> None:
        """See ``Sets``; a leaf that took another's place gets a buffer of its own."""
        for name, leaf in self.sets[index].leaves.items():
            held = self._buffers.get((index, name))
            if held is None or held.leaf is not leaf:
                held = self._buffers[index, name] = self._gradients.make(leaf)
            self._gradients.renew(held)

    @contextmanager
    def fresh_leaves(self) -> Iterator[None]:
        """While open, leaves are new tensors in the same memory.

        Autograd adds up a leaf's gradient on the stream that its first graph was made on. A new
        leaf has no graph yet, so a capture's stream becomes its own.
        """
        kept = [(one, dict(one.leaves), dict(one.given)) for one in self.sets]
        for one, leaves, given in kept:
            for name, leaf in leaves.items():
                fresh = leaf.detach().requires_grad_()
                one.leaves[name] = fresh
                one.given[name] = fresh if given[name] is leaf else _times_one(fresh)
        try:
            yield
        finally:
            for one, leaves, given in kept:
                one.leaves.update(leaves)
                one.given.update(given)

    def _load(self, case: Case, device: str, file: str, upstream: str | None) -> Set:
        case = _case_of_file(case, file)
        base = read_tensors(Path(file), device, mapped=True)  # the judge wrote it
        live = {name: tensor.clone() for name, tensor in base.items()}
        upstream_base = read_tensors(Path(upstream), device, mapped=True) if upstream else {}
        made = Set(case, base, {name: one.detach() for name, one in live.items()})
        made.upstream_base = upstream_base
        made.upstream = {name: tensor.clone() for name, tensor in upstream_base.items()}
        for spec in case.operation.inputs:
            made.given[spec.name] = live[spec.name]
            if spec.differentiable:
                leaf = live[spec.name].requires_grad_()
                made.leaves[spec.name] = leaf
                if self._non_leaf and spec.role == "static":
                    made.given[spec.name] = leaf * 1
        return made


def _write_torch(one: Set, offset: int, training: bool) -> None:
    """Rewrite contents in place; a non-leaf weight is its leaf times one, so it is made anew."""
    import torch

    contents, upstream = refreshed(one.case, one.base, one.upstream_base, offset, training=training)
    with torch.no_grad():
        for name, tensor in contents.items():
            one.plain[name].copy_(tensor)
            if name in one.leaves and one.given[name] is not one.leaves[name]:
                one.given[name] = _times_one(one.leaves[name])
        for name, tensor in upstream.items():
            one.upstream[name].copy_(tensor)


def _times_one(leaf: torch.Tensor) -> torch.Tensor:
    import torch

    with torch.enable_grad():
        return leaf * 1


class NumpySets:
    """Sets of numpy arrays, for candidates without autograd; needs no torch."""

    def __init__(self, case: Case, files: Sequence[str]) -> None:
        self.sets: Sequence[Set] = [_numpy_set(case, one) for one in files]

    def refresh(self, offset: int, *, training: bool) -> None:
        """See ``Sets``."""
        for one in self.sets:
            if one.state == (offset, training):
                continue
            contents, _ = refreshed(one.case, one.base, {}, offset, training=training)
            for name, array in contents.items():
                one.plain[name][...] = array
            one.state = (offset, training)

    def mark(self, index: int, *, inputs: bool) -> None:
        """An array has no version."""

    def drop_gradients(self, index: int) -> None:
        """Nothing: arrays have no gradients."""

    def zero_gradients(self, index: int) -> None:
        """Nothing: arrays have no gradients."""

    def fresh_leaves(self) -> AbstractContextManager[None]:
        """Nothing: arrays have no graphs."""
        return nullcontext()


def _numpy_set(case: Case, file: str) -> Set:
    from kernelindex.runner.array_file import read_arrays

    base = read_arrays(Path(file))
    plain = {name: array.copy() for name, array in base.items()}
    return Set(_case_of_file(case, file), base, plain, given=plain)


def _case_of_file(case: Case, file: str) -> Case:
    """The case of the draw that a file says it is of: shapes differ between draws."""
    draw = read_header(Path(file)).meta.get("draw", case.draw)
    return case if draw == case.draw else case.for_draw(draw)
