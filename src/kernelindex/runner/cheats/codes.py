"""Stable reason codes of what the runner finds, from ``catalogue.json``; standard library only."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CATALOGUE = Path(__file__).with_name("catalogue.json")


@dataclass(frozen=True)
class Code:
    """One reason: its name, the run status it leads to (None: a doubt only), who raises it."""

    code: str
    status: str | None
    raised_by: str
    meaning: str


@cache
def codes() -> Mapping[str, Code]:
    """Every reason code by its name."""
    rows = json.loads(CATALOGUE.read_text(encoding="utf-8"))["codes"]
    return {
        row["code"]: Code(row["code"], row["status"], row["raisedBy"], row["meaning"])
        for row in rows
    }


def status_of(code: str) -> str | None:
    """The BenchmarkRun status a code leads to; None where it is a doubt and not an offence."""
    return codes()[code].status


@dataclass(frozen=True)
class Finding:
    """One thing found: its code, what was seen and wanted, and the numbers behind it."""

    code: str
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.code not in codes():
            raise KeyError(f"no reason code {self.code!r} in {CATALOGUE.name}; add it there first")

    def to_json(self) -> dict[str, Any]:
        """The finding as it travels over the result channel."""
        return {
            "code": self.code,
            "status": status_of(self.code),
            "text": self.text,
            "numbers": dict(self.numbers),
        }
