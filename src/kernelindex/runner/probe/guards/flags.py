"""Global flags of torch and the process: read, compared, put back."""

from __future__ import annotations

import gc
import os
import random
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Where compiled code is kept and looked for: the worker sets these for each candidate.
CACHE_VARIABLES = (
    *("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"),
    *("HOME", "TMPDIR", "XDG_CACHE_HOME", "PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH"),
)


@dataclass(frozen=True)
class Flag:
    """One global flag: how it is read, and how it is put back (None: it cannot be)."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object] | None


def process_flags() -> list[Flag]:
    """Flags of the interpreter and the process."""
    return [
        Flag("gc.isenabled", gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
        Flag("sys.getswitchinterval", sys.getswitchinterval, sys.setswitchinterval),
        Flag("sys.gettrace", sys.gettrace, sys.settrace),
        Flag("sys.getprofile", sys.getprofile, sys.setprofile),
        Flag(
            "os.sched_getaffinity",
            lambda: frozenset(os.sched_getaffinity(0)),
            lambda cores: os.sched_setaffinity(0, cores),
        ),
        Flag("denormals flushed", _flushes_denormals, None),
    ]


def torch_flags(device: str) -> list[Flag]:
    """Flags of torch that change what is computed, how precisely, or where."""
    import torch

    flags = [
        Flag("torch.get_default_dtype", torch.get_default_dtype, torch.set_default_dtype),
        Flag("torch.get_default_device", torch.get_default_device, _reset_default_device),
        Flag("torch.is_grad_enabled", torch.is_grad_enabled, torch.set_grad_enabled),
        Flag("torch.is_inference_mode_enabled", torch.is_inference_mode_enabled, None),
        Flag(
            "torch.get_float32_matmul_precision",
            torch.get_float32_matmul_precision,
            torch.set_float32_matmul_precision,
        ),
        Flag("torch.get_num_threads", torch.get_num_threads, torch.set_num_threads),
        Flag(
            "torch.are_deterministic_algorithms_enabled",
            torch.are_deterministic_algorithms_enabled,
            torch.use_deterministic_algorithms,
        ),
        Flag("torch function modes", torch._C._len_torch_function_stack, _pop_function_modes),
        Flag("torch dispatch modes", torch._C._len_torch_dispatch_stack, _pop_dispatch_modes),
        # The state that calls draw from may advance; the seed it began with may not change.
        Flag("torch.initial_seed", torch.initial_seed, torch.manual_seed),
        *_autocast_flags(device),
        *_backend_flags(),
    ]
    return flags + (_cuda_flags() if device.startswith("cuda") else [])


def _reset_default_device(_: object) -> None:
    import torch

    torch.set_default_device(None)


def _pop_function_modes(wanted: int) -> None:
    import torch

    while torch._C._len_torch_function_stack() > wanted:
        torch._C._pop_torch_function_stack()


def _pop_dispatch_modes(wanted: int) -> None:
    import torch

    while torch._C._len_torch_dispatch_stack() > wanted:
        torch._C._pop_torch_dispatch_stack()


def _flushes_denormals() -> bool:
    smallest = sys.float_info.min
    return smallest / 2 == 0.0


def _autocast_flags(device: str) -> list[Flag]:
    import torch

    kinds = sorted({"cpu", device.split(":", maxsplit=1)[0]})
    flags = [
        Flag(
            "torch.is_autocast_cache_enabled",
            torch.is_autocast_cache_enabled,
            torch.set_autocast_cache_enabled,
        )
    ]
    for kind in kinds:
        flags += [
            Flag(
                f"torch.is_autocast_enabled({kind})",
                partial(torch.is_autocast_enabled, kind),
                partial(torch.set_autocast_enabled, kind),
            ),
            Flag(
                f"torch.get_autocast_dtype({kind})",
                partial(torch.get_autocast_dtype, kind),
                partial(torch.set_autocast_dtype, kind),
            ),
        ]
    return flags


def _backend_flags() -> list[Flag]:
    import torch

    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    named = [
        *(("torch.backends.cuda.matmul", matmul, name) for name in (
            "allow_tf32",
            "allow_fp16_reduced_precision_reduction",
            "allow_bf16_reduced_precision_reduction",
        )),
        *(("torch.backends.cudnn", cudnn, name) for name in (
            "allow_tf32", "benchmark", "deterministic", "enabled",
        )),
    ]  # fmt: skip
    return [_attribute_flag(prefix, owner, name) for prefix, owner, name in named]


def _attribute_flag(prefix: str, owner: Any, name: str) -> Flag:
    return Flag(
        f"{prefix}.{name}",
        lambda: getattr(owner, name),
        lambda value: setattr(owner, name, value),
    )


def _cuda_flags() -> list[Flag]:
    import torch

    return [
        Flag("torch.cuda.current_device", torch.cuda.current_device, torch.cuda.set_device),
        Flag("torch.cuda.current_stream", torch.cuda.current_stream, torch.cuda.set_stream),
        Flag("torch.cuda.initial_seed", torch.cuda.initial_seed, torch.cuda.manual_seed),
    ]


@dataclass(frozen=True)
class FlagValues:
    """The flags and the values they had when captured."""

    flags: tuple[Flag, ...]
    values: tuple[Any, ...]
    cache_variables: dict[str, str]

    @classmethod
    def capture(cls, flags: list[Flag]) -> FlagValues:
        """The values as they are now."""
        variables = {name: os.environ[name] for name in CACHE_VARIABLES if name in os.environ}
        return cls(tuple(flags), tuple(flag.read() for flag in flags), variables)

    def _pairs(self) -> list[tuple[Flag, Any]]:
        return list(zip(self.flags, self.values, strict=True))

    def changed(self) -> dict[str, tuple[Any, Any]]:
        """Flags that differ now: name to (value then, value now)."""
        seen = ((flag.name, then, flag.read()) for flag, then in self._pairs())
        return {name: (then, now) for name, then, now in seen if now != then}

    def redirected(self) -> dict[str, tuple[str, str | None]]:
        """Variables that place compiled code and differ now, put back at once."""
        changed = {
            name: (then, os.environ.get(name))
            for name, then in self.cache_variables.items()
            if os.environ.get(name) != then
        }
        os.environ.update({name: then for name, (then, _) in changed.items()})
        return changed

    def put_back(self) -> None:
        """Write every flag that differs back to its captured value, where it can be."""
        for flag, then in self._pairs():
            if flag.write is not None and flag.read() != then:
                flag.write(then)


@dataclass(frozen=True)
class RandomStates:
    """Random states of Python and torch; a call may draw from them and they are put back."""

    python: Any
    host: Any
    device: Any

    @classmethod
    def capture(cls, device: str) -> RandomStates:
        """The states now; ``device`` None where it has none."""
        import torch

        on_device = torch.cuda.get_rng_state() if device.startswith("cuda") else None
        return cls(random.getstate(), torch.get_rng_state(), on_device)

    def put_back(self) -> None:
        """Restore every state, whether or not it moved."""
        import torch

        random.setstate(self.python)
        torch.set_rng_state(self.host)
        if self.device is not None:
            torch.cuda.set_rng_state(self.device)
