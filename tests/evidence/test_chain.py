"""A runner's sequence: deleted, reordered, exchanged and slipped-in batches are found."""

from __future__ import annotations

from functools import cache

import pytest

from kernelindex.errors import EvidenceError
from kernelindex.evidence import keystore, ledger
from kernelindex.evidence.aborting import abort_batch
from kernelindex.evidence.chain import verify_chain
from tests.evidence.factories import ALICE, BOB, Batch, seal_aborted, sha256

KEYS = (ALICE.public, BOB.public)


@cache
def sequence() -> tuple[bytes, ...]:
    """Four batches, the third of them aborted."""
    made, previous = [], None
    for number in (1, 2, 3, 4):
        batch = Batch(number=number, previous=previous, candidates={"fast": 1e5})
        sealed = seal_aborted(batch) if number == 3 else batch.seal()
        made.append(sealed.data)
        previous = sealed.record_digest
    return tuple(made)


def faults(*bundles: bytes, last: int | None = None) -> list[tuple[str, str]]:
    report = verify_chain(bundles, KEYS, last=last)
    return [(fault.code, fault.text.split(",")[0]) for fault in report.faults]


def test_a_whole_sequence_holds_in_any_order_of_files() -> None:
    assert faults(*reversed(sequence()), last=4) == []
    numbers = [one.statement.batch.number for one in verify_chain(sequence(), KEYS).batches]
    assert numbers == [1, 2, 3, 4]
    assert faults(*sequence(), sequence()[0]) == []
    assert faults() == []


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_deleted_batch_is_missed(gone: int) -> None:
    rest = [one for at, one in enumerate(sequence()) if at != gone]
    assert faults(*rest) == [("chain_gap", f"batch {gone + 1} is not there")]


def test_the_newest_is_missed_by_who_knows_how_many_there_are() -> None:
    assert faults(*sequence()[:3]) == []
    assert faults(*sequence()[:3], last=4) == [("chain_gap", "batch 4 is not there")]
    assert faults(*sequence()[:1], last=4) == [("chain_gap", "batch 2 to 4 is not there")]


def test_an_exchanged_batch_breaks_the_chain_and_a_second_one_forks_it() -> None:
    first, second, third, fourth = sequence()
    other = Batch(number=2, previous=sha256(b"elsewhere"), candidates={"fast": 1e5}).seal().data
    assert [code for code, _ in faults(first, other, third, fourth)] == ["chain_broken"] * 2
    assert [code for code, _ in faults(first, second, other, third, fourth)] in (
        ["chain_fork"],
        ["chain_broken", "chain_fork", "chain_broken"],
    )


def test_renumbering_needs_the_key_and_breaks_what_follows() -> None:
    first, _, third, fourth = sequence()
    slipped = Batch(number=2, previous=None, candidates={"fast": 1e5})
    with pytest.raises(EvidenceError):
        slipped.seal()
    assert ("chain_gap", "batch 2 is not there") in faults(first, third, fourth)


def test_batches_of_two_runners_are_no_sequence() -> None:
    theirs = Batch(signer=BOB, candidates={"fast": 1e5}).seal().data
    assert [code for code, _ in faults(sequence()[0], theirs)] == ["chain_runner"]


def test_a_fault_of_one_is_a_fault_of_all() -> None:
    assert faults(*sequence()[:2], b"junk")[0][0] == "archive"


def test_a_batch_that_never_ran_is_signed_and_closes_its_number(tmp_path) -> None:
    runner = keystore.new_runner("box", owner="ada", host="h1", folder=tmp_path)
    for number in (1, 2):
        ledger.plan(runner.ledger, number, sha256(b"plan"))
    with pytest.raises(EvidenceError, match="batch 1 is still open"):
        abort_batch(runner, 2, tmp_path)
    made = [abort_batch(runner, number, tmp_path / "out") for number in (1, 2)]
    report = verify_chain([path.read_bytes() for path, _ in made], [runner.public], last=2)
    assert report.ok
    assert ledger.open_batches(runner.ledger) == ()
    with pytest.raises(EvidenceError, match="not open; open are: none"):
        abort_batch(runner, 1, tmp_path)
