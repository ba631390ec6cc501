"""The passes of a step that can be timed, shared by protocols and implementations."""

from __future__ import annotations

from typing import Literal

from kernelindex.manifests.fields import Set

TimedPass = Literal["forward", "backward", "full", "inference"]
PassSet = Set[TimedPass]
