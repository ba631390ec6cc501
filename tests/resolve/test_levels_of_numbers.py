"""A number and the level beside it are of the same run, wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, check, import_records
from kernelindex.catalog.approvals import approve
from kernelindex.catalog.intake import Observation, Row
from kernelindex.ids import short
from kernelindex.resolve import ask_text, summary
from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.lists import list_records, list_runs
from kernelindex.resolve.show import show_run
from kernelindex.resolve.wording import line_name
from kernelindex.runner.standings import SOURCE as RUNNER
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.catalog.factories import make_snapshot
from tests.cli.factories import Terminal
from tests.evidence import factories as made
from tests.evidence.factories import BOB, Batch
from tests.support import shipped
from tests.support.site import starter
from tests.web.pages.reading import read_rows

ASKED = "scale n=1024 gpu:H200"
OURS = Batch(candidates={"fast": 1e5, "slow": 1.05e5})
THEIRS = Batch(
    signer=BOB,
    candidates={"fast": 1.06e5, "slow": 0.9e5},
    seed=9,
    run={"observedAt": "2026-12-24T10:00:00Z"},
)
"""Newer and the other way round, of a runner that nobody approved."""


def trust(catalog: Catalog, batch: Batch) -> None:
    one = batch.runner
    said = {"name": one.name, "owner": one.owner, "host": one.host, "actor": "op", "reason": "ours"}
    approve(catalog, public_key=one.public_key, **said)


def take(catalog: Catalog, batch: Batch) -> None:
    import_records(catalog, *find_source("evidence").read(batch.seal().data))


def rows(catalog: Catalog) -> list[tuple[str, float, str]]:
    """Title, value in µs and level of each row, once it is sure that all are of one run."""
    (cohort,) = catalog.cohorts()
    found = []
    for entry in catalog.entries((cohort.key,))[cohort.key]:
        run = catalog.run(entry.run_digest)
        assert run is not None
        assert (run.value, run.evidence) == (entry.value, entry.evidence)
        assert run.evidence_missing == entry.evidence_missing
        found.append((entry.line["title"], round(entry.value / 1e3, 1), entry.evidence))
    return found


VERIFIED_ROWS = [("fast", 100.0, "verified"), ("slow", 105.0, "verified")]


@pytest.mark.parametrize("order", [(OURS, THEIRS), (THEIRS, OURS)])
def test_a_verified_row_keeps_its_number_whatever_comes_unverified(
    catalog_url: str, order: tuple[Batch, ...]
) -> None:
    with Catalog.create(catalog_url) as catalog:
        trust(catalog, OURS)
        for batch in order:
            take(catalog, batch)
        assert rows(catalog) == VERIFIED_ROWS
        assert check(catalog) == []
        trust(catalog, THEIRS)
        assert rows(catalog) == [("slow", 90.0, "verified"), ("fast", 106.0, "verified")]


def test_without_an_approval_the_newest_number_has_its_own_level(sqlite_url: str) -> None:
    with Catalog.create(sqlite_url) as catalog:
        take(catalog, OURS)
        take(catalog, THEIRS)
        assert rows(catalog) == [("slow", 90.0, "reproducible"), ("fast", 106.0, "reproducible")]


@pytest.fixture
def contested(sqlite_url: str) -> Iterator[Catalog]:
    with Catalog.create(sqlite_url) as catalog:
        trust(catalog, OURS)
        take(catalog, OURS)
        take(catalog, THEIRS)
        yield catalog


def test_answers_lists_and_comparisons_show_what_the_run_shows(contested: Catalog) -> None:
    answer = ask_text(contested, ASKED)
    (cohort,) = answer.cohorts
    shown = [(one.run.digest, one.run.primary.value, one.evidence) for one in cohort.entries]
    lines = {one.digest: one for one in list_runs(contested).runs}
    assert [(one, lines[one].evidence) for one, *_ in shown] == [
        (digest, level) for digest, _, level in shown
    ]
    assert [pick.text for pick in answer.best.verified.picks] == ["fast 100 µs"]
    assert [pick.text for pick in answer.best.reported.picks] == ["fast 100 µs"]
    strict = ask_text(contested, f"{ASKED} evidence:verified").cohorts[0].entries
    assert [one.run.digest for one in strict] == [digest for digest, *_ in shown]
    (record,) = list_records(contested).records
    assert (record.leader_run, record.value) == shown[0][:2]
    by_others = [one for one in lines.values() if one.evidence == "reproducible"]
    assert len(by_others) == 2
    assert [one.rank for one in by_others] == [None, None]
    assert {str(lines[one].rank) for one, *_ in shown} == {"low=1 high=1", "low=2 high=2"}
    compared = compare_runs(contested, [shown[0][0], by_others[0].digest])
    (level,) = (one for one in compared.fields if one.name == "evidence")
    assert level.values == ("verified", "reproducible")


def test_a_run_that_another_stands_for_says_whose_place_it_is(contested: Catalog) -> None:
    answer = ask_text(contested, ASKED)
    first = answer.cohorts[0].entries[0]
    (other,) = first.other_runs
    run = show_run(contested, other)
    assert run.standing.represented_by == first.run.digest
    assert run.standing.text == (
        f"its entry stands by run {short(first.run.digest)}: 1 of 2, 1.050x ahead of slow"
    )
    assert run.summary.startswith("106 µs (")
    assert run.summary.endswith(f"{run.standing.text}. Reproducible.")
    assert show_run(contested, first.run.digest).standing.text == "1 of 2, 1.050x ahead of slow"


def test_pages_the_api_and_the_terminal_agree(
    contested: Catalog,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = TestClient(create_app(catalog=contested, cache=tmp_path / "charts"))
    (cohort,) = contested.cohorts()
    group = site.get(f"/api/v1/cohorts/{cohort.key}").json()
    told = [(one["run"]["primary"]["value"], one["evidence"]) for one in group["cohort"]["entries"]]
    assert [(round(value / 1e3), level) for value, level in told] == [
        (100, "verified"),
        (105, "verified"),
    ]
    for path in (f"/cohorts/{cohort.key[7:19]}", f"/answer?q={ASKED}"):
        table = read_rows(site.get(path).text)
        ranked = [cells for cells in table if cells[0] in ("1", "2")]
        assert [(cells[2], cells[4]) for cells in ranked] == [
            ("100", "verified"),
            ("105", "verified"),
        ]
    terminal = Terminal(capsys, monkeypatch)
    printed = terminal.ki("resolve", *ASKED.split(), catalog=contested).out.splitlines()
    lines = [line.split() for line in printed if line.startswith(("1 ", "2 "))]
    assert [("verified" in line, "90.0" in line) for line in lines] == [(True, False)] * 2
    listed = {short(one.digest): one for one in list_runs(contested).runs}
    terminal.width(140)
    printed = terminal.ki("runs", catalog=contested).out.splitlines()
    lines = [line.split() for line in printed if line.split() and line.split()[0] in listed]
    assert len(lines) == 4
    assert all(listed[words[0]].evidence in words for words in lines)
    by_others = [one.digest for one in listed.values() if one.evidence == "reproducible"]
    for digest in by_others:
        badge = site.get(f"/badges/{digest[7:19]}/best.svg").text
        assert "not its entry" in badge


def test_an_implementation_s_runs_have_no_rank_that_another_run_earned(
    contested: Catalog, tmp_path: Path
) -> None:
    site = TestClient(create_app(catalog=contested, cache=tmp_path / "charts"))
    (slug,) = (
        one.slug for one in contested.implementation_page({}, limit=9).rows if one.title == "fast"
    )
    found = [
        row[2:6] for row in read_rows(site.get(f"/implementations/{slug}").text) if len(row) > 6
    ]
    assert found[1:] == [
        ["106 µs", "", "another run counts", "reproducible"],
        ["100 µs", "1x", "1 of 2", "verified"],
    ]


def memory_row(peak_bytes: int) -> Row:
    """A run by another harness, of the same code and machine, that measured memory alone."""
    parts = (
        made.make_operation(),
        made.make_workload(),
        made.make_implementation("fast"),
        made.make_protocol("forward", harness={"name": "elsewhere"}),
        made.make_environment(),
    )
    _, workload, implementation, protocol, environment = parts
    measured = {"metric": "peak_memory", "unit": "bytes", "statistic": "median"}
    spec = {
        "implementationDigest": implementation.digest,
        "workloadDigest": workload.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
        "status": "passed",
        "measurements": [{**measured, "value": peak_bytes}],
        "observedAt": "2026-12-24T10:00:00Z",
    }
    run = made.make("BenchmarkRun", spec, "memory")
    said = Observation(run_digest=run.digest, source=RUNNER, row={"bytes": peak_bytes})
    return Row(where="1", manifests=(*parts, run), observation=said)


@pytest.mark.parametrize(
    ("own", "approved"), [({}, False), ({"peakBytes": 5000}, False), ({}, True)]
)
def test_memory_that_another_run_measured_stands_in_no_verified_row_and_before_no_own(
    sqlite_url: str, own: dict[str, int], approved: bool
) -> None:
    with Catalog.create(sqlite_url) as catalog:
        if approved:
            trust(catalog, OURS)
        take(catalog, OURS.but(run={"memory": own} if own else {}))
        import_records(catalog, make_snapshot(source=RUNNER), [memory_row(7000)])
        (cohort,) = catalog.cohorts(metric="latency")
        fast, slow = catalog.entries((cohort.key,))[cohort.key]
        apart = None if own or approved else 7000
        assert fast.peak_memory_bytes == (own.get("peakBytes") or apart)
        assert (fast.memory_run is None) is (apart is None)
        assert (slow.peak_memory_bytes, slow.memory_run) == (own.get("peakBytes"), None)
        for entry in (fast, slow):
            run = show_run(catalog, entry.run_digest)
            measured = entry.memory_run or (entry.run_digest if own else None)
            assert (run.peak_memory_bytes, run.memory_run) == (entry.peak_memory_bytes, measured)


@pytest.mark.parametrize("opened", [starter, shipped.shipped])
def test_every_row_that_ships_has_the_value_and_the_level_of_its_run(opened: object) -> None:
    catalog = opened()  # type: ignore[operator]
    counted = 0
    for operation in catalog.operations():
        keys = [one.key for one in catalog.cohorts(operation=operation.slug, limit=200)]
        for entries in catalog.entries(keys).values():
            for entry in entries:
                run = catalog.run(entry.run_digest)
                assert (run.value, run.evidence) == (entry.value, entry.evidence)
                counted += 1
    assert counted >= 23


def test_every_shipped_ratio_lies_in_its_own_interval() -> None:
    catalog = shipped.shipped()
    rows = catalog.cohorts(profile="controlled", limit=100)
    found = catalog.entries([row.key for row in rows])
    judged = [one for entries in found.values() for one in entries if one.verdict_to_leader]
    bounded = [
        (one.ratio_to_leader, one.verdict_to_leader["low"], one.verdict_to_leader["high"])
        for one in judged
        if one.verdict_to_leader and one.verdict_to_leader.get("low") is not None
    ]
    assert len(bounded) > 30
    assert [one for one in bounded if not one[1] <= one[0] <= one[2]] == []


def test_a_summary_names_who_leads_most_groups_alone() -> None:
    answer = ask_text(shipped.shipped(), "moe-mlp tokens=8192 experts=64 gpu:H200 pass:forward")
    alone: dict[str, int] = {}
    for cohort in answer.cohorts:
        first = cohort.entries[0]
        if first.rank is not None and (first.rank.low, first.rank.high) == (1, 1):
            alone[first.implementation.title] = alone.get(first.implementation.title, 0) + 1
    assert max(alone.values()) == alone["KernelIndex moe_mlp"] == 2
    assert "KernelIndex moe_mlp leads 2 of the 6 shown." in answer.summary


def test_where_none_leads_two_groups_the_summary_names_who_leads_what_is_verified() -> None:
    catalog = shipped.shipped()
    asked = "moe-mlp tokens=8192 experts=64 gpu:H200 pass:forward"
    keys = [cohort.key for cohort in ask_text(catalog, asked).cohorts]
    found = catalog.entries(keys)
    rows = [row for row in catalog.cohorts(limit=500) if row.key in keys]
    ours, *others = (row for row in rows if line_name(found[row.key][0]) == "KernelIndex moe_mlp")
    assert others
    rest = [row for row in rows if row not in (ours, *others)]
    said = summary._leads([ours, *rest], found)
    assert (
        said == " KernelIndex moe_mlp and Liger fused MoE lead 1 each of the 3 verified ones shown."
    )
