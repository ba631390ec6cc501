"""The calibration of a bundle, judged from its raw numbers and not by its runner's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.evidence import bundle
from kernelindex.policy.control_chart import chart_values
from kernelindex.selfchecks import calibration_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.evidence.runs import Contents

ITS_WORD = "its runner says that it was outside its limits"


def problems_of(contents: Contents) -> tuple[str, ...]:
    """What of it is not inside the limits of ``kernelindex.selfchecks``, in words."""
    plan = _json(contents.files, bundle.PLAN)
    device = str(plan.get("device", "")) if isinstance(plan, dict) else ""
    found = calibration_problems(_json(contents.files, bundle.CALIBRATION), device)
    signed = contents.statement.calibration["withinLimits"]
    return found or (() if signed else (ITS_WORD,))


def chart_of(contents: Contents) -> dict[str, float]:
    """Its values for the control chart of its runner and device."""
    return chart_values(_json(contents.files, bundle.CALIBRATION))


def _json(files: Mapping[str, bytes], name: str) -> Any:
    try:
        return orjson.loads(files.get(name, b""))
    except orjson.JSONDecodeError:
        return None
