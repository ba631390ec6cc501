"""Moments as text that sorts: UTC to the microsecond; standard library only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Where the time comes from; tests pass their own."""


def utc_now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    """``2026-11-30T06:00:00.000000Z``: text order is the order of time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_text(text: str) -> datetime:
    """The moment that ``to_text`` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def before(moment: datetime, seconds: float) -> str:
    """As text, the moment ``seconds`` earlier."""
    return to_text(moment - timedelta(seconds=seconds))
