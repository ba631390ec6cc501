"""The ledger: numbers without gaps, closed in order, chained, and safe against a torn line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import ledger
from kernelindex.manifests import canonical

PLAN = "sha256:" + "1" * 64
RECORD = "sha256:" + "2" * 64
OTHER = "sha256:" + "3" * 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runner" / "ledger.jsonl"


def test_numbers_start_at_one_and_count_up(path: Path) -> None:
    assert ledger.next_number(path) == 1
    ledger.plan(path, 1, PLAN, at="2026-11-30T10:00:00Z")
    assert ledger.next_number(path) == 2
    with pytest.raises(EvidenceError, match="next batch is number 2, not 4"):
        ledger.plan(path, 4, PLAN)
    assert [entry.number for entry in ledger.open_batches(path)] == [1]


def test_a_batch_closes_only_behind_the_one_before_it(path: Path) -> None:
    ledger.plan(path, 1, PLAN)
    ledger.plan(path, 2, PLAN)
    with pytest.raises(EvidenceError, match="batch 1 is still open") as caught:
        ledger.close(path, 2, RECORD, "complete")
    assert caught.value.code == "evidence.ledger"
    with pytest.raises(EvidenceError, match="ki evidence abort 1"):
        ledger.previous_digest(path, 2)
    ledger.close(path, 1, RECORD, "aborted")
    assert ledger.previous_digest(path, 1) is None
    assert ledger.previous_digest(path, 2) == RECORD
    ledger.close(path, 2, OTHER, "cut_short")
    assert [entry.outcome for entry in ledger.read(path)][2:] == ["aborted", "cut_short"]
    assert ledger.open_batches(path) == ()


def test_closing_again_changes_nothing_and_otherwise_is_refused(path: Path) -> None:
    ledger.plan(path, 1, PLAN)
    first = ledger.close(path, 1, RECORD, "complete", at="2026-11-30T10:00:00Z")
    assert ledger.close(path, 1, RECORD, "complete") == first
    with pytest.raises(EvidenceError, match="was closed with"):
        ledger.close(path, 1, OTHER, "complete")
    with pytest.raises(EvidenceError, match="never planned"):
        ledger.close(path, 2, RECORD, "complete")
    with pytest.raises(EvidenceError, match="an outcome is one of"):
        ledger.close(path, 1, RECORD, "fine")  # type: ignore[arg-type]


def test_a_line_changed_cut_out_or_moved_is_seen(path: Path) -> None:
    for number in (1, 2, 3):
        ledger.plan(path, number, PLAN, at="2026-11-30T10:00:00Z")
    lines = path.read_bytes().splitlines(keepends=True)
    for bad in (
        [lines[0], lines[2]],
        [lines[1], lines[0], lines[2]],
        [lines[0].replace(b"10:00", b"10:01"), *lines[1:]],
        [lines[0], b"nothing\n"],
        [lines[0], lines[1].replace(b'"number":2', b'"number": 2'), lines[2]],
    ):
        path.write_bytes(b"".join(bad))
        with pytest.raises(EvidenceError, match="line"):
            ledger.read(path)


def test_a_line_torn_by_a_crash_never_happened(path: Path) -> None:
    ledger.plan(path, 1, PLAN)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    assert ledger.next_number(path) == 2
    ledger.plan(path, 2, PLAN)
    assert [entry.number for entry in ledger.read(path)] == [1, 2]


@pytest.mark.parametrize("change", [{"number": "1"}, {"number": True}, {"event": "begun"}])
def test_a_line_of_another_form_is_named(path: Path, change: dict[str, object]) -> None:
    ledger.plan(path, 1, PLAN, at="2026-11-30T10:00:00Z")
    line = canonical.dumps({**canonical.loads(path.read_bytes().rstrip()), **change})
    path.write_bytes(line + b"\n")
    with pytest.raises(EvidenceError, match="line 1 is not a ledger's"):
        ledger.read(path)
