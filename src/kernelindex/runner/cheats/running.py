"""Running the catalogue through the real worker, and through another harness."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kernelindex
from kernelindex.runner.batch_files import read_json, series_files
from kernelindex.runner.cheats.catalogue import FIXTURES, Entry
from kernelindex.runner.cheats.planning import PATIENCE_S, Planned, plan_catalogue
from kernelindex.runner.cheats.scoring import Outcome, Score, outcome_of, score
from kernelindex.runner.plan import plan_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST_S = 3600.0
_HARNESS_S = 300.0
_SOURCE = Path(kernelindex.__file__).parent.parent


def run_catalogue(
    entries: Sequence[Entry], device: str, out: Path, *, patience_s: float = PATIENCE_S
) -> list[Score]:
    """Run ``python -m kernelindex.runner.worker`` over the entries in ``out``; their scores."""
    planned = plan_catalogue(entries, device, patience_s=patience_s)
    out.mkdir(parents=True, exist_ok=True)
    plan = out / "catalogue.json"
    plan.write_text(plan_to_json(planned.plan), encoding="utf-8")
    command = [sys.executable, "-m", "kernelindex.runner.worker", str(plan), "--out"]
    subprocess.run([*command, str(out / "batch")], timeout=_LONGEST_S, check=False)
    return read_scores(entries, planned, out / "batch")


def read_scores(entries: Sequence[Entry], planned: Planned, batch: Path) -> list[Score]:
    """Scores from a batch folder; a candidate without series was aborted."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in series_files(batch):
        one = read_json(path)
        rows.setdefault((one["point"], one["candidate"]), []).append(one)
    missing = Outcome("aborted", "", "no series in the batch folder", None)

    def outcome(key: tuple[str, str]) -> Outcome:
        return outcome_of(rows[key]) if key in rows else missing

    on_host = planned.plan.device == "cpu"
    return [
        score(
            one,
            outcome(planned.cheats[one.id]),
            outcome(planned.twins[one.id]),
            on_host=on_host,
        )
        for one in entries
    ]


def score_harness(entries: Sequence[Entry], command: str, device: str) -> Iterator[Score]:
    """Score another harness: ``command`` is run once for each function.

    It gets one JSON object on its input: {"name", "file", "function", "operation", "passes",
    "device"}, and answers on the last line of its output with {"accepted": true or false,
    "reason": text}. A cheat must not be accepted, a twin must; a cheat that is contained here
    may be accepted.
    """
    for entry in entries:
        cheat = _ask(command, "a", entry.entry, entry, device)
        twin = _ask(command, "b", entry.honest, entry, device)
        honest = entry.kind == "awkward" and entry.status == "passed"
        caught = cheat.passed if honest else not cheat.passed or entry.status is None
        seen, twin_seen = cheat.text or cheat.status, twin.text or twin.status
        yield Score(entry.id, entry.kind, caught, caught, twin.passed, seen, twin_seen)


def _ask(command: str, name: str, function: str, entry: Entry, device: str) -> Outcome:
    module, _, attribute = function.partition(":")
    place = (FIXTURES + module).replace(".", "/") + ".py"
    request = {
        "name": f"{entry.operation}-{name}",
        "file": str(_SOURCE / place),
        "function": attribute,
        "operation": entry.operation,
        "passes": list(entry.passes),
        "device": device,
    }
    try:
        done = subprocess.run(
            shlex.split(command),
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=_HARNESS_S,
            check=False,
        )
        answer = json.loads(done.stdout.strip().rpartition("\n")[2])
        status = "passed" if answer["accepted"] is True else "refused"
        return Outcome(status, "", str(answer.get("reason") or ""), None)
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        return Outcome("refused", "", f"no answer: {error}"[:200], None)
