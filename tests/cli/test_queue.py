"""``ki queue`` over a real catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernelindex.catalog import Catalog
from kernelindex.community import accepted_on, submit_attestation
from tests.cli.factories import Outcome, Terminal
from tests.community.factories import (
    Clock,
    filled_copy,
    make_key,
    reproduction,
    send_note,
    send_report,
)


@dataclass
class Queue:
    """A catalog of two runs with one report on the fast one and one note on the slow one."""

    terminal: Terminal
    catalog: Catalog
    fast: str
    slow: str
    report: str
    note: str

    def ki(self, *arguments: str) -> Outcome:
        return self.terminal.ki("queue", *arguments, catalog=self.catalog)

    def items(self, *filters: str) -> list[dict[str, Any]]:
        return self.ki("list", "--json", *filters).data["contributions"]


@pytest.fixture
def queue(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    monkeypatch.setenv("KI_ACTOR", "eve")
    clock = Clock()
    url, fast, slow = filled_copy(tmp_path)
    with Catalog.open(url) as catalog:
        report = send_report(catalog, clock, run=fast)
        clock.pass_s(60)
        note = send_note(catalog, clock, make_key(catalog, clock), "a \x1b[2J\u202enote", run=slow)
        yield Queue(terminal, catalog, fast, slow, report.id, note.id)


def test_the_list_is_what_waits_newest_first(queue: Queue) -> None:
    outcome = queue.ki("list")
    assert outcome.status == 0
    first, second = outcome.out.splitlines()[1:]
    assert first.split()[0] == queue.note[7:15]
    assert second.split()[0] == queue.report[7:15]
    assert "anonymous" in second
    assert "wrong value; it is wrong" in second
    assert not {"\x1b", "\u202e"} & set(outcome.out)


def test_filters_narrow_the_list_and_none_is_status_1(queue: Queue) -> None:
    assert [one["id"] for one in queue.items("--kind", "note")] == [queue.note]
    assert [one["id"] for one in queue.items("--run", queue.fast[7:19])] == [queue.report]
    assert queue.items("--state", "accepted") == []
    assert queue.ki("list", "--state", "accepted").status == 1
    assert queue.ki("list", "--state", "great").status == 2
    assert queue.ki("list", "--run", "deadbeef").status == 1


def test_the_list_pages(queue: Queue) -> None:
    first = queue.ki("list", "--limit", "1", "--json").data
    second = queue.ki("list", "--limit", "1", "--cursor", first["cursor"], "--json").data
    assert [one["id"] for one in first["contributions"]] == [queue.note]
    assert [one["id"] for one in second["contributions"]] == [queue.report]
    assert second["cursor"] is None


def test_accepting_shows_a_note_and_refusing_takes_it_down(queue: Queue) -> None:
    outcome = queue.ki("accept", queue.note[7:15], "--reason", "sound")
    assert outcome.out == f"accepted: note {queue.note[7:15]} by Ada\n"
    assert [one.id for one in accepted_on(queue.catalog, queue.slow).items] == [queue.note]
    settled = queue.ki("refuse", queue.note, "--reason", "spam after all", "--json").data
    assert (settled["done"], settled["state"]) == ("refused", "refused")
    assert accepted_on(queue.catalog, queue.slow).items == ()


def test_one_item_is_shown_whole_with_its_decisions(queue: Queue) -> None:
    clock = Clock()
    key = make_key(queue.catalog, clock)
    sent = submit_attestation(queue.catalog, queue.fast, reproduction(), key.token, clock=clock)
    queue.ki("accept", sent.id, "--reason", "log checked")
    out = queue.ki("show", sent.id[7:15]).out
    assert "5.76 ms" in out
    assert "https://example.org/log.txt" in out
    assert "log checked" in out
    data = queue.ki("show", sent.id, "--json").data
    assert data["value"] == 5.76
    assert [one["action"] for one in data["decisions"]] == ["accept"]


def test_retracting_takes_the_run_out_of_the_rank(queue: Queue) -> None:
    outcome = queue.ki("retract", queue.report[7:15], "--reason", "other GPU", "--actor", "ada")
    assert outcome.out.startswith("run retracted, item accepted: report")
    row = queue.catalog.run(queue.fast)
    assert row is not None
    assert row.retracted == "other GPU"
    (entry,) = queue.ki("audit", "--item", queue.report, "--json").data["entries"]
    assert (entry["actor"], entry["action"]) == ("ada", "retract")
    assert entry["detail"]["run"] == queue.fast


def test_superseding_names_the_other_run_by_a_prefix(queue: Queue) -> None:
    outcome = queue.ki("supersede", queue.report, "--by", queue.slow[7:19], "--reason", "rerun")
    assert outcome.status == 0
    assert queue.catalog.run(queue.fast).superseded_by == queue.slow


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("accept", "deadbeef", "--reason", "x"), 1, "contribution.not_found"),
        (("accept", "NOTE"), 2, "--reason"),
        (("accept", "NOTE", "--reason", " "), 1, "decision.incomplete"),
        (("supersede", "REPORT", "--reason", "x"), 2, "--by"),
        (("supersede", "REPORT", "--by", "deadbeef", "--reason", "x"), 1, "run.not_found"),
        (("supersede", "REPORT", "--by", "FAST", "--reason", "x"), 1, "catalog.correction"),
        (("list", "--cursor", "nonsense"), 1, "request.cursor"),
    ],
)
def test_what_cannot_be_decided_is_said(
    queue: Queue, arguments: tuple[str, ...], status: int, said: str
) -> None:
    names = {"NOTE": queue.note, "REPORT": queue.report, "FAST": queue.fast}
    outcome = queue.ki(*(names.get(word, word) for word in arguments))
    assert outcome.status == status
    assert said in outcome.err
    assert {one["state"] for one in queue.items()} == {"pending"}


def test_the_log_is_a_table_and_empty_is_status_1(queue: Queue) -> None:
    queue.ki("accept", queue.note, "--reason", "sound")
    rows = queue.ki("audit").out.splitlines()
    (decided,) = [row for row in rows if " accept " in row]
    assert decided.split()[2:5] == ["eve", "accept", queue.note[7:15]]
    assert any("key.issue" in row for row in rows)
    assert queue.ki("audit", "--item", queue.report).status == 1
