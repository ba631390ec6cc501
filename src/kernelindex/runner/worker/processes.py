"""A started process with its channel: every way it can fail becomes a refusal with a status."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Answer, Channel, Closed, Refused, Reply, TimedOut, Violation
from kernelindex.runner.sandbox import Isolation, build_command
from kernelindex.runner.worker import process_table
from kernelindex.runner.worker.output import Output
from kernelindex.runner.worker.places import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.sandbox.view import View
    from kernelindex.runner.worker.places import Place

_END_SECONDS = 5.0
# What a process does after its last reply is nobody's concern: it is killed soon after.
_BYE_SECONDS = 0.5


class Process:
    """A judge or probe. Start it from a thread that stays: it dies with that thread.

    ``memory_bytes`` is what it may keep resident, children included; 0: what the watch allows.
    """

    def __init__(
        self,
        name: str,
        program: Sequence[str],
        place: Place,
        *,
        isolation: Isolation,
        view: View | None = None,
        trusted: bool = False,
        memory_bytes: int = 0,
    ) -> None:
        self.name = name
        self.place = place
        self.memory_bytes = memory_bytes
        self.verdict: Refused | None = None
        self.leftovers = 0
        self.stopped = False
        self.ended = False
        # In a process namespace of its own the kernel ends all of them with the first.
        self._counts_leftovers = "processes" not in isolation.features
        ours, theirs = socket.socketpair()
        command = build_command(
            isolation,
            [*program, "--channel", str(theirs.fileno())],
            writable=[place.root],
            hidden=view.hidden if view else (),
            readable=view.readable if view else (),
            trusted=trusted,
        )
        read, write = os.pipe()
        with theirs:
            self._popen = subprocess.Popen(
                command,
                cwd=place.root,
                env=environment(place),
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        os.close(write)
        self.output = Output(read)
        self._channel = Channel(ours)
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """The number of the outermost process."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it may still be asked."""
        return self.verdict is None

    def ask(self, command: str, timeout_s: float, **fields: Any) -> Reply | Refused:
        """Send a command; a process that hung, ended or broke the rules is killed and refused."""
        with self._lock:
            if self.verdict is not None:
                return self.verdict
            answer = self._channel.request(command, timeout_s, **fields)
            if isinstance(answer, Reply | Refused):
                return answer
            return self._condemn(answer)

    def condemn(self, verdict: Refused) -> None:
        """Kill it for a reason found outside; what is being asked is refused with it."""
        if self.verdict is None:
            self.verdict = verdict
            self._kill_tree()

    def stop(self) -> None:
        """End it: politely if it still answers, then by force, with all it started."""
        below = process_table.descendants(process_table.read_table(), self.pid) - {self.pid}
        if self.verdict is None:
            self.ask("bye", _END_SECONDS)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(_BYE_SECONDS)
        self._kill_tree()
        self._popen.wait()
        self._kill_left(below)
        self._channel.close()
        self.output.finish(1.0)
        self.ended = True
        self.stopped = self.verdict is None
        self.verdict = self.verdict or Refused("aborted", "stopped", "the process was stopped")

    def _kill_left(self, below: set[int]) -> None:
        """Kill what was below the process before it ended, and has another parent now."""
        table = process_table.read_table()
        left = {pid for pid in below if pid in table and not table[pid].zombie}
        process_table.kill_all(left)
        self.leftovers += len(left) if self._counts_leftovers else 0

    def _condemn(self, answer: Answer) -> Refused:
        if self.verdict is None:
            self.verdict = self._verdict_of(answer)
        self._kill_tree()
        return self.verdict

    def _verdict_of(self, answer: Answer) -> Refused:
        if isinstance(answer, TimedOut):
            text = f"no reply within {answer.seconds:g} s; the process was killed"
            return Refused("timeout", "hung", self._with_output(text))
        if isinstance(answer, Violation):
            return Refused("policy_violation", answer.code, answer.text)
        assert isinstance(answer, Closed)
        return self._end()

    def _end(self) -> Refused:
        code = self._wait_for_end()
        if code is None:
            return Refused("runtime_error", "exited", "the process closed its channel")
        if code < 0 or code > 128:
            number = -code if code < 0 else code - 128
            text = f"the process was ended by {_signal_name(number)}"
            return Refused("runtime_error", "crashed", self._with_output(text))
        text = f"the process ended with exit status {code}"
        return Refused("runtime_error", "exited", self._with_output(text))

    def _wait_for_end(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self._popen.wait(_END_SECONDS)
        return None

    def _with_output(self, text: str) -> str:
        time.sleep(0.05)  # the reader of its output may lag behind its end
        said = self.output.text(2000)
        return f"{text}; it printed last: {said}" if said else text

    def _kill_tree(self) -> None:
        table = process_table.read_table()
        below = process_table.descendants(table, self.pid)
        same_session = {row.pid for row in table.values() if row.session == self.pid}
        ours = {pid for pid in below | same_session if pid in table and not table[pid].zombie}
        if self._counts_leftovers and self._popen.poll() is not None:
            self.leftovers += len(ours - {self.pid})
        process_table.kill_all(ours)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
