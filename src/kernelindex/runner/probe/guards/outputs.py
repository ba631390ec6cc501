"""What a call returned: a plain, whole, own tensor of the wanted shape, dtype and device."""

from __future__ import annotations

import math
import sys
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError
from kernelindex.runner.cheats.codes import Finding
from kernelindex.runner.operations.dtypes import dtype_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.operations.case import Case


def check_form(name: str, tensor: Any, case: Case, device: str) -> Finding | None:
    """The first thing wrong with an output's type, storage, device, shape or dtype."""
    return (
        _check_type(name, tensor)
        or _check_lazy(name, tensor)
        or _check_meta(name, tensor, case, device)
        or _check_overlap(name, tensor)
    )


def check_untouched(name: str, tensor: Any) -> Finding | None:
    """A tensor that the runner holds may have no type and no methods of the candidate's."""
    if is_array(tensor):
        return None
    if type(tensor) not in _plain_types():
        kind = type(tensor).__qualname__
        return Finding("untimed_work", f"{name} was turned into a {kind}; wanted a torch.Tensor")
    own = [key for key, value in vars(tensor).items() if callable(value) and key in _methods()]
    if not own:
        return None
    text = f"{', '.join(own)} of {name} was replaced, which the runner may call untimed"
    return Finding("untimed_work", text)


@cache
def _methods() -> frozenset[str]:
    import torch

    return frozenset(dir(torch.Tensor))


def check_sharing(
    outputs: Mapping[str, Any], others: Mapping[str, Any], code: str, what: str
) -> list[Finding]:
    """One finding for each output whose memory overlaps that of one of ``others``."""
    spans = {name: memory_span(tensor) for name, tensor in others.items()}
    return [
        Finding(code, f"{name} shares memory with {what} {other}; wanted memory of its own")
        for name, tensor in outputs.items()
        for other, span in spans.items()
        if other != name and overlap(memory_span(tensor), span)
    ]


def check_mutual(outputs: Mapping[str, Any]) -> list[Finding]:
    """One finding for each pair of outputs whose elements lie between each other's.

    Parts of one allocation are memory of their own: a fused backward makes both gradients in one.
    """
    spans = {name: element_span(tensor) for name, tensor in outputs.items()}
    return [
        Finding("output_aliased", f"{one} shares memory with the output {other}; wanted its own")
        for one, other in combinations(sorted(spans), 2)
        if overlap(spans[one], spans[other])
    ]


def element_span(tensor: Any) -> tuple[str, int, int]:
    """Device, and byte addresses of the first element and past the last; of an array's base."""
    if is_array(tensor):
        return memory_span(tensor)
    start = tensor.data_ptr()
    if tensor.numel() == 0:
        return (str(tensor.device), start, start)
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in steps)
    return (str(tensor.device), start, start + (last + 1) * tensor.element_size())


def memory_span(tensor: Any) -> tuple[str, int, int]:
    """Device, first and past-the-last byte address of the storage a tensor or array lies in."""
    if is_array(tensor):
        while is_array(tensor.base):
            tensor = tensor.base
        start = tensor.__array_interface__["data"][0]
        return ("cpu", start, start + tensor.nbytes)
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    return (str(tensor.device), start, start + storage.nbytes())


def is_array(value: Any) -> bool:
    """Whether it is a numpy array and not a tensor."""
    return hasattr(value, "__array_interface__") and not hasattr(value, "untyped_storage")


def overlap(a: tuple[str, int, int], b: tuple[str, int, int]) -> bool:
    """Whether two spans of memory have a byte in common."""
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def holds_poison(tensor: Any, fill: int) -> bool:
    """Whether any whole element still has every byte equal to ``fill``."""
    import torch

    if tensor.numel() == 0:
        return False
    whole = tensor.detach().contiguous().view(-1).view(torch.uint8)
    return bool((whole.view(-1, tensor.element_size()) == fill).all(dim=1).any())


def snapshot(tensor: Any) -> Any:
    """A copy of the values at this point of the current stream (tensor or array)."""
    return tensor.copy() if is_array(tensor) else tensor.detach().clone()


def same_bits(a: Any, b: Any) -> bool:
    """Whether two tensors or arrays of one form hold the same bits, NaNs included."""
    if is_array(a):
        return bool(a.tobytes() == b.tobytes())
    import torch

    return bool(torch.equal(_words(a), _words(b)))


def fingerprint(tensor: Any) -> int:
    """A sum over all bits, weighted by place: one changed element shows, and one swapped pair.

    Works in pieces of 16 Mi elements, so that it needs little memory beside a large tensor.
    """
    if is_array(tensor):
        return hash(tensor.tobytes())
    import torch

    total = 0
    for piece in _words(tensor).split(1 << 24):
        places = torch.arange(1, piece.numel() + 1, device=piece.device)
        # int64 sums wrap and stay exact; the multiplier is 2^32 over the golden ratio.
        total = hash((total, int((piece.long() * (places * 0x9E3779B1)).sum())))
    return total


def _words(tensor: Any) -> Any:
    import torch

    flat = tensor.detach().contiguous().view(-1)
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return flat.view(kinds[flat.element_size()])


def _check_type(name: str, tensor: Any) -> Finding | None:
    kind = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
    if type(tensor) in _plain_types():
        return None
    return Finding("output_type", f"{name} is a {kind}; wanted exactly torch.Tensor")


def _plain_types() -> set[type]:
    types = [("torch", "Tensor"), ("numpy", "ndarray")]
    return {getattr(sys.modules[name], kind) for name, kind in types if name in sys.modules}


def _check_lazy(name: str, tensor: Any) -> Finding | None:
    if is_array(tensor):
        return None
    import torch

    reasons = {
        "a meta tensor": tensor.is_meta,
        f"laid out {tensor.layout}": tensor.layout is not torch.strided,
        "nested": tensor.is_nested,
        "functional": torch._is_functional_tensor(tensor),
        "conjugated when read": tensor.is_conj(),
        "negated when read": tensor.is_neg(),
        "copied when written": _is_cow(tensor),
    }
    seen = [reason for reason, holds in reasons.items() if holds]
    if not seen and tensor.numel() and not tensor.untyped_storage().nbytes():
        seen = ["without storage"]
    if not seen:
        return None
    return Finding("output_lazy", f"{name} is {', '.join(seen)}; wanted values in memory")


def _is_cow(tensor: Any) -> bool:
    import torch

    check = getattr(torch._C, "_is_cow_tensor", None)
    return bool(check and check(tensor))


def _check_meta(name: str, tensor: Any, case: Case, device: str) -> Finding | None:
    shape, dtype = case.shape(name), case.dtype(name)
    if tuple(tensor.shape) != shape:
        text = f"{name} has shape {tuple(tensor.shape)}; wanted {shape}"
        return Finding("output_shape", text)
    if (seen := _dtype_name(tensor)) != dtype:
        return Finding("output_dtype", f"{name} is {seen}; wanted {dtype}")
    if not is_array(tensor) and not _on(str(tensor.device), device):
        return Finding("output_device", f"{name} is on {tensor.device}; wanted {device}")
    return None


def _on(seen: str, wanted: str) -> bool:
    return seen == wanted or (wanted == "cuda" and seen.startswith("cuda:"))


def _dtype_name(tensor: Any) -> str:
    try:
        return dtype_name(tensor.dtype)
    except NotFoundError:
        return str(tensor.dtype)


def _check_overlap(name: str, tensor: Any) -> Finding | None:
    array = is_array(tensor)
    strides = tuple(tensor.strides if array else tensor.stride())
    if not repeats(tuple(tensor.shape), strides, tensor.itemsize if array else 1):
        return None
    text = f"{name} has shape {tuple(tensor.shape)} and strides {strides}"
    return Finding("output_stride_zero", f"{text}: elements share memory; wanted each its own")


def repeats(shape: tuple[int, ...], strides: tuple[int, ...], unit: int = 1) -> bool:
    """Whether elements certainly share memory: a stride of 0, or fewer places than elements."""
    if 0 in shape:
        return False
    places = 1 + sum(
        (size - 1) * abs(stride) // unit for size, stride in zip(shape, strides, strict=True)
    )
    flat = any(size > 1 and stride == 0 for size, stride in zip(shape, strides, strict=True))
    return flat or math.prod(shape) > places


def is_plain(tensor: Any) -> bool:
    """Whether its memory can be read without running any code of the candidate."""
    if type(tensor) not in _plain_types():
        return False
    return is_array(tensor) or _check_lazy("", tensor) is None
