"""A progress bar on standard error for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    Advance = Callable[..., None]

AFTER_S = 1.0


class _Bar:
    """Starts to draw once the work has taken a second; never where nobody watches."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = time.monotonic()
        self.progress: Progress | None = None
        self.task: TaskID | None = None

    def advance(self, done: int, total: int | None = None, stage: str | None = None) -> None:
        """Say how much of the work is done, of how much where that is known."""
        if self.progress is None:
            if time.monotonic() - self.started < AFTER_S:
                return
            self._start()
        if self.progress is not None and self.task is not None:
            title = f"{self.title}: {stage}" if stage else self.title
            self.progress.update(self.task, completed=done, total=total, description=title)

    def stop(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()

    def _start(self) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        from kernelindex.cli.terminal import console

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("{task.completed:,}"),
            TimeElapsedColumn(),
        )
        self.progress = Progress(*columns, console=console(err=True), transient=True)
        self.task = self.progress.add_task(self.title, total=None)
        self.progress.start()


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Advance]:
    """A function to call with the work done so far; it draws only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_args, **_kwargs: None
        return
    bar = _Bar(title)
    try:
        yield bar.advance
    finally:
        bar.stop()
