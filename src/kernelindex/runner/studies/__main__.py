"""Plan a study and show what its batches found.

``python -m kernelindex.runner.studies plan PLAN --runner NAME --number N --device cuda:0``, then
the worker on PLAN, then ``python -m kernelindex.runner.studies show DIR...``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.studies.plans import StudySize, study_plan
from kernelindex.runner.studies.results import StudyResult, Tally, read_study
from kernelindex.stats import median, quantile
from kernelindex.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Iterable

GPU_SIZES = ((2_000, 8), (20_000, 3), (200_000, 3), (2_000_000, 3))
"""Rows and percent of more work: about 5, 45, 420 µs and 4.2 ms at 4 TB/s."""

CPU_SIZES = ((500, 30), (2_000, 30))
WIDTH = 140


def main() -> int:
    """Parse the command line and run it."""
    parser = argparse.ArgumentParser(prog="python -m kernelindex.runner.studies")
    commands = parser.add_subparsers(required=True, dest="command")
    planning = commands.add_parser("plan", help="write the plan of a study")
    planning.add_argument("plan", type=Path)
    planning.add_argument("--runner", required=True)
    planning.add_argument("--number", type=int, required=True)
    planning.add_argument("--device", default="cpu")
    planning.add_argument("--copies", type=int, default=4)
    planning.add_argument("--rows", type=int, action="append", help="one size of the study's alone")
    showing = commands.add_parser("show", help="judge every pair of the batches in DIR...")
    showing.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    wanted = parser.parse_args()
    if wanted.command == "plan":
        _write_plan(wanted)
    else:
        show(result for folder in wanted.folders for result in read_study(folder))
    return 0


def _write_plan(wanted: argparse.Namespace) -> None:
    on_cpu = wanted.device == "cpu"
    known = dict(CPU_SIZES if on_cpu else GPU_SIZES)
    if unknown := set(wanted.rows or ()) - set(known):
        text = f"--rows {min(unknown)}: the study has {', '.join(map(str, known))} on this device"
        raise SystemExit(text)
    sizes = tuple(
        StudySize(
            rows=rows,
            percent=percent,
            copies=wanted.copies,
            interface="numpy" if on_cpu else "torch",
        )
        for rows, percent in known.items()
        if not wanted.rows or rows in wanted.rows
    )
    plan = study_plan(sizes, runner=wanted.runner, number=wanted.number, device=wanted.device)
    wanted.plan.write_text(plan_to_json(plan))


def show(results: Iterable[StudyResult]) -> None:
    """A table with a line a size and batch."""
    table = Table(title="Pairs judged as any pair of a batch")
    columns = ("median", "margin", "same code: pairs", "decisive", "SAME", "p95 |ratio - 1|")
    for column in (*columns, "more work", "pairs", "FASTER", "wrong", "median ratio"):
        table.add_column(column, justify="right")
    for one in results:
        table.add_row(
            format_duration_ns(one.median_ns),
            f"{one.margin:.2%}",
            *_same(one.same),
            f"{one.percent} %",
            str(one.different.pairs),
            str(one.different.verdicts.get("FASTER", 0)),
            str(one.different.verdicts.get("SLOWER", 0)),
            f"{median(one.different.ratios):.4f}" if one.different.ratios else "",
        )
    Console(width=WIDTH).print(table)


def _same(tally: Tally) -> tuple[str, ...]:
    apart = [abs(ratio - 1.0) for ratio in tally.ratios]
    worst = f"{quantile(apart, 0.95):.2%}" if apart else ""
    return str(tally.pairs), str(tally.decisive), str(tally.verdicts.get("SAME", 0)), worst


if __name__ == "__main__":
    sys.exit(main())
