"""Every path of the probe on one device, PASS or FAIL for each: run it first on a new machine.

    python -m kernelindex.runner.probe.check --device cuda:0

Takes under a minute, needs torch on a device, and changes nothing about the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.probe.check_case import Rig, make_rig

Part = Callable[["Report", Rig], None]


@dataclass(slots=True)
class Report:
    """Lines printed as they come, and whether any failed."""

    failed: int = 0
    begun: float = field(default_factory=time.perf_counter)

    def line(self, name: str, passed: bool, text: str = "") -> None:
        """Print one result."""
        self.failed += not passed
        word = "PASS" if passed else "FAIL"
        spent = time.perf_counter() - self.begun
        sys.stdout.write(f"{word} {spent:6.1f}s {name}: {text}\n")
        sys.stdout.flush()

    def run(self, name: str, part: Part, rig: Rig) -> None:
        """Run one part; what it raises is a failure."""
        try:
            part(self, rig)
        except Refusal as error:
            self.line(name, False, str(error)[:400])
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            self.line(name, False, f"{type(error).__name__}: {error} ({place})"[:400])


def check_facts(report: Report, rig: Rig) -> None:
    """The environment's facts."""
    for name, value in rig.facts.items():
        report.line(f"facts.{name}", value is not None, str(value)[:300])


def check_selfcheck(report: Report, rig: Rig) -> None:
    """The calibration's own proofs."""
    found = rig.ask("selfcheck")
    for one in found["checks"]:
        report.line(f"selfcheck.{one['name']}", one["passed"], one["text"])


def check_sentinels(report: Report, rig: Rig) -> None:
    """Each sentinel near its nominal time."""
    for which in ("5us", "50us", "500us", "5ms"):
        found = rig.ask("sentinel", which=which, calls=20)
        middle = sorted(found["samples_ns"])[10]
        near = 0.3 < middle / found["nominal_ns"] < 3.5 or rig.facts.get("gpu") is None
        report.line(
            f"sentinel.{which}", near, f"{middle:.0f} ns, queued in time {found['queue_filled']}"
        )


def check_telemetry(report: Report, rig: Rig) -> None:
    """Readings and what one costs."""
    sensors = rig.commands.session.meter.sensors
    begun = time.perf_counter()
    found = sensors.slow()
    slow = time.perf_counter() - begun
    begun = time.perf_counter()
    sensors.quick()
    quick = time.perf_counter() - begun
    report.line(
        "telemetry", bool(found), f"{found} quick {quick * 1e6:.0f} us, {slow * 1e6:.0f} us"
    )


def check_calls(report: Report, rig: Rig) -> None:
    """A poisoned, guarded call of every pass, twice: with and without refresh."""
    for timed_pass in rig.passes:
        for refresh in (0, 5):
            found = rig.ask(
                "call",
                **{"pass": timed_pass, "set": 1, "refresh": refresh, "poison": True},
                out=str(rig.folder / f"{timed_pass}.kit"),
            )
            clean = [one for one in found["guards"] if one["status"]]
            text = f"{found['outputs']} {found['elapsed_ns'] / 1e3:.0f} us {clean}"
            report.line(f"call.{timed_pass}.{refresh}", not clean, text)


def check_measuring(report: Report, rig: Rig) -> None:
    """Warm-up and samples of every pass in every regime."""
    for timed_pass in rig.passes:
        for cache in ("cold", "hot"):
            for load in ("burst", "sustained"):
                _measure(report, rig, timed_pass, cache, load, "eager")


def check_graphs(report: Report, rig: Rig) -> None:
    """The same as replays of captured graphs."""
    if rig.facts.get("gpu") is None:
        return
    for timed_pass in ("inference", "forward", "full", "backward"):
        report.run(
            f"graph.{timed_pass}",
            lambda r, g, p=timed_pass: _measure(r, g, p, "cold", "sustained", "graph"),  # type: ignore[misc]
            rig,
        )


def _measure(
    report: Report, rig: Rig, timed_pass: str, cache: str, load: str, execution: str
) -> None:
    regime = {"pass": timed_pass, "cache": cache, "load": load, "execution": execution}
    warmed = rig.ask("warm", **regime, seconds=0.05, calls=5)
    got = rig.ask("measure", **regime, calls=30, refresh=3, switch_calls=3, idle_seconds=0.05)
    kept = rig.ask("kept", out=str(rig.folder / "timed.kit"))
    samples = sorted(got["samples_ns"])
    middle, total = samples[len(samples) // 2], sum(samples)
    held = total <= got["timed_ns"] * 1.02 and kept["set"] in got["order"]
    summary = got["telemetry"]["summary"]
    clock = (summary.get("sm_mhz") or {}).get("median")
    text = (
        f"median {middle / 1e3:.2f} us, p90/p10 {samples[-4] / samples[3]:.3f}, "
        f"n {len(samples)} batch {got['batch']}, queued in time {got['queue_filled']}, "
        f"host {got['host_ns'] / 1e3:.0f} us, wall {got['timed_ns'] / 1e6:.1f} ms, "
        f"sm {clock} cycles {bool(got['cycles'])}, looks {len(got['telemetry']['during'])}, "
        f"first {warmed['first_call_ns'] / 1e6:.1f} ms steady {warmed['steady']} "
        f"pace {_short(got['pace'])} guards {got['guards']}"
    )
    report.line(f"measure.{timed_pass}.{cache}.{load}.{execution}", held, text)


def _short(pace: dict[str, Any]) -> str:
    hold, lead = pace.get("hold_ns", 0.0), pace.get("lead_ns", 0.0)
    held = f"{pace.get('gaps')} {(pace.get('each') or {}).get('pieces', '')}"
    text = f"{hold / 1e3:.0f}+{lead / 1e3:.0f}us {held} sync={pace.get('synchronizes')}"
    return text if pace else "-"


def check_examination(report: Report, rig: Rig) -> None:
    """Trace, traits, blocks of n and 2n calls."""
    for timed_pass in rig.passes:
        traced = rig.ask("trace", **{"pass": timed_pass})
        seen = bool(traced["kernels"]) and traced.get("launches")
        rows = [(one["name"][:40], round(one["share"], 2)) for one in traced["kernels"][:3]]
        text = f"{rows} busy {traced['busy_ratio']} launches {traced['launches']}"
        report.line(f"trace.{timed_pass}", bool(seen), f"{text} {traced.get('text', '')}")
        found = rig.ask("traits", **{"pass": timed_pass})
        report.line(f"traits.{timed_pass}", found["deterministic"] is not None, str(found))
        walls = [rig.ask("block", **{"pass": timed_pass}, calls=n)["timed_ns"] for n in (50, 100)]
        slope = (walls[1] - walls[0]) / 50
        report.line(f"block.{timed_pass}", slope > 0, f"{slope / 1e3:.2f} us a call")


def check_trace_mark(report: Report, rig: Rig) -> None:
    """Whether a process that was traced times as it did before."""
    regime = {"pass": "inference", "cache": "hot", "load": "sustained", "execution": "eager"}

    def middle() -> float:
        samples = sorted(rig.ask("measure", **regime, calls=100, switch_calls=20)["samples_ns"])
        return float(samples[len(samples) // 2])

    before = middle()
    rig.ask("trace", **{"pass": "inference"})
    after = middle()
    text = f"{before:.0f} ns before, {after:.0f} ns after a trace"
    report.line("trace.leaves_no_mark", 0.97 < after / before < 1.03, text)


def check_audits(report: Report, rig: Rig) -> None:
    """Every audit of every pass accuses nobody of this honest candidate."""
    for timed_pass in rig.passes:
        for name in rig.ask("audits", **{"pass": timed_pass})["names"]:
            found = rig.ask("audit", **{"pass": timed_pass}, name=name)["findings"]
            bad = [one for one in found if one["status"]]
            report.line(f"audit.{timed_pass}.{name}", not bad, str(found)[:300])


def check_capture(report: Report, rig: Rig) -> None:
    """Graph capture of each pass; last, since a failure may spoil the context."""
    for timed_pass in rig.passes:
        found = rig.ask("capture", **{"pass": timed_pass})
        report.line(f"capture.{timed_pass}", True, str(found))


PARTS: dict[str, Part] = {
    "facts": check_facts,
    "telemetry": check_telemetry,
    "selfcheck": check_selfcheck,
    "sentinels": check_sentinels,
    "calls": check_calls,
    "measuring": check_measuring,
    "mark": check_trace_mark,
    "examination": check_examination,
    "audits": check_audits,
    "graphs": check_graphs,
    "capture": check_capture,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the parts; 0 where all passed."""
    parser = argparse.ArgumentParser(prog="kernelindex.runner.probe.check")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    options = parser.parse_args(arguments)
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tokens, hidden = (4096, 2048) if options.device.startswith("cuda") else (128, 512)
            rig = make_rig(options.device, Path(folder), tokens=tokens, hidden=hidden)
        except Exception as error:
            traceback.print_exc()
            report.line("start", False, f"{type(error).__name__}: {error}"[:400])
            return 1
        for name in options.only.split(","):
            report.run(name, PARTS[name], rig)
    report.line("all", report.failed == 0, f"{report.failed} failed")
    return int(report.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
