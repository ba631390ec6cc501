"""A runner's batches together: numbers without a gap, each naming the record before it.

Found offline: a batch that was deleted, reordered, exchanged or slipped in. The newest
ones left out are found only by whoever knows how many there are (the runner's ledger).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.evidence.report import Fault
from kernelindex.evidence.verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.evidence.keys import PublicKey
    from kernelindex.evidence.report import VerifyReport


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The reports in order of number, and what is wrong with the sequence or any of them."""

    batches: tuple[VerifyReport, ...]
    faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def verify_chain(
    bundles: Iterable[bytes], keys: Sequence[PublicKey] | None, *, last: int | None = None
) -> ChainReport:
    """Verify bundles of one runner, given in any order, as its whole sequence from 1.

    ``last`` is the number of its newest batch, where that is known.
    """
    return check_chain([verify(data, keys) for data in bundles], last=last)


def check_chain(reports: Sequence[VerifyReport], *, last: int | None = None) -> ChainReport:
    """The same for bundles that are verified already."""
    faults = [fault for report in reports for fault in report.faults]
    good = sorted((one for one in reports if one.ok), key=_place)
    if len({report.key for report in good}) > 1:
        names = ", ".join(sorted({one.key.digest for one in good if one.key}))
        faults.append(Fault(code="chain_runner", where="chain", text=names))
    else:
        faults += _sequence_faults(good, last)
    return ChainReport(tuple(good), tuple(faults))


def _place(report: VerifyReport) -> tuple[int, str]:
    assert report.statement is not None
    return report.statement.batch.number, report.digest


def _sequence_faults(reports: Sequence[VerifyReport], last: int | None) -> list[Fault]:
    faults: list[Fault] = []
    number, record = 0, None
    for report in reports:
        statement = report.statement
        assert statement is not None
        batch, where = statement.batch, f"batch {statement.batch.number}"
        if batch.number == number:
            if statement.digest != record:
                faults.append(Fault(code="chain_fork", where=where, text=statement.digest))
            continue
        faults += _gap(number + 1, batch.number)
        if batch.number == number + 1 and batch.previous_digest != record:
            text = f"it follows {batch.previous_digest}, the batch before is {record}"
            faults.append(Fault(code="chain_broken", where=where, text=text))
        number, record = batch.number, statement.digest
    return faults + _gap(number + 1, (last or number) + 1)


def _gap(first: int, end: int) -> list[Fault]:
    """A fault for numbers from ``first`` up to but not ``end`` that are not there."""
    if first >= end:
        return []
    numbers = f"{first}" if first + 1 == end else f"{first} to {end - 1}"
    return [Fault(code="chain_gap", where="chain", text=f"batch {numbers} is not there")]
