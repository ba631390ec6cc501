"""The garbage collector while calls are timed: nothing of a candidate's may run in it untimed.

A collection calls back whom a candidate registered, and runs the finalizers of its objects. On a
host none takes place from the first timed call to the last; on a device it must go on, for garbage
holds the device's memory, but calls nobody back. A candidate may ask for it anew in each call, so
both are seen to before every call is made ready.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Collector:
    """Make it before the candidate is imported; ``stops``: there are no collections at all."""

    stops: bool
    callbacks: list[Any] = field(default_factory=lambda: gc.callbacks)
    enable: Callable[[], None] = gc.enable
    disable: Callable[[], None] = gc.disable

    def quiet(self) -> None:
        """As it must be until the next call."""
        if self.callbacks:
            self.callbacks.clear()
        if self.stops:
            self.disable()

    @contextmanager
    def quieted(self) -> Iterator[None]:
        """While open; afterwards callbacks are back, and collections take place."""
        before = list(self.callbacks)
        self.quiet()
        try:
            yield
        finally:
            self.callbacks[:] = before
            if self.stops:
                self.enable()
