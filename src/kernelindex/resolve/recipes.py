"""How to use what a manifest describes: the line that installs it, imports it, reruns it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kernelindex.ids import short
from kernelindex.policy.deployability import install_gap
from kernelindex.registry.recipes import build_variants

if TYPE_CHECKING:
    from collections.abc import Mapping

    Spec = Mapping[str, Any]

IMPORTED_INTERFACES = ("pytorch", "python", "jax")
SOURCE_ROOTS = ("src", "python")
NO_COMMAND = "its recipe states no command"


@dataclass(frozen=True, slots=True)
class Usage:
    """How an implementation is installed and imported, or in words why nothing installs it."""

    install: str | None
    imports: str | None
    gap: str


def usage_of(implementation: Spec, *, restated: bool = False) -> Usage:
    """The usage of an implementation from its spec; what is not installed is not imported."""
    install = install_line(implementation)
    if install:
        return Usage(install, import_line(implementation), "")
    return Usage(None, None, install_gap(implementation, restated=restated) or NO_COMMAND)


def install_line(implementation: Spec) -> str | None:
    """The command that installs an implementation, from its spec; None where none is known."""
    for variant in build_variants(implementation):
        line = _install(variant["install"])
        if line:
            return line
    return None


def import_line(implementation: Spec) -> str | None:
    """The Python statement that imports the callable; None where its path is no module."""
    called = implementation.get("callable", {})
    path, symbol = str(called.get("path", "")), str(called.get("symbol", ""))
    names = [name.strip() for name in symbol.split(",")]
    if called.get("interface") not in IMPORTED_INTERFACES or not path.endswith(".py"):
        return None
    parts = path.removesuffix(".py").split("/")
    parts = parts[1:] if parts[0] in SOURCE_ROOTS else parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if not parts or not all(map(str.isidentifier, [*parts, *names])):
        return None
    return f"from {'.'.join(parts)} import {', '.join(names)}"


def rerun_line(run: str) -> str | None:
    """The command that repeats a run under the controlled protocol, where the runner is here."""
    return f"ki bench reproduce {short(run)}" if _has_runner() else None


@cache
def _has_runner() -> bool:
    return find_spec("kernelindex.runner") is not None


def _install(install: Spec) -> str | None:
    if install.get("command"):
        return str(install["command"])
    package, version = install.get("package"), install.get("version")
    if install["kind"] in ("pip", "package") and package:
        return f"pip install {shlex.quote(f'{package}=={version}' if version else str(package))}"
    if install["kind"] == "container" and package:
        return f"docker pull {shlex.quote(f'{package}:{version}' if version else str(package))}"
    repository, commit = install.get("repository"), install.get("commit")
    if install["kind"] == "git" and repository:
        place = f"git+{repository}@{commit}" if commit else f"git+{repository}"
        return f"pip install {shlex.quote(place)}"
    return None
