"""The status that runs are shown, counted and asked for by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import case

from kernelindex.policy.eligibility import WITHDRAWN

if TYPE_CHECKING:
    from sqlalchemy import FromClause


def shown_status(runs: FromClause) -> Any:
    """The status of rows of runs; of what did not pass and was retracted, that it is withdrawn.

    What a retracted run failed by is not repeated (``resolve.withdrawn``), so neither is it
    counted or found under it.
    """
    taken_back = runs.c.retracted.is_not(None) & (runs.c.status != "passed")
    return case((taken_back, WITHDRAWN), else_=runs.c.status)
