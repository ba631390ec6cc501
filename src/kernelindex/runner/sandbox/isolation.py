"""Which isolation is used, and the command that starts a program inside it."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    limits: Limits | None = None,
    trusted: bool = False,
) -> list[str]:
    """The command that runs ``command`` enclosed.

    ``writable`` folders stay writable, ``hidden`` ones look empty; both must exist. A
    ``trusted`` process keeps its limits only.
    """
    used = Isolation(kind="limits") if trusted else isolation
    spec = {
        "isolation": dataclasses.asdict(used),
        "writable": [str(path) for path in writable],
        "hidden": [str(path) for path in hidden],
        "limits": dataclasses.asdict(limits or Limits()),
        "drop": not trusted,
    }
    enter = [sys.executable, "-S", "-P", "-m", "kernelindex.runner.sandbox.enter"]
    return [*enter, json.dumps(spec), *command]
