"""Doubts: named reasons to trust a number less, each with a class and, if known, a size.

blocks   a claim that must not be made on this number
shifts   the number is off, by ``shift_ns`` where that is known (positive: the published
         time is longer than the kernel's own)
note     worth knowing
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from kernelindex.policy.control_chart import PROVISIONAL_BATCHES
from kernelindex.policy.facts import UNSTATED, Doubt, Profile, RunFacts
from kernelindex.policy.levels import CPUS
from kernelindex.policy.limits import (
    COLD,
    above_physical_floor,
    beats_memory_floor,
    floor_text,
    latency_ns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.policy.levels import EvidenceFacts
    from kernelindex.policy.samples import Telemetry
    from kernelindex.registry.hardware import Product

BLOCKS, SHIFTS, NOTE = "blocks", "shifts", "note"
EFFECTS = (BLOCKS, SHIFTS, NOTE)

CODES: dict[str, tuple[str, str]] = {
    "CORRECTNESS_NOT_ASSERTED": (BLOCKS, "nobody says that the result was checked"),
    "ABOVE_PHYSICAL_PEAK": (BLOCKS, "faster than the device's nominal peaks allow"),
    "RESTATED_IMPLEMENTATION": (BLOCKS, "a copy of the named project's code was timed"),
    "INCONSISTENT_RERUNS": (BLOCKS, "runs of this entry differ by more than 20 %"),
    "BELOW_TIMER_RESOLUTION": (BLOCKS, "one timer tick is over 5 % of the value"),
    "PASSES_DISAGREE": (BLOCKS, "forward and backward do not add up to full"),
    "HARNESS_WORK_IN_TIMED_REGION": (SHIFTS, "work of the harness was timed as well"),
    "CLOCKS_UNSTABLE": (SHIFTS, "the clock changed while it was measured"),
    "THROTTLED": (SHIFTS, "the device throttled while it was measured"),
    "BIMODAL": (SHIFTS, "the samples have two centres"),
    "HOST_BOUND": (SHIFTS, "the device waited for the host"),
    "LOAD_TOO_SHORT": (SHIFTS, "sustained load was shorter than 250 samples or 2 s a process"),
    "GAPS_SPUN": (
        SHIFTS,
        "where the host was late the card idled, so this is not the load of later batches",
    ),
    "SINGLE_SAMPLE": (NOTE, "one sample, so nothing is known of its spread"),
    "NO_SOFTWARE_VERSIONS": (NOTE, "no driver, CUDA or framework version is stated"),
    "UNIFORM_ROUTING_ONLY": (NOTE, "uniform routing; real routing is skewed"),
    "TIME_ZONE_UNSTATED": (NOTE, "measured at a local time of an unstated zone"),
    "BOUND_FROM_SCRIPT": (NOTE, "read from the source's script, not from its row"),
    "STALE": (NOTE, "older than a year before the source's newest snapshot"),
    "BATCH_MISSING": (NOTE, "the batch before it in its runner's sequence is not here"),
    "PROVISIONAL_RUNNER": (NOTE, "one of the first 20 batches of its runner"),
}
"""Every doubt that policy itself raises: class and meaning. Sources may add their own."""

TICK_SHARE = 0.05
RERUN_SPREAD = 0.20
PASS_SHARE = 0.05
STALE_DAYS = 365
BUSY_SHARE = 0.8
CLOCK_SPREAD = 0.03
LEAST_TICKS = 50
SUSTAINED = ("load", "sustained")
SUSTAINED_SAMPLES, SUSTAINED_NS = 250, 2e9
"""Of one process generation: either will do."""
SPUN_VERSION = "1"
"""The harness's version whose gaps a spin filled; ``1, gaps worked`` took its place (ADR 15)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTimes:
    """Times of the three passes of one revision in one batch or session, in ns."""

    forward_ns: float
    backward_ns: float
    full_ns: float


def doubts_of(
    facts: RunFacts,
    *,
    product: Product | None = None,
    newest: str | None = None,
    passes: PassTimes | None = None,
    entry_runs: Sequence[RunFacts] = (),
    evidence: EvidenceFacts | None = None,
) -> tuple[Doubt, ...]:
    """Every doubt about one run, blocking ones first, one of each code.

    ``newest`` is the calendar date of its source's newest snapshot; ``passes`` its
    siblings; ``entry_runs`` all runs of its entry; ``evidence`` what was handed over of it.
    """
    found = [
        *facts.source_doubts,
        *_correctness(facts),
        *_identity(facts),
        *_timing(facts, product),
        *_load(facts, product),
        *_gaps(facts),
        *_physical(facts, product),
        *_telemetry(facts.telemetry),
        *_provenance(facts, newest),
        *_sequence(evidence),
    ]
    if passes is not None and passes_disagree(passes):
        found.append(_doubt("PASSES_DISAGREE", _passes_text(passes)))
    if inconsistent_reruns(entry_runs):
        found.append(_doubt("INCONSISTENT_RERUNS", _rerun_text(entry_runs)))
    return order_doubts(found)


def order_doubts(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Blocking first, then shifting (larger known size first), then notes; the first of a code."""
    first: dict[str, Doubt] = {}
    for doubt in doubts:
        first.setdefault(doubt.code, doubt)
    return tuple(sorted(first.values(), key=_weight))


def shared_codes(per_entry: Sequence[Sequence[Doubt]]) -> tuple[str, ...]:
    """The codes that every entry carries, in order of weight: said once above a table."""
    if not per_entry:
        return ()
    common = set.intersection(*({doubt.code for doubt in doubts} for doubts in per_entry))
    return tuple(doubt.code for doubt in order_doubts(per_entry[0]) if doubt.code in common)


def passes_disagree(passes: PassTimes) -> bool:
    """Whether |forward + backward - full| is over 5 % of full."""
    difference = abs(passes.forward_ns + passes.backward_ns - passes.full_ns)
    return difference > PASS_SHARE * passes.full_ns


def inconsistent_reruns(runs: Sequence[RunFacts]) -> bool:
    """Whether the extremes of one entry's runs differ by more than 20 % of the smaller."""
    values = [run.primary.value for run in runs if run.primary is not None]
    return len(values) > 1 and max(values) > (1.0 + RERUN_SPREAD) * min(values)


def known_shift_ns(doubts: Iterable[Doubt]) -> float | None:
    """The sum of the known sizes of the doubts that shift a number; ``None`` without any."""
    sizes = [one.shift_ns for one in doubts if one.effect == SHIFTS and one.shift_ns is not None]
    return sum(sizes) if sizes else None


def _doubt(code: str, text: str = "") -> Doubt:
    effect, meaning = CODES[code]
    return Doubt(code=code, effect=effect, text=text or meaning)


def _weight(doubt: Doubt) -> tuple[int, float, int, str]:
    order = list(CODES)
    place = order.index(doubt.code) if doubt.code in CODES else len(order)
    return EFFECTS.index(doubt.effect), -abs(doubt.shift_ns or 0.0), place, doubt.code


def _correctness(facts: RunFacts) -> list[Doubt]:
    if facts.correctness.asserted:
        return []
    return [_doubt("CORRECTNESS_NOT_ASSERTED")]


def _identity(facts: RunFacts) -> list[Doubt]:
    found = []
    if facts.line.restated:
        named = facts.line.restates or "the named project"
        text = f"what ran is {facts.line.title}, a copy of code of {named}"
        found.append(_doubt("RESTATED_IMPLEMENTATION", text))
    if facts.shape.distribution == "routing:uniform":
        found.append(_doubt("UNIFORM_ROUTING_ONLY"))
    if facts.bound:
        text = f"bound from the source's script, not stated in its row: {', '.join(facts.bound)}"
        found.append(_doubt("BOUND_FROM_SCRIPT", text))
    return found


def _timing(facts: RunFacts, product: Product | None) -> list[Doubt]:
    time_ns = latency_ns(facts)
    if time_ns is None:
        return []
    tick_ns = product.tick_ns if product is not None else None
    found = []
    if _is_single(facts, time_ns, tick_ns):
        found.append(_doubt("SINGLE_SAMPLE"))
    if tick_ns and tick_ns > TICK_SHARE * time_ns:
        share = tick_ns / time_ns
        text = f"the timer's tick of {tick_ns:g} ns is {share:.0%} of {time_ns:g} ns"
        found.append(_doubt("BELOW_TIMER_RESOLUTION", text))
    return found


def _load(facts: RunFacts, product: Product | None) -> list[Doubt]:
    """Sustained load that was not: a card's clock takes a while to come down to its power cap."""
    time_ns, samples = latency_ns(facts), facts.samples
    asked = product is not None and SUSTAINED in facts.protocol.rules
    if not asked or time_ns is None or samples is None:
        return []
    count = (facts.sample_count or 0) / max(1, len(samples.rounds))
    if count >= SUSTAINED_SAMPLES or count * time_ns >= SUSTAINED_NS:
        return []
    text = f"{count:.0f} samples in {count * time_ns / 1e9:.2g} s of each process: shorter than"
    return [_doubt("LOAD_TOO_SHORT", f"{text} the 250 samples or 2 s of a sustained load")]


def _gaps(facts: RunFacts) -> list[Doubt]:
    """Sustained load whose gaps were spun; a processor has none, an emulation follows its source.

    SonicMoE's forward: 1.089 ms at 1,972 MHz, and 1.171 ms at 1,515 to 1,575 with gaps worked.
    """
    protocol = facts.protocol
    ours = protocol.profile is Profile.CONTROLLED and protocol.version == SPUN_VERSION
    sustained = {SUSTAINED, COLD} <= set(protocol.rules)
    if not (ours and sustained) or facts.device.architecture in CPUS or latency_ns(facts) is None:
        return []
    return [_doubt("GAPS_SPUN")]


def _is_single(facts: RunFacts, time_ns: float, tick_ns: float | None) -> bool:
    """One sample by its count; else quantiles all equal, where ticks cannot be the cause."""
    if facts.sample_count is not None:
        return facts.sample_count == 1
    spread = facts.spread
    if spread is None or not spread.low == spread.high == time_ns:
        return False
    return time_ns > LEAST_TICKS * (tick_ns or 1024.0)


def _physical(facts: RunFacts, product: Product | None) -> list[Doubt]:
    if above_physical_floor(facts, product):
        return [_doubt("ABOVE_PHYSICAL_PEAK", floor_text(facts))]
    if beats_memory_floor(facts, product):
        text = "more bytes a second than the nominal bandwidth: the inputs may have been in cache"
        return [Doubt(code="ABOVE_PHYSICAL_PEAK", effect=SHIFTS, text=text)]
    return []


def _telemetry(seen: Telemetry | None) -> list[Doubt]:
    if seen is None:
        return []
    found = []
    low, high = seen.sm_clock_low_mhz, seen.sm_clock_high_mhz
    if low and high and high > (1.0 + CLOCK_SPREAD) * low:
        found.append(_doubt("CLOCKS_UNSTABLE", f"SM clock between {low:g} and {high:g} MHz"))
    if seen.throttle_reasons:
        found.append(_doubt("THROTTLED", f"throttled: {', '.join(seen.throttle_reasons)}"))
    if seen.bimodal:
        found.append(_doubt("BIMODAL"))
    if seen.busy_share is not None and seen.busy_share < BUSY_SHARE:
        text = f"the device was busy for {seen.busy_share:.0%} of the time measured"
        found.append(_doubt("HOST_BOUND", text))
    return found


def _provenance(facts: RunFacts, newest: str | None) -> list[Doubt]:
    found = []
    if not facts.stack:
        found.append(_doubt("NO_SOFTWARE_VERSIONS"))
    if facts.observed.zone == UNSTATED:
        found.append(_doubt("TIME_ZONE_UNSTATED"))
    if newest and facts.observed.date and _days(facts.observed.date, newest) > STALE_DAYS:
        text = f"measured {facts.observed.date}, its source's newest snapshot is of {newest}"
        found.append(_doubt("STALE", text))
    return found


def _sequence(evidence: EvidenceFacts | None) -> list[Doubt]:
    """What is to be said of the batch's place among its runner's."""
    if evidence is None:
        return []
    found = []
    if evidence.unproven_batch:
        found.append(_doubt("BATCH_MISSING", evidence.unproven_batch))
    if evidence.batch_number is not None and evidence.batch_number <= PROVISIONAL_BATCHES:
        found.append(_doubt("PROVISIONAL_RUNNER"))
    return found


def _days(earlier: str, later: str) -> int:
    """Days between two calendar dates; 0 where a text is none (``observed`` is free text)."""
    try:
        return (date.fromisoformat(later[:10]) - date.fromisoformat(earlier[:10])).days
    except ValueError:
        return 0


def _passes_text(passes: PassTimes) -> str:
    total = passes.forward_ns + passes.backward_ns
    off = (total - passes.full_ns) / passes.full_ns
    return f"forward + backward is {off:+.1%} against full"


def _rerun_text(runs: Sequence[RunFacts]) -> str:
    values = [run.primary.value for run in runs if run.primary is not None]
    return f"{len(values)} runs differ by {max(values) / min(values) - 1.0:.0%}"
