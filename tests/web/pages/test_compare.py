"""Comparisons: the verdict or why there is none, on a page and as files."""

from __future__ import annotations

import csv
import io
import re

import pytest
from starlette.testclient import TestClient

from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.dossier import PairVerdict
from kernelindex.resolve.group import show_group
from kernelindex.resolve.numbers import significant
from kernelindex.web.charts.chart import NotDrawn
from kernelindex.web.charts.subjects import chart_of
from tests.cli.factories import Terminal
from tests.support import shipped
from tests.web.pages.reading import HOSTILE, LIGER, LOOP, links_of, row_of

PAIR = f"run={LIGER}&run={LOOP}"
OURS = "kernelindex/moe_mlp"


def test_the_record_is_11_times_slower(site: TestClient) -> None:
    page = site.get(f"/compare?{PAIR}").text
    assert row_of(page, "value")[1:] == ["5.75 ms", "63.96 ms"]
    assert "slower than Liger fused MoE: 64.0 ms against 5.75 ms, 11.1x" in page
    assert "repeats differ by 23.7 %" in page
    assert row_of(page, "axes")[1] == "experts=64 hidden=2048 intermediate=768 k=8 tokens=8192"
    assert row_of(page, "project differs")[1:] == ["liger-kernel", "liger-benchmark"]


def test_runs_of_different_passes_get_no_verdict(site: TestClient) -> None:
    forward = next(
        href.removeprefix("/runs/")
        for href in links_of(site.get("/runs?pass=forward&gpu=h100-sxm5-80gb").text).values()
        if href.startswith("/runs/")
    )
    page = site.get(f"/compare?run={LIGER}&run={forward}").text
    assert "No verdict" in page
    assert "First material difference:" in page
    assert row_of(page, "pass differs")[1:] == ["backward", "forward"]


def test_files_hold_the_same(site: TestClient) -> None:
    markdown = site.get(f"/compare.md?{PAIR}")
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert "| value | 5.75 ms | 64.0 ms |" in markdown.text
    sheet = list(csv.reader(io.StringIO(site.get(f"/compare.csv?{PAIR}").text)))
    assert ["value", "no", "no", "5751872.0", "63962017.0"] in sheet
    assert ["verdict against run 1", "no", "no", "", "SLOWER"] in sheet
    data = site.get(f"/compare.json?{PAIR}").json()
    assert data["verdicts"][0]["verdict"] == "SLOWER"
    assert data["comparable"] is True


def test_one_run_asks_for_another(site: TestClient) -> None:
    page = site.get(f"/compare?run={LIGER}")
    assert page.status_code == 200
    assert "One run is named; it takes two." in page.text
    assert f'value="{LIGER}"' in page.text


def test_too_many_runs_and_unknown_ones_are_refused(site: TestClient) -> None:
    assert site.get("/compare?" + "&".join([f"run={LIGER}"] * 9)).status_code == 400
    assert site.get(f"/compare?run={LIGER}&run=00000000").status_code == 404
    assert site.get(f"/compare.csv?run={LIGER}").status_code == 400


def test_hostile_titles_do_no_harm_in_any_form(hostile: TestClient) -> None:
    listed = hostile.get("/runs").text
    runs = [href for href in links_of(listed).values() if href.startswith("/runs/")]
    query = "&".join(f"run={href.removeprefix('/runs/')}" for href in runs)
    page = hostile.get(f"/compare?{query}").text
    assert len(runs) == len(HOSTILE)
    assert "<script" not in page
    assert "\u202e" not in page
    markdown = hostile.get(f"/compare.md?{query}").text
    assert "\\<script\\>" in markdown
    assert "\\*bold\\*\\`code\\`" in markdown
    sheet = hostile.get(f"/compare.csv?{query}").text
    assert "\n=" not in sheet
    assert ",=" not in sheet
    assert ",\"'=HYPERLINK" in sheet


def test_each_run_is_held_against_the_first_whatever_the_others_are(site: TestClient) -> None:
    memory = next(
        href.removeprefix("/runs/")
        for href in links_of(site.get("/runs?metric=peak_memory&pass=backward").text).values()
        if href.startswith("/runs/")
    )
    verdicts = site.get(f"/compare.json?{PAIR}&run={memory}").json()["verdicts"]
    assert [one["verdict"] for one in verdicts] == ["SLOWER", "INCOMPARABLE"]
    assert "Run 3</a>: No verdict" in site.get(f"/compare?{PAIR}&run={memory}").text


def verified_pair() -> tuple[str, str, PairVerdict]:
    """The leader and the next line of a verified group, and the verdict on the second."""
    rows = shipped.shipped().cohorts(families=["H200"], limit=100)
    row = next(row for row in rows if row.profile == "controlled" and row.entry_count >= 5)
    first, *others = shipped.shipped().entries([row.key])[row.key]
    second = next(one for one in others if one.line["id"] != first.line["id"])
    found = compare_runs(shipped.shipped(), [first.run_digest, second.run_digest])
    return first.run_digest[7:19], second.run_digest[7:19], found.verdicts[0]


def test_runs_with_samples_show_ratio_interval_margin_and_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, pair = verified_pair()
    assert pair.ratio
    assert pair.low
    assert pair.high
    assert pair.margin
    page = shipped.client().get(f"/compare?run={first}&run={second}").text
    shown = [
        "Run 2",
        significant(pair.ratio, 4),
        f"{significant(pair.low, 4)} to {significant(pair.high, 4)}",
        f"{significant(100 * pair.margin, 2)} %",
        pair.verdict.lower(),
    ]
    assert row_of(page, "Run 2") == shown
    assert "A reported number has no samples" not in page
    line = f"ratio {shown[1]}, 95 % interval {shown[2]}, margin {shown[3]}: {pair.verdict}"
    terminal = Terminal(capsys, monkeypatch)
    printed = terminal.ki("compare", first, second, catalog=shipped.shipped()).out
    assert line in " ".join(printed.split())
    sheet = shipped.client().get(f"/compare.csv?run={first}&run={second}").text
    lines = {row[0]: row[-1] for row in csv.reader(io.StringIO(sheet))}
    assert lines["ratio to run 1, lower end of its 95 % interval"] == str(pair.low)
    assert lines["margin, relative"] == str(pair.margin)
    text = shipped.client().get(f"/compare.md?run={first}&run={second}").text
    assert f"margin {shown[3]}" in text


def test_reported_runs_show_no_interval(site: TestClient) -> None:
    assert 'id="numbers"' not in site.get(f"/compare?{PAIR}").text
    assert "95 % interval" not in site.get(f"/compare.csv?{PAIR}").text


def test_a_controlled_group_is_told_apart_by_its_margins(site: TestClient) -> None:
    rows = shipped.shipped().cohorts(families=["H200"], limit=100)
    row = next(row for row in rows if row.profile == "controlled" and row.entry_count >= 5)
    page = shipped.client().get(f"/cohorts/{row.key[7:19]}").text
    assert "5.0 % on" not in page
    entries = show_group(shipped.shipped(), row.key).cohort.entries
    margins = [significant(100 * one.margin, 2) for one in entries if one.margin]
    assert f"in the same batch, {min(margins)} to {max(margins)} % at these times" in page
    head = shipped.client().get(f"/api/v1/cohorts/{row.key[7:19]}").json()
    assert (head["tolerance"], head["cohort"]["tolerance"]) == ({}, None)
    reported = next(one for one in rows if one.profile == "source_native")
    assert "Told apart from" in shipped.client().get(f"/cohorts/{reported.key[7:19]}").text


def test_two_runs_with_rounds_are_laid_over_each_other() -> None:
    first, second, pair = verified_pair()
    site = shipped.client()
    page = site.get(f"/compare?run={first}&run={second}").text
    (drawn,) = set(re.findall(r'<img class="chart" src="([^"]+)"', page))
    assert drawn.startswith("/charts/ecdf/")
    assert drawn.endswith(f".svg?of={first}/{second}")
    assert "The ranges of their round medians do not overlap." in page
    answer = site.get(drawn.replace(".svg", ".csv"))
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[0] == ["run", "latency (ns), round median", "share at or under"]
    stated = [
        shipped.shipped().manifest(digest).document["spec"]["timing"]["roundMediansNs"]  # type: ignore[union-attr]
        for digest in (pair.against, pair.run)
    ]
    every = [sorted(value for process in one for value in process) for one in stated]
    assert [float(row[1]) for row in rows[1:]] == [*every[0], *every[1]]


def test_runs_without_rounds_are_not_drawn(site: TestClient) -> None:
    assert "/charts/ecdf/" not in site.get(f"/compare?{PAIR}").text
    drawn = chart_of(
        shipped.shipped(), "ecdf", "/".join(one[7:19] for one in shipped.aborted()[:2])
    )
    assert isinstance(drawn, NotDrawn)


def regimes_pair() -> str:
    """One kernel's runs of a pass and batch under burst and sustained load, as parameters."""
    rows = shipped.shipped().cohorts(families=["H200"], limit=100)
    found = {
        load: {entry.revision: entry.run_digest for entry in entries if entry.line["id"] == OURS}
        for row in rows
        if row.timed_pass == "full" and row.entry_count >= 5
        if row.protocol.get("version") == "1"
        for load in [(row.protocol.get("rules") or {}).get("load")]
        for entries in [shipped.shipped().entries([row.key])[row.key]]
        if load in ("burst", "sustained")
    }
    revision = max(found["burst"].keys() & found["sustained"].keys())
    return "&".join(f"run={found[load][revision][7:19]}" for load in ("burst", "sustained"))


def test_only_the_rule_that_differs_is_said_to_differ() -> None:
    query = regimes_pair()
    page = shipped.client().get(f"/compare?{query}").text
    assert row_of(page, "protocol rule: load differs")[1:] == ["burst", "sustained"]
    shared = "cache=cold execution=eager gradients=leaf region=allocation"
    assert row_of(page, "other protocol rules")[1:] == [shared]
    difference = "protocol rule load differs (burst / sustained)"
    assert shipped.client().get(f"/compare.json?{query}").json()["first_difference"] == difference
    sheet = list(csv.reader(io.StringIO(shipped.client().get(f"/compare.csv?{query}").text)))
    assert ["protocol rule: load", "yes", "no", "burst", "sustained"] in sheet
    assert ["other protocol rules", "yes", "yes", shared, shared] in sheet
    text = shipped.client().get(f"/compare.md?{query}").text
    assert "| **protocol rule: load** (differs) | burst | sustained |" in text
    assert f"First material difference: {difference}" in text


def test_one_kernel_in_two_regimes_is_headed_by_what_differs() -> None:
    query = regimes_pair()
    page = shipped.client().get(f"/compare?{query}").text
    heading = re.sub(r"<[^>]+>", "", re.search(r"<h1>(.*?)</h1>", page)[1])  # type: ignore[index]
    name = heading.partition(" (")[0]
    assert heading == f"{name} (burst) and {name} (sustained)"
    assert f"<title>Comparison of {heading}" in page
    text = shipped.client().get(f"/compare.md?{query}").text
    assert re.search(r"^# Comparison of .* \(burst\) on .* and .* \(sustained\) on ", text)


def test_runs_of_different_names_need_no_more_words(site: TestClient) -> None:
    page = site.get(f"/compare?{PAIR}").text
    assert "(" not in re.search(r"<h1>(.*?)</h1>", page)[1]  # type: ignore[index]
