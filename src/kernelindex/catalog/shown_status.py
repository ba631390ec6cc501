"""The status that runs are shown, counted and asked for by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import case, or_

from kernelindex.policy.eligibility import WITHDRAWN

if TYPE_CHECKING:
    from sqlalchemy import FromClause


LEFT_OUT = ("aborted", WITHDRAWN)
"""Shown statuses of runs that say nothing of what ran: cut short, or taken back."""


def shown_status(runs: FromClause) -> Any:
    """The status of rows of runs; of what did not pass and was retracted, that it is withdrawn.

    What a retracted run failed by is not repeated (``resolve.withdrawn``), so neither is it
    counted or found under it.
    """
    return case((_taken_back(runs), WITHDRAWN), else_=runs.c.status)


def is_left_out(runs: FromClause) -> Any:
    """Whether rows of runs have a status of ``LEFT_OUT``."""
    return or_(runs.c.status == "aborted", _taken_back(runs))


def _taken_back(runs: FromClause) -> Any:
    return runs.c.retracted.is_not(None) & (runs.c.status != "passed")
