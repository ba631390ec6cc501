"""The passes of a step that can be timed, shared by protocols and implementations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from kernelindex.manifests.fields import SET, sorted_set

TimedPass = Literal["forward", "backward", "full", "inference"]
PassSet = Annotated[tuple[TimedPass, ...], SET, AfterValidator(sorted_set)]
