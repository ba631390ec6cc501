"""Whether timers, events and the runner's own functions are still the objects they were."""

from __future__ import annotations

import builtins
import sys
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = "kernelindex."
# What candidates are loaded from, and what may be reloaded with them.
NOT_OURS = ("kernelindex.runner.operations.", "kernelindex.runner.cheats.", "kernelindex.kernels.")

_CLOCKS = (
    *("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
    *("process_time", "process_time_ns", "thread_time_ns", "clock_gettime_ns", "sleep"),
)
_TENSOR = (
    *("clone", "copy_", "detach", "data_ptr", "untyped_storage", "stride", "size", "backward"),
    *("to", "item", "requires_grad_", "view", "cpu", "numpy", "__torch_function__", "grad"),
)
_CUDA = ("Event", "Stream", "synchronize", "current_stream", "stream", "graph")
# Not torch.cuda.set_stream: vLLM puts its own there on import; which stream is current is a flag.
# Names watched by module; a class's methods are watched where listed as Class.method.
WATCHED = {
    "time": _CLOCKS,
    "os": ("read", "write", "fork", "kill", "_exit", "getpid"),
    "json": ("dumps", "loads"),
    "socket": ("socket.send", "socket.sendall", "socket.recv", "socket.recv_into"),
    "struct": ("pack", "unpack", "Struct"),
    "gc": ("collect", "get_objects"),
    "torch": ("Tensor", "empty", "equal", "roll", "isfinite", "no_grad", *(
        f"Tensor.{name}" for name in _TENSOR
    )),
    "torch.autograd": ("backward", "grad", "Function"),
    "torch.cuda": (*_CUDA, *(f"Event.{n}" for n in ("record", "elapsed_time", "synchronize")),
                   *(f"Stream.{n}" for n in ("synchronize", "wait_event", "record_event"))),
}  # fmt: skip


@dataclass(frozen=True)
class Identities:
    """Every watched object by name, with its code object where it is a Python function."""

    objects: dict[str, tuple[Any, Any]]

    @classmethod
    def capture(cls) -> Identities:
        """The objects as they are now; call it before the candidate's import."""
        return cls({name: (found, _code(found)) for name, found in _walk()})

    def changed(self) -> list[str]:
        """Names whose object, or whose function's code, is another one now or is gone."""
        now = dict(_walk())
        return [
            name
            for name, (found, code) in self.objects.items()
            if now.get(name) is not found or _code(now.get(name)) is not code
        ]


def _code(found: object) -> object:
    return found.__code__ if type(found) is FunctionType else None


def _walk() -> Iterator[tuple[str, Any]]:
    for name, found in vars(builtins).items():
        if name != "_":  # the interpreter and gettext write it
            yield f"builtins.{name}", found
    for module, names in WATCHED.items():
        if module in sys.modules:
            yield from _named(sys.modules[module], module, names)
    for module, loaded in list(sys.modules.items()):
        if module.startswith(OWN) and not f"{module}.".startswith(NOT_OURS):
            yield from _own(module, loaded)


def _named(module: ModuleType, prefix: str, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name in names:
        owner: Any = module
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part, None)
        found = _attribute(owner, last)
        if found is not None:
            yield f"{prefix}.{name}", found


def _attribute(owner: Any, name: str) -> Any:
    """The stored object, not a method bound anew at each look."""
    for base in getattr(owner, "__mro__", ()):
        if name in vars(base):
            return vars(base)[name]
    return getattr(owner, name, None)


def _own(prefix: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, found in list(vars(module).items()):
        if isinstance(found, type) and found.__module__ == prefix:
            for method, stored in list(vars(found).items()):
                yield from _callables(f"{prefix}.{name}.{method}", stored)
        if callable(found) or isinstance(found, ModuleType):
            yield f"{prefix}.{name}", found


def _callables(name: str, stored: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(stored, classmethod | staticmethod):
        stored = stored.__func__
    if callable(stored):
        yield name, stored
