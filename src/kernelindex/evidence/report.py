"""What verifying a bundle found: faults of the whole, and what each run lacks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelindex.evidence.keys import PublicKey
    from kernelindex.evidence.statement import Statement

CODES = {
    "archive": "the file is no bundle, or a byte of it was changed",
    "envelope": "the envelope cannot be read, or is not in its one form",
    "signature": "no key that was given signed the statement",
    "statement": "the signed statement is not one of a batch",
    "unnamed_file": "a file is in the bundle that the statement does not name",
    "missing_file": "the statement names a file that is not there",
    "changed_file": "a file does not hash to what was signed",
    "manifest": "a manifest is refused, or its digest is not the one stated",
    "open_reference": "a manifest names another that is not in the bundle",
    "plan": "the plan is not the one the batch was numbered for",
    "journal": "the journal's chain does not hold, ends elsewhere, or names a file otherwise",
    "seed": "the revealed seed does not match what was committed to",
    "outcome": "the outcome is not the one stated",
    "calibration": "the calibration does not say what the statement says",
    "identity": "a run names another runner or key than the statement",
    "batch": "a run names another batch than the statement",
    "samples": "a run's numbers are not those of its samples",
    "chain_gap": "a number of the runner's sequence is missing",
    "chain_fork": "two batches have one number",
    "chain_broken": "a batch does not follow the one before it",
    "chain_runner": "the batches are of several keys",
}
"""Every fault there is: a bundle with any one of them is not evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: a code of ``CODES``, the file or run, and what was seen."""

    code: str
    where: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run of a sound bundle.

    ``correct``  it passed, and every output and gradient was compared and is within tolerance
    ``lacks``    in words, what a complete controlled measurement has and this one has not
    """

    digest: str
    status: str
    timed_pass: str
    correct: bool
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """Whether a bundle is evidence, offline: by its bytes and public keys alone.

    ``key`` is the one that signed. ``calibration_problems`` says what of the calibration is
    not inside its limits, by its raw numbers. It and ``runs`` are empty where there is a fault.
    """

    digest: str
    size_bytes: int
    faults: tuple[Fault, ...]
    statement: Statement | None = None
    key: PublicKey | None = None
    runs: tuple[RunReport, ...] = ()
    calibration_problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON of ``ki evidence verify --json``."""
        statement = self.statement if self.key is not None else None
        return {
            "ok": self.ok,
            "digest": self.digest,
            "sizeBytes": self.size_bytes,
            "faults": [asdict(one) for one in self.faults],
            "record": statement.digest if statement else None,
            "key": self.key.text if self.key else None,
            "runner": asdict(statement.runner) if statement else None,
            "batch": asdict(statement.batch) if statement else None,
            "calibration": dict(statement.calibration) if statement else None,
            "calibrationProblems": list(self.calibration_problems),
            "isolation": dict(statement.isolation) if statement else None,
            "toolchain": dict(statement.toolchain) if statement else None,
            "files": len(statement.subjects) if statement else 0,
            "runs": [asdict(one) for one in self.runs],
        }
