"""Gradients put and zeroed, inputs marked as new, out of a candidate's reach and of what is timed.

What is called here was bound before a candidate's import, on torch's own classes: an attribute
of a leaf or of its gradient, or a subclass it was turned into, runs nothing of the candidate's.
What a gradient's end sets off (a finalizer) cannot be helped; ``audits.untimed`` looks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Buffer:
    """A gradient's memory: ``given`` to its leaf, and ``own``, the same memory, to nobody."""

    leaf: Any
    given: Any
    own: Any


@dataclass(frozen=True, slots=True)
class Functions:
    """Torch's own functions; ``untouched`` is a context in which subclasses are asked nothing."""

    put: Callable[[Any, Any], None]
    zero: Callable[[Any], Any]
    zeros_like: Callable[[Any], Any]
    detach: Callable[[Any], Any]
    clone: Callable[[Any], Any]
    count_up: Callable[[tuple[Any, ...]], None]
    version: Callable[[Any], int]
    untouched: Callable[[], Any]

    def raise_version(self, tensor: Any, wanted: int) -> int:
        """Count up a tensor's version, as writing into it does, to ``wanted``, or by one.

        The version it has now.
        """
        with self.untouched():
            times = max(1, wanted - self.version(tensor))
            self.count_up((tensor,) * times)
            return self.version(tensor)

    def drop(self, leaf: Any) -> None:
        """Set a leaf's gradient to None."""
        with self.untouched():
            self.put(leaf, None)

    def make(self, leaf: Any) -> Buffer:
        """A buffer for the gradient of a leaf."""
        with self.untouched():
            own = self.zeros_like(leaf)
            return Buffer(leaf, self.detach(own), own)

    def renew(self, buffer: Buffer) -> None:
        """Zero a buffer, and make it its leaf's gradient, whatever that is by now."""
        with self.untouched():
            self.zero(buffer.own)
            self.put(buffer.leaf, buffer.given)


@cache
def bind_gradients() -> Functions:
    """Torch's functions as they were when this was first called."""
    import torch

    tensor: Any = torch.Tensor
    return Functions(
        put=tensor.grad.__set__,
        zero=tensor.zero_,
        zeros_like=torch.zeros_like,
        detach=tensor.detach,
        clone=tensor.clone,
        count_up=torch._C._increment_version,
        version=tensor._version.__get__,
        untouched=torch._C.DisableTorchFunction,
    )
