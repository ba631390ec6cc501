"""What a candidate raised, as a refusal with a status of BenchmarkRun and a stable code."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT_LIMIT = 2000
_COMPILING = ("triton.compiler", "triton.runtime.errors", "torch._inductor", "torch._dynamo")
# CUDA's text, and that of torch's allocator on a host, which raises a plain RuntimeError.
_NO_MEMORY = re.compile("out of memory|can't allocate memory", re.IGNORECASE)
_OUT_OF_MEMORY = ("OutOfMemoryError", "MemoryError", "_ArrayMemoryError")


@contextmanager
def as_refusal(doing: str) -> Iterator[None]:
    """Turn what a candidate raises while ``doing`` into a refusal; refusals pass unchanged."""
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        status, code = classify(error)
        text = f"{doing}: {type(error).__name__}: {error}"[:_TEXT_LIMIT]
        raise Refusal(status, code, text) from error


def classify(error: BaseException) -> tuple[str, str]:
    """Status and code of an exception, by its type's name and module: none need be installed."""
    names = {one.__name__ for one in type(error).__mro__}
    if names & set(_OUT_OF_MEMORY) or _NO_MEMORY.search(str(error)):
        return "resource_exceeded", "memory_exhausted"
    if "OutOfResources" in names:
        return "compile_error", "out_of_resources"
    modules = [one.__module__ for one in type(error).__mro__]
    if any(module.startswith(_COMPILING) for module in modules):
        return "compile_error", "compilation_failed"
    if isinstance(error, NotImplementedError):
        return "unsupported", "not_implemented"
    if isinstance(error, ModuleNotFoundError):
        return "unsupported", "package_missing"
    return "runtime_error", "raised"
