"""Whether a CUDA device still works after the timed stream's end, and what was set aside in L2."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.cheats.codes import Finding

if TYPE_CHECKING:
    from kernelindex.runner.probe.timers.driver import Driver

# One look can be an interruption of the host. Shorter work shows where it writes an output: the
# copy made on the timed stream at return lacks it.
LEFT_NS = 1_000_000
LEFT_SHARE = 0.1


@dataclass(slots=True)
class DeviceWatch:
    """The driver's own calls, bound before the candidate's import.

    ``persisting_before``: bytes of L2 set aside to begin with; some devices start with a share.
    """

    driver: Driver
    end: Any
    persisting_before: int = 0

    def settle(self) -> None:
        """Wait until the device is idle."""
        self.driver.synchronize()

    def synchronize(self) -> None:
        """Wait for all work of the context, on every stream."""
        self.driver.synchronize()

    def persisting_l2_bytes(self) -> int:
        """Bytes of L2 set aside for lines that persist, beyond those to begin with."""
        return max(0, self.driver.persisting_l2_bytes() - self.persisting_before)

    def left_ns(self) -> int:
        """How long the device works on after the end of the default stream was reached (ns)."""
        self.driver.record(self.end, 0)
        while not self.driver.reached(self.end):
            pass
        reached = time.perf_counter_ns()
        self.driver.synchronize()
        return time.perf_counter_ns() - reached

    def left_running(self, took_ns: int) -> list[Finding]:
        """A finding where work was left on another stream: 1 ms and a tenth of the call."""
        left = self.left_ns()
        if left <= max(LEFT_NS, LEFT_SHARE * took_ns):
            return []
        text = f"the device worked {left / 1e3:.0f} µs more after the end of the timed stream"
        return [Finding("work_on_other_stream", text, {"leftNs": left, "callNs": took_ns})]


def watch_device() -> DeviceWatch:
    """Bind the driver; raises ``DriverError`` where there is none."""
    from kernelindex.runner.probe.timers.driver import Driver

    driver = Driver()
    return DeviceWatch(driver, driver.create_event(), driver.persisting_l2_bytes())
