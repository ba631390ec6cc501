from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.catalog.rows import CohortRow, Page, RecordRow
from kernelindex.resolve.views import view_cohort
from kernelindex.web.charts.adapters import cohort_input, roofline_input, sweep_input
from kernelindex.web.charts.chart import Chart, NotDrawn
from kernelindex.web.charts.figure import cohort_figure
from kernelindex.web.charts.subjects import chart_of
from tests.resolve.factories import (
    H200,
    RECORD,
    FakeCatalog,
    alone,
    cohort_row,
    digest,
    entry_row,
    loop_row,
    pair,
)
from tests.web.charts.factories import drawn, plotted, rows, words

KEY = digest("record")


class Catalog(FakeCatalog):
    """The reads that charts need besides those of questions."""

    record_rows: tuple[RecordRow, ...] = ()

    def cohort(self, key: str) -> CohortRow | None:
        return next((row for row, _ in self.pairs if row.key.startswith(key)), None)

    def artifact(self, digest: str) -> None:
        return None

    def run(self, digest: str) -> Any:
        return SimpleNamespace(evidence="verified" if digest == "run b" else "reported")

    def records(self, filters: dict[str, str], *, limit: int = 50) -> Page[RecordRow]:
        found = [row for row in self.record_rows if row.cohort_key == filters["cohort_key"]]
        return Page(tuple(reversed(found[:limit])), None)


@pytest.fixture
def catalog() -> Catalog:
    return Catalog(
        [
            pair("record"),
            pair("experts 8", axes={**RECORD, "experts": 8}),
            pair("experts 128", axes={**RECORD, "experts": 128}),
            pair("tokens 4096", axes={**RECORD, "tokens": 4096, "experts": 128}),
            pair("other pass", timed_pass="forward", axes={**RECORD, "experts": 16}),
            alone("elsewhere", device=H200, axes={**RECORD, "experts": 32}),
        ]
    )


def test_a_cohort_is_drawn_from_its_key(catalog: Catalog) -> None:
    chart = chart_of(catalog, "cohort", KEY)
    assert isinstance(chart, Chart)
    assert chart.title == "Fused MoE expert MLP, backward, on H100 SXM 80GB"
    assert plotted(chart, "dot-hollow-lead", "value") == [5.751872]
    assert plotted(chart, "floor-nominal", "floor") == [pytest.approx(5.751872 * 0.2175)]
    assert rows(chart, "band")[0]["high"] == pytest.approx(5.751872 * 1.06)
    assert "tokens=8192 hidden=2048 intermediate=768 experts=64 k=8" in words(chart)[1]
    assert "reported · a copy · moe-expert-loop · 0.7.0" in words(chart)


def test_the_figure_of_a_page_leads_to_the_same_chart(catalog: Catalog) -> None:
    row, entries = catalog.pairs[0]
    figure = cohort_figure(view_cohort(row, entries, limit=50))
    chart = chart_of(catalog, "cohort", KEY)
    assert figure is not None
    assert isinstance(chart, Chart)
    subject = KEY.removeprefix("sha256:")[:12]
    assert figure.wide == f"/charts/cohort/{chart.digest}.svg?of={subject}"


def test_a_sweep_takes_groups_that_differ_in_its_axis_only(catalog: Catalog) -> None:
    chart = chart_of(catalog, "sweep", f"{KEY}/experts")
    assert isinstance(chart, Chart)
    assert {row[1] for row in chart.table.rows} == {8, 64, 128}
    assert "experts=" not in words(chart)[1]


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("cohort", "nothing"),
        ("sweep", f"{KEY}/colour"),
        ("sweep", "nothing/experts"),
        ("records", "nothing"),
        ("limit", "nothing"),
        ("roofline", "moe-mlp"),
        ("samples", KEY),
        ("cohort", "x" * 5000),
    ],
)
def test_a_subject_that_names_nothing_is_none(catalog: Catalog, kind: Any, subject: str) -> None:
    assert chart_of(catalog, kind, subject) is None


def event(ordinal: int, run: str, value: float | None, cause: str, day: str) -> RecordRow:
    return RecordRow(
        cohort_key=KEY,
        ordinal=ordinal,
        date=day,
        same_day=False,
        cause=cause,
        run_digest=run,
        leader=None if value is None else f"entry {run}",
        leader_run=None if value is None else run,
        line=None if value is None else {"id": run, "title": run.upper()},
        value=value,
        interval=None,
        previous_run=None,
        previous_line=None,
        previous_value=None,
        ratio=None,
        unbeaten=(),
        current=False,
        metric="latency",
        unit="ns",
        operation="moe-mlp",
        operation_title="Fused MoE expert MLP",
        shape_key="",
        axes=RECORD,
        dtypes={},
        device="H100",
        timed_pass="backward",
        profile="source_native",
        protocol={"name": "Liger-Kernel benchmark scripts", "version": None, "rules": {}},
        source="liger-kernel-bench",
    )


def test_records_know_the_level_of_each_leader(catalog: Catalog) -> None:
    catalog.record_rows = (
        event(0, "run a", 4e6, "first_comparison", "2026-01-01"),
        event(1, "run b", 2e6, "new_run", "2026-02-01"),
    )
    chart = chart_of(catalog, "records", KEY)
    assert isinstance(chart, Chart)
    assert [(row[2], row[4]) for row in chart.table.rows] == [
        ("RUN A", "reported"),
        ("RUN B", "verified"),
    ]


def test_no_change_of_leader_is_a_sentence(catalog: Catalog) -> None:
    assert chart_of(catalog, "records", KEY) == NotDrawn(
        "records", "The leader of this group never changed."
    )


def test_one_line_of_several_entries_is_drawn_by_its_best() -> None:
    row = cohort_row("record")
    entries = [entry_row(row), entry_row(row, revision="0.6.0", position=2, value=9e6)]
    data = sweep_input("experts", [view_cohort(row, entries, limit=8)])
    assert data is not None
    assert [[point.value for point in line.points] for line in data.lines] == [[5751872.0]]
    assert data.tolerance == 0.06


def test_a_verdict_that_is_not_decisive_is_in_the_band() -> None:
    row = cohort_row("record")
    near = loop_row(row, verdict_to_leader={"kind": "UNCLEAR"}, rank_low=1)
    data = cohort_input(view_cohort(row, [entry_row(row), near], limit=8))
    assert [entry.told_apart for entry in data.entries] == [True, False]


def test_a_roofline_needs_a_product_with_peaks(catalog: Catalog) -> None:
    assert roofline_input([]) is None
    row = cohort_row("record", device={**H200, "product_id": "h200-sxm-141gb"})
    data = roofline_input([view_cohort(row, [entry_row(row)], limit=8)])
    assert data is not None
    assert data.peak == "bf16 dense"
    assert data.points[0].intensity == pytest.approx(215.07 / 0.2)
    assert chart_of(catalog, "roofline", "moe-mlp/unknown/backward") == NotDrawn(
        "roofline", "No cost model and device with known peaks meet here."
    )


def test_changing_a_row_changes_the_address(catalog: Catalog) -> None:
    row, entries = catalog.pairs[0]
    before = drawn(chart_of(catalog, "cohort", KEY) or NotDrawn("cohort", ""))
    catalog.pairs[0] = (row, [replace(entries[0], value=5.7e6), entries[1]])
    after = drawn(chart_of(catalog, "cohort", KEY) or NotDrawn("cohort", ""))
    assert before.digest != after.digest
