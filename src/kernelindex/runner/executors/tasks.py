"""A task, what becomes of it, and the one method of an executor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kernelindex.runner.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One batch to run: its plan, and the candidates' files by their path in the plan."""

    id: str
    plan: Plan
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def gpus(self) -> int:
        """Whole GPUs the task takes."""
        return 0 if self.plan.device == "cpu" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The worker ended and its batch folder is in ``folder``; ``where`` names the machine.

    ``said`` is what a person should hear of it: what an earlier start left was set aside.
    """

    task: str
    folder: Path
    where: str
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No batch folder came back, after every retry; ``text`` says why, ``said`` as above."""

    task: str
    text: str
    said: tuple[str, ...] = ()


Outcome = Finished | Failed


class Executor(Protocol):
    """Runs tasks; results may come in any order."""

    def run(self, tasks: Sequence[Task], folder: Path) -> Iterator[Outcome]:
        """Run each task once and put its batch folder at ``folder/<task id>``.

        One without an outcome, or cut short, may lie there: it is taken up or set aside, which
        the outcome says. Raises what is no failure of a task, before anything is measured
        where it can be known by then.
        """
        ...
