"""Which isolation is used, and the command that starts a program inside it."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.runner.sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("bubblewrap", "namespaces", "limits")
FEATURES = ("network", "files", "processes")
"""Cut off from the network; files read-only but its own; other processes out of sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """One way to enclose a process; ``program`` is bubblewrap's path where it is used.

    ``user`` says that a user namespace is needed, because the worker is not privileged.
    """

    kind: str
    features: tuple[str, ...] = ()
    user: bool = False
    program: str | None = None

    @property
    def text(self) -> str:
        """The isolation in words, for facts and pages."""
        cut = ", ".join(self.features) or "none of network, files, processes"
        return f"{self.kind} ({cut} cut off)"

    def facts(self) -> dict[str, Any]:
        """What evidence states of the isolation."""
        return {"kind": self.kind, "features": list(self.features), "text": self.text}


def build_command(
    isolation: Isolation,
    command: Sequence[str],
    *,
    writable: Sequence[Path],
    hidden: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    limits: Limits | None = None,
    trusted: bool = False,
) -> list[str]:
    """The command that runs ``command`` enclosed.

    ``writable`` folders stay writable, ``hidden`` ones look empty, ``readable`` ones beneath
    them can be read again; all must exist. Of two, one in the other, the inner decides for what
    is in it. A ``trusted`` process keeps its limits only.
    """
    used = Isolation(kind="limits") if trusted else isolation
    spec = {
        "isolation": dataclasses.asdict(used),
        "mounts": order_mounts(hidden=hidden, readable=readable, writable=writable),
        "limits": dataclasses.asdict(limits or Limits()),
        "drop": not trusted,
    }
    enter = [sys.executable, "-S", "-P", "-m", "kernelindex.runner.sandbox.enter"]
    return [*enter, json.dumps(spec), *command]


def order_mounts(
    *, hidden: Sequence[Path], readable: Sequence[Path], writable: Sequence[Path]
) -> list[tuple[str, str]]:
    """What is to become of which folder, the outer ones first; a writable one is never hidden."""
    given = (("hide", hidden), ("read", readable), ("write", writable))
    mounts = [(what, str(path)) for what, paths in given for path in paths]
    return sorted(mounts, key=lambda one: len(Path(one[1]).parts))
