"""Self-checks as a probe reports them, for hand-made calibrations."""

from __future__ import annotations

import math
from typing import Any

from kernelindex.selfchecks import FLUSH, limits_on


def make_selfcheck(device: str = "cuda:0", **changed: float) -> dict[str, Any]:
    """Every check of a device in the middle of its limits, but for the values ``changed``."""
    checks = []
    for name, limit in limits_on(device).items():
        middle = limit.low if math.isinf(limit.high) else (limit.low + limit.high) / 2
        value = changed.get(name, middle)
        numbers = {"value": value, "low": limit.low, "high": limit.high}
        if name == FLUSH:
            numbers = {"cold_ns": 1000.0 * value, "hot_ns": 1000.0}
        passed = limit.holds(value)
        checks.append({"name": name, "passed": passed, "text": "", "numbers": numbers})
    passed = all(one["passed"] for one in checks)
    return {"checks": checks, "tick_ns": 32.0, "passed": passed, "values": {}}
