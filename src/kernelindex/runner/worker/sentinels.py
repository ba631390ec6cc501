"""Sentinels: work of known length in two equal processes, which shows the batch's floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.worker.bench import side_by_side
from kernelindex.runner.worker.replies import read_times
from kernelindex.stats import median

if TYPE_CHECKING:
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.runner.worker.processes import Process

WHICH = ("5us", "50us", "500us", "5ms")
# Calls a round. A call on a CPU takes some 15 ms more to flush the caches.
_DEVICE_CALLS = {"5us": 50, "50us": 50, "500us": 20, "5ms": 20}
_HOST_CALLS = {"5us": 8, "50us": 8, "500us": 6, "5ms": 4}
# A trial on a host waits half as long, and in its first generation only (``Batch``): its floor
# is pooled with that of many batches anyway.
_ROUNDS, _ROUNDS_OF_TRIAL = 6, 3


def sample_sentinels(bench: Bench, generation: int) -> dict[str, Any]:
    """Round medians of each sentinel in process A and in process B, ns; problems in words."""
    processes = [bench.start_probe(f"sentinel-{name}") for name in ("a", "b")]
    problems: list[str] = []
    try:
        bench.say(f"sentinels, generation {generation}")
        pads = bench.random("sentinels", generation)
        jobs = [(one, pads.below(bench.rules.pad_bytes + 1)) for one in processes]
        opened = side_by_side(jobs, lambda job: _open(bench, *job))
        problems += [one for one in opened if one]
        found = {} if problems else _sample_all(bench, processes, problems)
    finally:
        bench.end_all(processes)
    if problems:
        bench.journal.write("sentinels_failed", generation=generation, problems=problems)
    return {"medians": found, "problems": problems}


def _open(bench: Bench, process: Process, pad: int) -> str | None:
    hello = bench.hello() | {"pad_bytes": pad}
    for command, fields in (("hello", hello), ("load", {"anchor": to_json(bench.plan.anchor)})):
        answer = process.ask(command, bench.long_timeout_s, **fields)
        if isinstance(answer, Refused):
            return f"{command}: {answer.code}: {answer.text}"[:500]
    return None


def _sample_all(
    bench: Bench, processes: list[Process], problems: list[str]
) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for which in WHICH:
        pair: dict[str, list[float]] = {"a": [], "b": []}
        for turn in range(min(_rounds(bench.plan), bench.rules.rounds)):
            bench.check_time()
            both = list(zip(("a", "b"), processes, strict=True))
            for name, process in both if turn % 2 == 0 else both[::-1]:
                times = _sample(bench, process, which)
                if isinstance(times, str):
                    problems.append(times)
                    break
                pair[name].append(median(times))
        if pair["a"] and len(pair["a"]) == len(pair["b"]):
            found[which] = pair
    return found


def _rounds(plan: Plan) -> int:
    return _ROUNDS_OF_TRIAL if plan.is_host_trial else _ROUNDS


def _sample(bench: Bench, process: Process, which: str) -> list[float] | str:
    counts = _HOST_CALLS if bench.plan.device == "cpu" else _DEVICE_CALLS
    calls = min(counts[which], bench.rules.max_samples)
    reply = process.ask("sentinel", bench.timeout_s, which=which, calls=calls)
    if not isinstance(reply, Reply):
        return f"{which}: {reply.code}: {reply.text}"[:500]
    times = read_times(reply.fields.get("samples_ns"), calls)
    return times if isinstance(times, list) else f"{which}: {times.text}"
