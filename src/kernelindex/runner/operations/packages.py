"""Names of packages that a candidate needs, imported when it is first called."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from kernelindex.runner.channel import Refusal

__all__ = ["require"]


@cache
def require(package: str, module: str, name: str) -> Any:
    """The attribute ``name`` of ``module``; refuses as ``unsupported`` where that cannot be had.

    ``package`` is what would have to be installed.
    """
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        text = f"{module} cannot be imported ({error}); install {package} to measure it"
        raise Refusal("unsupported", "package_missing", text) from error
    except AttributeError as error:
        text = f"the installed {package} has no {module}.{name}; install a release that has"
        raise Refusal("unsupported", "package_lacks", text) from error
