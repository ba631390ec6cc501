from __future__ import annotations

from typing import Any, cast

from kernelindex.catalog.relative_reads import RelativeRow
from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow
from kernelindex.resolve.gaps_by_axis import view_gaps
from tests.resolve.factories import RECORD, cohort_row, entry_row, loop_row


class Run:
    """The parts of a run that a sweep looks at."""

    def __init__(self) -> None:
        row = cohort_row("own")
        self.axes = row.axes
        self.timed_pass = row.timed_pass
        self.source = row.source
        self.profile = row.profile
        self.protocol = row.protocol
        self.cohort_key = row.key


def run() -> RunRow:
    return cast("RunRow", Run())


def relative(row: CohortRow, own: EntryRow | None, other: EntryRow | None) -> RelativeRow:
    names = ("key", "shape_key", "axes", "timed_pass", "source", "direction", "profile")
    fields: dict[str, Any] = {name: getattr(row, name) for name in (*names, "protocol")}
    return RelativeRow(**fields, own=(own,) if own else (), other=other)


def test_the_gap_grows_with_experts() -> None:
    ratios = {8: 1.4, 64: 11.1, 128: 30.0}
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (128, 8, 64)]
    found = [
        relative(
            row,
            loop_row(row, value=1e6 * ratios[row.axes["experts"]]),
            entry_row(row, value=1e6),
        )
        for row in rows
    ]
    (gap,) = view_gaps(run(), found)
    assert [(point.value, round(point.ratio, 1)) for point in gap.points] == list(ratios.items())
    assert gap.text == (
        "1.40x behind at experts=8, 11.1x behind at experts=64, 30.0x behind at experts=128"
    )


def test_a_line_that_leads_is_ahead() -> None:
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (8, 64)]
    found = [relative(row, entry_row(row, value=1e6), loop_row(row, value=2e6)) for row in rows]
    (gap,) = view_gaps(run(), found)
    assert gap.text == "2.00x ahead at experts=8, 2.00x ahead at experts=64"


def test_another_pass_is_no_point_of_a_sweep() -> None:
    own, other = cohort_row("own"), cohort_row("full", timed_pass="full")
    found = [relative(row, loop_row(row), entry_row(row)) for row in (own, other)]
    assert view_gaps(run(), found) == ()


def test_one_point_is_no_dependence() -> None:
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (8, 64)]
    found = [relative(rows[0], loop_row(rows[0]), None), relative(rows[1], None, None)]
    assert view_gaps(run(), found) == ()


def test_another_load_is_no_point_and_one_size_is_said_once() -> None:
    """Burst and sustained at 64 experts, and a copy of the own cohort: one size, no dependence."""
    own, copy = cohort_row("own"), cohort_row("copy")
    rules = {**own.protocol.get("rules", {}), "load": "burst"}
    burst = cohort_row("burst", protocol={**own.protocol, "rules": rules})
    other = cohort_row("other", axes={**RECORD, "experts": 8}, protocol=burst.protocol)
    rows = [own, copy, burst, other]
    assert view_gaps(run(), [relative(r, loop_row(r), entry_row(r)) for r in rows]) == ()
