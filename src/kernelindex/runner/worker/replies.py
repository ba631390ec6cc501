"""Reading replies of a process that may be hostile: types, sizes and finiteness are checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import STATUSES, Refused
from kernelindex.stats import finite_number

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_NS = 1e13
_MAX_TEXT = 64 << 10


def malformed(what: str) -> Refused:
    """The refusal of a reply that is not what its command answers."""
    return Refused("policy_violation", "malformed_reply", what)


def read_times(value: Any, most: int) -> list[float] | Refused:
    """One to ``most`` durations in ns, each finite, above 0 and below 10^13."""
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        return malformed(f"samples_ns: wanted a list of 1 to {most} durations")
    if not all(_is_number(one) and 0 < one < _LONGEST_NS for one in value):
        return malformed("samples_ns: wanted finite durations above 0")
    return [float(one) for one in value]


def read_cycles(value: Any, count: int) -> list[float] | None:
    """As many cycle counts as samples, or None where there are none that can be used."""
    if not isinstance(value, list) or len(value) != count:
        return None
    return [float(one) for one in value] if all(_is_number(one) for one in value) else None


def read_number(value: Any, default: float) -> float:
    """A finite number, else the default."""
    return float(value) if _is_number(value) else default


def read_details(value: Any) -> dict[str, Any]:
    """A JSON object of modest size as it is; anything else is nothing."""
    if not isinstance(value, dict) or len(json.dumps(value)) > _MAX_TEXT:
        return {}
    return value


def read_findings(fields: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Findings ``{code, status, text, numbers}`` of guards and audits, cut to size."""
    found = fields.get(key)
    entries = found if isinstance(found, list) else []
    return [_finding(one) for one in entries[:50] if isinstance(one, dict)]


def _finding(one: dict[str, Any]) -> dict[str, Any]:
    status = one.get("status")
    return {
        "code": str(one.get("code", ""))[:100],
        "status": status if isinstance(status, str) else None,
        "text": str(one.get("text", ""))[:2000],
        "numbers": read_details(one.get("numbers")),
    }


def first_refusal(findings: list[dict[str, Any]]) -> Refused | None:
    """The first finding that carries a status, as the refusal it is.

    A status that refuses nothing, such as ``passed``, is a forged one.
    """
    for one in findings:
        if one["status"] in STATUSES:
            return Refused(one["status"], one["code"], one["text"])
        if one["status"]:
            return malformed(f"a finding of status {one['status'][:100]!r}")
    return None


def _is_number(value: Any) -> bool:
    return finite_number(value) is not None
