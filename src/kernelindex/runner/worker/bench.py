"""What stays the same through a batch: the plan, the folders, the isolation, the journal."""

from __future__ import annotations

import hashlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.sandbox.view import View, make_view, private_folders, python_folders
from kernelindex.runner.worker.processes import Process
from kernelindex.stats import Random

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kernelindex.runner.batch_files import Journal
    from kernelindex.runner.plan import Plan, Rules
    from kernelindex.runner.sandbox import Isolation
    from kernelindex.runner.worker.places import Places
    from kernelindex.runner.worker.watching import Watch

T = TypeVar("T")
R = TypeVar("R")

PREPARE_TIMES = 2.0
"""Loading and first calls run side by side and compile: they get that many times longer."""


class CutShortError(Exception):
    """Raised inside a batch when its time is over or it was told to stop."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The commands of the two kinds of processes; tests put small ones in their place."""

    probe: tuple[str, ...]
    judge: tuple[str, ...]


def real_programs() -> Programs:
    """The running Python with our own modules; ``-P`` keeps scratch folders off its path."""
    python = (sys.executable, "-P", "-m")
    return Programs((*python, "kernelindex.runner.probe"), (*python, "kernelindex.runner.judge"))


@dataclass(slots=True, kw_only=True)
class Bench:
    """The fixed surroundings of every generation.

    ``deadline`` is on ``time.monotonic``; ``stop`` is set by a signal.
    """

    plan: Plan
    plan_folder: Path
    folder: Path
    seed: str
    programs: Programs
    places: Places
    isolation: Isolation
    journal: Journal
    watch: Watch
    deadline: float
    started: float = field(default_factory=time.monotonic)
    view: View = field(init=False)
    stop: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A candidate sees no keys, no other's place, and of the batch its inputs alone."""
        hidden = (self.folder, self.places.shelter, *private_folders())
        readable = (self.places.inputs, self.plan_folder, *python_folders())
        self.view = make_view(hidden, readable)

    @property
    def rules(self) -> Rules:
        """The plan's rules."""
        return self.plan.rules

    @property
    def timeout_s(self) -> float:
        """Seconds for one timed command."""
        return self.rules.command_timeout_seconds

    @property
    def long_timeout_s(self) -> float:
        """Seconds for a command that may compile."""
        return self.rules.command_timeout_seconds * PREPARE_TIMES

    def derive(self, *parts: object) -> str:
        """A seed of its own for one purpose, from the batch's."""
        text = "\n".join((self.seed, *map(str, parts)))
        return hashlib.sha256(text.encode()).hexdigest()

    def random(self, *parts: object) -> Random:
        """A generator of its own for one purpose."""
        return Random(int(self.derive("order", *parts)[:16], 16))

    def say(self, text: str) -> None:
        """One line of progress on stderr."""
        print(f"[{time.monotonic() - self.started:7.1f} s] {text}", file=sys.stderr, flush=True)

    def check_time(self) -> None:
        """Raise CutShortError once the time is over or a signal asked to stop."""
        if self.stop or time.monotonic() > self.deadline:
            raise CutShortError

    def start_probe(self, name: str, *, memory_bytes: int = 0) -> Process:
        """Start a probe in its isolation; the anchor's is enclosed alike, to be timed alike."""
        return self._start(name, self.programs.probe, self.view, memory_bytes=memory_bytes)

    def start_judge(self) -> Process:
        """Start the judge: trusted, not enclosed; it writes inputs and reads outputs."""
        return self._start("judge", self.programs.judge, None, trusted=True)

    def _start(
        self,
        name: str,
        program: Sequence[str],
        view: View | None,
        *,
        trusted: bool = False,
        memory_bytes: int = 0,
    ) -> Process:
        process = Process(
            name,
            program,
            self.places.of(name),
            isolation=self.isolation,
            view=view,
            trusted=trusted,
            memory_bytes=memory_bytes,
        )
        self.watch.add(process)
        self.journal.write("process_started", name=name, pid=process.pid)
        return process

    def end_all(self, processes: Sequence[Process]) -> None:
        """Stop processes side by side, and what none of them can be asked about any more."""
        side_by_side(processes, self.end)
        swept = self.watch.sweep()
        if swept:
            self.journal.write("leftovers_killed", count=swept)

    def end(self, process: Process) -> None:
        """Stop a process with all it started and write what became of it, once."""
        if process.ended:
            return
        process.stop()
        self.watch.remove(process)
        verdict = None if process.stopped else process.verdict
        self.journal.write(
            "process_ended",
            name=process.name,
            status=verdict.status if verdict else "",
            code=verdict.code if verdict else "",
            leftovers_killed=process.leftovers,
            output_discarded=process.output.discarded,
        )

    def hello(self) -> dict[str, Any]:
        """The fields of the first request to a probe."""
        return {
            "device": self.plan.device,
            "pad_bytes": 0,
            "protocol": rules_in_snake_case(self.rules),
        }


def rules_in_snake_case(rules: Rules) -> dict[str, Any]:
    """The rules as a probe gets them."""
    return {one.name: to_json(getattr(rules, one.name)) for one in fields(rules)}


def side_by_side(items: Sequence[T], work: Callable[[T], R]) -> list[R]:
    """``work`` on all items at once, a thread each; results in order."""
    if not items:
        return []
    with ThreadPoolExecutor(max_workers=len(items)) as pool:
        return list(pool.map(work, items))
