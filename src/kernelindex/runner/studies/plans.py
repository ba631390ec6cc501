"""The plan of a study: copies of one kernel, and copies of it with a little more work."""

from __future__ import annotations

from dataclasses import dataclass

from kernelindex.runner.plan import Candidate, Plan, Point, Rules, Tolerance

OPERATION = "study-scale"
MODULE = "kernelindex.runner.operations.study_scale.candidates"
COLUMNS = 1024
BYTES_AN_ELEMENT = 8
"""fp32 read and written."""


# Ten calls a round take a few ms: a long warm-up after every switch was nine tenths of a study.
RULES = Rules(load=("burst",), checks_per_generation=1, audited_passes=0, switch_warmup_seconds=0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySize:
    """One duration: ``rows`` of 1,024 fp32 numbers (a multiple of 100), ``percent`` more work.

    ``copies`` of the plain kernel and as many of the one with more work.
    """

    rows: int
    percent: int = 3
    copies: int = 4
    interface: str = "torch"

    @property
    def nbytes(self) -> int:
        """Bytes that the plain kernel moves."""
        return self.rows * COLUMNS * BYTES_AN_ELEMENT


def study_plan(
    sizes: tuple[StudySize, ...],
    *,
    runner: str,
    number: int,
    device: str,
    rules: Rules | None = None,
    time_budget_seconds: float = 540.0,
) -> Plan:
    """A batch with one point a size."""
    return Plan(
        number=number,
        runner=runner,
        device=device,
        purpose="study",
        time_budget_seconds=time_budget_seconds,
        rules=rules or RULES,
        points=tuple(_point(size) for size in sizes),
    )


def _point(size: StudySize) -> Point:
    return Point(
        id=f"{OPERATION}/{size.rows}-{size.percent}",
        operation=OPERATION,
        axes={"rows": size.rows, "extra": size.rows * size.percent // 100, "columns": COLUMNS},
        dtypes={"x": "fp32"},
        passes=("inference",),
        candidates=tuple(_candidates(size)),
        tolerances={"y": Tolerance(frobenius=1e-6, worst_row=1e-5)},
    )


def _candidates(size: StudySize) -> list[Candidate]:
    prefix = "numpy_" if size.interface == "numpy" else ""
    return [
        Candidate(
            id=f"{kind}-{copy}",
            entry=f"{MODULE}:{prefix}{kind}_{size.percent}",
            passes=("inference",),
            interface=size.interface,
        )
        for copy in range(size.copies)
        for kind in ("less", "more")
    ]
