from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.factories import Terminal
from tests.resolve.factories import (
    RECORD,
    RECORD_QUERY,
    FakeCatalog,
    cohort_row,
    doubt,
    entry_row,
    loop_row,
    pair,
    record_catalog,
)

WORDS = RECORD_QUERY.split()


def test_the_table_of_the_record_fits_80_columns(terminal: Terminal) -> None:
    terminal.width(80)
    outcome = terminal.ki("resolve", *WORDS, catalog=record_catalog())
    assert outcome.status == 0
    assert max(map(len, outcome.out.splitlines())) <= 80
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["1", "Liger", "·", "line", "·", "0.7.0", "5.75", "1.0x"] in [line[:8] for line in lines]
    assert "all rows: single sample" in outcome.out
    assert "doubts of 1: harness work in timed region" in outcome.out


def test_a_wide_terminal_has_memory_and_doubts_in_the_row(terminal: Terminal) -> None:
    terminal.width(120)
    outcome = terminal.ki("resolve", *WORDS, catalog=record_catalog())
    row = next(line for line in outcome.out.splitlines() if line.startswith("1  "))
    assert "3.73 GiB" in row
    assert "harness work in timed region" in row
    assert max(map(len, outcome.out.splitlines())) <= 120


def test_numbers_stand_below_each_other_on_the_decimal(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", *WORDS, catalog=record_catalog())
    first, second = (
        next(line for line in outcome.out.splitlines() if text in line)
        for text in ("0.7.0  ", "63.96 ")
    )
    assert first.index("5.75") + 1 == second.index("63.96") + 2


def test_json_is_the_answer_with_the_documented_keys(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", *WORDS, "--json", catalog=record_catalog())
    answer = outcome.data
    assert answer["match"] == "exact"
    assert answer["request"]["pass"] == "backward"
    entry = answer["cohorts"][0]["entries"][1]
    assert entry["rank"] == {"low": 2, "high": 2}
    assert entry["run"]["primary"] == {
        "metric": "latency",
        "statistic": "median",
        "unit": "ns",
        "value": 63962017.0,
    }
    assert entry["doubts"][0]["class"] == "shifts"
    assert entry["limit"]["percent_nominal"] == 21.75


@pytest.mark.parametrize(
    ("query", "match", "status"),
    [
        (RECORD_QUERY, "exact", 0),
        ("fused-moe T=8192 gpu:H100 pass:backward", "ambiguous", 0),
        (RECORD_QUERY.replace("64", "48"), "nearest", 0),
        ("softmax", "none", 1),
        (f"{RECORD_QUERY} evidence:verified", "exact", 1),
        ("moe gpus:H100", "none", 1),
    ],
)
def test_the_exit_status_follows_the_match(
    terminal: Terminal, query: str, match: str, status: int
) -> None:
    outcome = terminal.ki("resolve", query, "--json", catalog=record_catalog())
    assert (outcome.data["match"], outcome.status) == (match, status)


def test_rows_that_a_condition_leaves_out_are_counted_and_not_printed(terminal: Terminal) -> None:
    row = cohort_row()
    catalog = FakeCatalog([(row, [entry_row(row), loop_row(row, evidence="verified")])])
    outcome = terminal.ki("resolve", *WORDS, "evidence:verified", catalog=catalog)
    lines = outcome.out.splitlines()
    assert outcome.status == 0
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("rank ")) :]
    assert table[1].startswith("2     MoE expert loop")
    assert (
        "1 more does not meet the conditions asked for; ranks and ratios are among all 2" in table
    )
    assert "Left out: 1 run below verified; ranks and ratios are as among all entries" in " ".join(
        outcome.out.split()
    )
    assert lines[-1].endswith("shows everything known of the first of those.")


def test_a_request_file_is_read_strictly(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"operation": "moe-mlp", "axes": RECORD, "hardware": "H100"}))
    outcome = terminal.ki("resolve", "--request", str(file), "--json", catalog=record_catalog())
    assert outcome.data["match"] == "exact"
    file.write_text('{"operation": "moe-mlp", "operation": "softmax"}')
    refused = terminal.ki("resolve", "--request", str(file), "--json", catalog=record_catalog())
    assert (refused.status, refused.data["error"]["code"]) == (1, "canonical.duplicate_key")


@pytest.mark.parametrize("document", ["{}", '{"foo": 1}'])
def test_an_empty_or_unknown_request_is_refused(
    terminal: Terminal, tmp_path: Path, document: str
) -> None:
    file = tmp_path / "request.json"
    file.write_text(document)
    outcome = terminal.ki("resolve", "--request", str(file), catalog=record_catalog())
    assert outcome.status == 1
    assert outcome.out.startswith("Not answered.")
    assert "wanted" in outcome.out


def test_a_query_and_a_file_together_are_a_usage_error(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", catalog=record_catalog())
    assert (outcome.status, outcome.out) == (2, "")
    assert "give either a query or --request FILE" in outcome.err


def test_data_cannot_move_the_cursor_or_reorder_text(terminal: Terminal) -> None:
    row = cohort_row("evil", entry_count=1, only_result=True)
    line = {"id": "x", "title": "a\x1b[2J\u202eb\x07", "project": "p", "entry_point": "e"}
    entry = entry_row(row, line=line, rank_low=None, rank_high=None)
    outcome = terminal.ki("resolve", *WORDS, catalog=FakeCatalog([(row, [entry])]))
    assert not {"\x1b", "\u202e", "\x07"} & set(outcome.out)
    assert "\\u001b" in outcome.out
    assert "only result" in outcome.out


def test_doubts_are_at_most_two_inline_with_sign_and_size(terminal: Terminal) -> None:
    terminal.width(120)
    row = cohort_row("d", shared_doubts=())
    doubts = (
        doubt("CORRECTNESS_NOT_ASSERTED", "blocks"),
        doubt("HARNESS_WORK_IN_TIMED_REGION", "shifts", 702_000.0),
        doubt("SINGLE_SAMPLE"),
        doubt("NO_SOFTWARE_VERSIONS"),
        doubt("TIME_ZONE_UNSTATED"),
    )
    catalog = FakeCatalog([(row, [entry_row(row, doubts=doubts), entry_row(row, "b", position=2)])])
    out = " ".join(terminal.ki("resolve", *WORDS, catalog=catalog).out.split())
    assert "correctness not asserted; harness" in out
    assert "about +0.70 ms; +3 notes" in out


def test_ranks_say_ties_ranges_and_only_results(terminal: Terminal) -> None:
    row = cohort_row("t", entry_count=4)
    entries = [
        entry_row(row, "one", rank_high=2, tie_group=1),
        entry_row(row, "two", position=2, rank_high=2, tie_group=1),
        entry_row(row, "three", position=3, rank_low=3, rank_high=4),
        entry_row(row, "four", position=4, rank_low=3, rank_high=4),
    ]
    outcome = terminal.ki("resolve", *WORDS, catalog=FakeCatalog([(row, entries)]))
    ranks = [line.split()[0] for line in outcome.out.splitlines() if " · line · " in line]
    assert ranks == ["1=", "1=", "3-4", "3-4"]


def test_a_narrow_terminal_loses_no_name_and_no_digit(terminal: Terminal) -> None:
    row, (first, second) = pair("n")
    limit = {**first.limit, "percent_attainable": 61.3}
    catalog = FakeCatalog([(row, [replace(first, limit=limit), replace(second, limit=limit)])])
    terminal.width(30)
    narrow = " ".join(terminal.ki("resolve", *WORDS, catalog=catalog).out.split())
    for word in ("Liger ·", "11.1x", "% nominal", "% attainable", "reported"):
        assert word in narrow


def test_an_interval_sets_the_digits(terminal: Terminal) -> None:
    row = cohort_row("i", entry_count=1, only_result=True)
    entry = entry_row(row, interval={"low": 5751000.0, "high": 5753000.0}, rank_low=None)
    outcome = terminal.ki("resolve", *WORDS, catalog=FakeCatalog([(row, [entry])]))
    assert "5.752 ms" in outcome.out


def test_many_groups_are_an_overview_with_what_sets_them_apart(terminal: Terminal) -> None:
    terminal.width(80)
    pairs = []
    for experts in (8, 16, 32, 64, 128):
        row = cohort_row(str(experts), axes={**RECORD, "experts": experts})
        slow = entry_row(row, "slow", position=2, rank_low=2, rank_high=2, ratio_to_leader=1.5)
        pairs.append((row, [entry_row(row), slow]))
    outcome = terminal.ki("resolve", "fused-moe", "gpu:H100", catalog=FakeCatalog(pairs))
    assert max(map(len, outcome.out.splitlines())) <= 80
    rows = [line.split() for line in outcome.out.splitlines() if line.startswith("experts=")]
    assert rows == [
        [f"experts={experts}", "Liger", "5.75", "ms", "1.50x", "2", "reported"]
        for experts in (8, 16, 32, 64, 128)
    ]
    assert "5 groups fit, never ranked together: 5 shapes, backward pass" in outcome.out
    assert "Liger leads 5 of the 5 shown." in " ".join(outcome.out.split())
    full = terminal.ki("resolve", "fused-moe", "gpu:H100", "--full", catalog=FakeCatalog(pairs))
    assert full.out.count("rank  what ran") == 5


def test_controlled_groups_of_an_overview_are_told_apart_by_their_regime(
    terminal: Terminal,
) -> None:
    terminal.width(160)
    pairs = []
    for load, gradients, version, low in (
        ("burst", "leaf", "1", 1.86e6),
        ("sustained", "leaf", "1", 2.05e6),
        ("sustained", "non_leaf", "1", 3.05e6),
        ("sustained", "non_leaf", "1, as do-bench-10", 4.05e6),
    ):
        rules = {"load": load, "gradients": gradients, "cache": "cold"}
        row = cohort_row(
            f"{load} {gradients} {version}",
            profile="controlled",
            source="kernelindex-runner",
            protocol={"name": "kernelindex-runner", "version": version, "rules": rules},
        )
        entry = entry_row(row, evidence="verified", interval={"low": low, "high": low + 6e4})
        pairs.append((row, [entry]))
    reported = [cohort_row("liger"), cohort_row("other", protocol={"name": "loop", "rules": {}})]
    pairs += [(row, [entry_row(row)]) for row in reported]
    outcome = terminal.ki("resolve", "fused-moe", "gpu:H100", catalog=FakeCatalog(pairs))
    text = " ".join(outcome.out.split())
    labels = re.findall(r"\(controlled[^)]*\)", text)
    assert sorted(set(labels)) == [
        "(controlled as do-bench-10, sustained, non-leaf weights)",
        "(controlled, burst, leaf weights)",
        "(controlled, sustained, leaf weights)",
        "(controlled, sustained, non-leaf weights)",
    ]
    assert "(kernelindex-runner)" not in text
    assert "(cold)" not in text
    for interval in ("1.86-1.92", "2.05-2.11", "3.05-3.11", "4.05-4.11"):
        assert interval in text
    levels = [line.split()[-1] for line in outcome.out.splitlines() if "5.75 ms" in line]
    assert sorted(levels) == ["reported"] * 2 + ["verified"] * 4


def test_suggestions_are_commands_to_paste(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", "fused-moe", "T=8192", "gpu:H100", catalog=record_catalog())
    command = next(line for line in outcome.out.splitlines() if "ki resolve" in line).split()
    again = terminal.ki(*command[1:], "--json", catalog=record_catalog())
    assert again.data["match"] == "exact"


def test_framework_leaves_out_other_projects(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", *WORDS, "framework:loop", "--json", catalog=record_catalog())
    assert [item["reasons"][0]["code"] for item in outcome.data["excluded"]] == ["framework_other"]
    text = terminal.ki("resolve", *WORDS, "framework:loop", catalog=record_catalog()).out
    assert "Left out" in text
    assert "loop was asked for" in " ".join(text.split())
