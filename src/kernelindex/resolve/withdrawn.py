"""What a run failed by, once a retraction took it back: an accusation does not stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from kernelindex.manifests.run_v2 import StatusV2
from kernelindex.policy.eligibility import WITHDRAWN
from kernelindex.resolve.answer import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from kernelindex.catalog.rows import RunRow


SHOWN_STATUSES: tuple[str, ...] = (*get_args(StatusV2), WITHDRAWN)
"""Every status that a run may be shown, counted and asked for by."""


def shown_status(run: RunRow) -> str:
    """The status a run may be shown by: what a retracted one failed by is not repeated."""
    if run.retracted is None or run.status == "passed":
        return run.status
    return WITHDRAWN


def shown_reasons(reasons: Iterable[Mapping[str, Any]]) -> tuple[Reason, ...]:
    """Why a run does not rank; that it did not pass is no reason once it was retracted."""
    found = tuple(Reason(code=one["code"], text=one["text"]) for one in reasons)
    if all(one.code != "retracted" for one in found):
        return found
    return tuple(one for one in found if one.code != "not_passed")
