"""The passes of a step that can be timed, shared by protocols and implementations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from kernelindex.manifests.fields import sorted_set

TimedPass = Literal["forward", "backward", "full", "inference"]
PassSet = Annotated[tuple[TimedPass, ...], Field(strict=False), AfterValidator(sorted_set)]
