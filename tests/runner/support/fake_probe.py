"""A probe of the standard library only; a candidate's entry says how it behaves.

``support:<behaviour>[@<pass or command>]``: honest, slow, hang, spin, crash, exit, raise, wrong,
wrong_later, starts, starts_wrong, defers, flood, forge, drip, print, daemon, memory, disk,
oom_together, lying, unnonced.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from kernelindex.runner.channel import Refusal, serve
from kernelindex.selfchecks import ON_HOST

CALL_NS = 200_000
FIRST_NS = 900  # the first call of a process compiles
SLEEP = 0.0002
WORK_AFTER_RETURN = {
    "code": "work_after_return",
    "status": "suspected_reward_hack",
    "text": "process 7 computed 28.0 ms in the 20 ms after the call had returned",
}


class Fake:
    """Handlers of one process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.behaviour, self.where = "honest", ""
        self.rolled = self.called = 0
        self.name = ""

    def hello(self, request):
        return {"facts": {"python": sys.version.split()[0], "pad": request["pad_bytes"]}}

    def load(self, request):
        if "candidate" in request:
            self.name = request["candidate"]["id"]
            text = request["candidate"]["entry"].partition(":")[2]
            self.behaviour, _, self.where = text.partition("@")
            self._act("load")
        return {"import_ns": 1000, "source_digest": "sha256:" + "0" * 64, "packages": {}}

    def inputs(self, request):
        for path in (*request["sets"], *request["upstream"]):
            assert Path(path).exists(), path
        return {}

    def call(self, request):
        self._act(request["pass"])
        if self.behaviour == "oom_together":
            self._claim_memory()
        self.called += 1
        first = self.called == 1
        wrong = self.behaviour == "wrong" or (self.behaviour == "starts_wrong" and first)
        Path(request["out"]).write_text("wrong" if wrong else "right")
        late = self.behaviour == "defers" or (self.behaviour.startswith("starts") and first)
        return {
            "guards": [WORK_AFTER_RETURN] if late else [],
            "outputs": ["y"],
            "elapsed_ns": FIRST_NS if first else 1,
        }

    def warm(self, request):
        return {"first_call_ns": 5, "calls": 1, "steady": True, "median_ns": CALL_NS}

    def measure(self, request):
        self._act(f"measure/{request['pass']}")
        self.refresh = request["refresh"]
        begun = time.perf_counter_ns()
        times = [self._timed() for _ in range(request["calls"])]
        if self.behaviour == "lying":
            times = [one * 5000 for one in times]  # more than a reply is ever late
        return {
            "samples_ns": times,
            "cycles": None,
            "order": [0] * len(times),
            "timed_ns": time.perf_counter_ns() - begun,
            "telemetry": {"temperature_celsius": 40},
            "guards": [],
        }

    def kept(self, request):
        wrong = self.behaviour == "wrong_later"
        Path(request["out"]).write_text("wrong" if wrong else "right")
        return {"set": 0, "refresh": self.refresh}

    def block(self, request):
        hidden = self.behaviour == "hidden_work"
        for _ in range(request["calls"]):
            time.sleep(SLEEP)
            until = time.process_time_ns() + 1_500_000 * hidden
            while time.process_time_ns() < until:
                pass
        return {}

    def traits(self, request):
        return {"peak_bytes": 10, "deterministic": True}

    def trace(self, request):
        raise Refusal("unsupported", "no_trace", "no trace here")

    def audits(self, request):
        return {"names": ["nothing"]}

    def audit(self, request):
        return {"findings": []}

    def free(self, request):
        return {}

    def capture(self, request):
        return {"graph_capturable": None}

    def sentinel(self, request):
        return {"samples_ns": [1000.0, 1010.0], "nominal_ns": 1000}

    def selfcheck(self, request):
        checks = [
            {"name": name, "passed": True, "text": "", "numbers": {"value": one.low}}
            for name, one in ON_HOST.items()
            if name != "flush"
        ]
        flush = {"cold_ns": 1200.0, "hot_ns": 1000.0}
        checks.append({"name": "flush", "passed": True, "text": "", "numbers": flush})
        return {"checks": checks, "tick_ns": 1.0}

    def _timed(self) -> float:
        begun = time.perf_counter_ns()
        time.sleep(SLEEP * (2 if self.behaviour == "slow" else 1))
        if self.behaviour == "hidden_work":  # whatever else the machine does
            return float(CALL_NS)
        return float(time.perf_counter_ns() - begun)

    def _act(self, where: str) -> None:
        if self.where and self.where != where:
            return
        act = getattr(self, f"_{self.behaviour}", None)
        if act is not None and (self.where or where == "forward"):
            act()

    def _hang(self) -> None:
        time.sleep(3600)

    def _spin(self) -> None:
        """Hold the interpreter's lock for ever, as a stuck kernel launch does."""
        ctypes.PyDLL(None).sleep(3600)

    def _crash(self) -> None:
        ctypes.string_at(0)

    def _exit(self) -> None:
        print("leaving early")
        os._exit(7)

    def _raise(self) -> None:
        raise RuntimeError("no luck")

    def _flood(self) -> None:
        end = socket.socket(fileno=os.dup(self.descriptor))
        end.sendall((1 << 31).to_bytes(4, "big") + b"x" * 1000)
        time.sleep(60)

    def _forge(self) -> None:
        end = socket.socket(fileno=os.dup(self.descriptor))
        body = json.dumps({"nonce": "0" * 32, "ok": True, "samples_ns": [1.0]}).encode()
        end.sendall(len(body).to_bytes(4, "big") + body)

    def _drip(self) -> None:
        end = socket.socket(fileno=os.dup(self.descriptor))
        end.sendall((1 << 20).to_bytes(4, "big"))
        while True:
            end.sendall(b"x")
            time.sleep(0.05)

    def _print(self) -> None:
        for _ in range(8):
            sys.stdout.write("x" * (1 << 20))
        sys.stdout.flush()

    def _daemon(self) -> None:
        subprocess.Popen(["sleep", "977"], start_new_session=True)

    def _thread(self) -> None:
        threading.Thread(target=self._hang).start()

    def _memory(self) -> None:
        self.kept = bytearray(600 << 20)
        for at in range(0, len(self.kept), 4096):
            self.kept[at] = 1
        time.sleep(60)

    def _disk(self) -> None:
        with open("big", "wb") as file:  # noqa: PTH123
            for _ in range(64):
                file.write(b"x" * (1 << 20))

    def _claim_memory(self) -> None:
        """Two of these do not fit: the first to lock the file has all the memory."""
        with Path(os.environ["OMP_FAKE_MEMORY"]).open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            alive = [one for one in file.read().split() if Path(f"/proc/{one}").exists()]
            if alive and alive != [str(os.getpid())]:
                raise Refusal("resource_exceeded", "memory_exhausted", "no memory left")
            file.truncate(0)
            file.write(str(os.getpid()))

    def handlers(self):
        names = (
            *(
                "hello",
                "load",
                "inputs",
                "call",
                "warm",
                "measure",
                "kept",
                "block",
                "traits",
                "trace",
            ),
            *("audits", "audit", "free", "capture", "sentinel", "selfcheck"),
        )
        return {name: getattr(self, name) for name in names}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", type=int)
    fake = Fake(parser.parse_args().channel)
    serve(fake.descriptor, fake.handlers())
