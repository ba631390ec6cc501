from __future__ import annotations

from typing import Any, cast

from kernelindex.catalog.rows import RunRow
from kernelindex.resolve.gaps_by_axis import sweep_rows, view_gaps
from tests.resolve.factories import H200, RECORD, cohort_row, entry_row, loop_row


class Run:
    """The parts of a run that a sweep looks at."""

    def __init__(self, **changes: Any) -> None:
        row = cohort_row("own")
        self.axes = row.axes
        self.dtypes = row.dtypes
        self.timed_pass = row.timed_pass
        self.metric = row.metric
        self.device = row.device
        self.protocol = row.protocol
        self.line = {"id": "liger-benchmark/moe-expert-loop"}
        self.__dict__.update(changes)


def run(**changes: Any) -> RunRow:
    return cast("RunRow", Run(**changes))


def test_the_gap_grows_with_experts() -> None:
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (128, 8, 64)]
    ratios = {8: 1.4, 64: 11.1, 128: 30.0}
    entries = {
        row.key: [entry_row(row, value=1e6), loop_row(row, value=1e6 * ratios[row.axes["experts"]])]
        for row in rows
    }
    (gap,) = view_gaps(run(), sweep_rows(run(), rows), entries)
    assert [(point.value, round(point.ratio, 1)) for point in gap.points] == list(ratios.items())
    assert gap.text == (
        "1.40x behind at experts=8, 11.1x behind at experts=64, 30.0x behind at experts=128"
    )


def test_a_line_that_leads_is_ahead() -> None:
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (8, 64)]
    entries = {row.key: [entry_row(row, value=1e6), loop_row(row, value=2e6)] for row in rows}
    own = run(line={"id": "liger/line"})
    (gap,) = view_gaps(own, sweep_rows(own, rows), entries)
    assert gap.text == "2.00x ahead at experts=8, 2.00x ahead at experts=64"


def test_only_the_same_setting_and_one_axis_make_a_sweep() -> None:
    own = cohort_row("own")
    others = [
        cohort_row("device", device=H200, axes={**RECORD, "experts": 8}),
        cohort_row("pass", timed_pass="full", axes={**RECORD, "experts": 8}),
        cohort_row("two", axes={**RECORD, "experts": 8, "tokens": 1}),
    ]
    assert sweep_rows(run(), [own, *others]) == {}


def test_one_point_is_no_dependence() -> None:
    rows = [cohort_row(str(e), axes={**RECORD, "experts": e}) for e in (8, 64)]
    alone = {rows[0].key: [loop_row(rows[0])], rows[1].key: []}
    assert view_gaps(run(), sweep_rows(run(), rows), alone) == ()
