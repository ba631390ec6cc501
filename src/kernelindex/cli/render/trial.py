"""What a trial of an own kernel shows, in sentences and one table a pass."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kernelindex.cli.render.bench import ended_words, ratio_interval, why_words
from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.resolve.columns import scaled, show_column
from kernelindex.resolve.numbers import memory_text, scale_for
from kernelindex.runner.trying import BUDGET_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kernelindex.runner.trying import Rival, Trial, Wrong


_BY_THE_CLOCK = frozenset(("slows_next", "slope_disagrees", "command_timeout"))
"""Reasons that a very busy host can bring about as well."""
_BUSY_WHEN_REFUSED = "the machine was busy; where you doubt this, run it again when less runs"
_ALONE = "; a copy of the file is run alone, without what lies beside it"
_NOT_ENOUGH = "too_few_generations"


def print_trials(console: Console, target: str, trials: Sequence[Trial], first: str) -> None:
    """The shape asked for first, then where else it was tried and whether it loses there."""
    own = clean(target.rpartition("/")[2])
    for one in trials:
        if one.point == first:
            _print_trial(console, own, one)
    others = [one for one in trials if one.point != first]
    if others:
        console.print("\nother published shapes", style="bold")
        for one in others:
            console.print(clean(other_words(one)))
    if not trials:
        console.print(f"{own} was not measured: the batch ended before it", style="bold")


def _print_trial(console: Console, own: str, one: Trial) -> None:
    console.print(f"\n{own} · {one.timed_pass} · {_head(one)}", style="bold")
    if not one.correct:
        console.print(clean(reason_words(one)))
        for wrong in one.wrong:
            console.print(f"  {clean(wrong_words(wrong))}")
        if one.status == "aborted":
            console.print(clean(_out_of_time()))
        if one.reason in _BY_THE_CLOCK and one.surroundings.busy:
            console.print(clean(f"{_BUSY_WHEN_REFUSED}: {one.surroundings.text}"))
        return
    if one.median_ns is None:
        return
    console.print(clean(time_words(one)))
    if one.rivals:
        console.print(_table(one))
    for text in one.lost:
        console.print(f"no verdict against {clean(text)}", style="dim")
    if is_doubted(one):
        console.print(clean(doubt_words(one)))


def _out_of_time() -> str:
    """Nothing was timed, so nothing was read: what the machine says of itself now."""
    load = f"; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores now"
    return f"{BUDGET_SECONDS:.0f} s are allowed{load}: run it again when less runs"


def _head(one: Trial) -> str:
    if not one.correct:
        return ended_words(one.status, one.reason)
    return "correct, its time is not settled" if one.unsettled else "correct"


def reason_words(one: Trial) -> str:
    """Why it is refused."""
    hint = _ALONE if "FileNotFoundError" in one.text else ""
    return why_words(one.reason, one.text) + hint


def is_doubted(one: Trial) -> bool:
    """Whether its time, or a verdict against a rival, was not to be had."""
    open_ones = [rival for rival in one.rivals if not rival.decided]
    measured = any(_NOT_ENOUGH not in rival.verdict.reasons for rival in open_ones)
    return one.unsettled or measured or bool(one.lost)


def doubt_words(one: Trial) -> str:
    """What kept a time from being settled, and what to do."""
    seen = [one.text] if one.unsettled else []
    if one.unsettled and len(one.process_ns) > 1:
        scale = scale_for(one.process_ns, "ns")
        times = " / ".join(show_column([scaled(scale, time) for time in one.process_ns]))
        seen.append(f"its processes took {times} {scale.unit}")
    machine = one.surroundings
    if machine.busy:
        seen.append(f"the machine was busy: {machine.text}")
        advice = ["run it again when less runs"]
    else:
        seen += [f"the machine was not busy ({machine.text})"] if machine.text else []
        advice = ["more processes tell more: --generations 6"]
    if machine.load is not None and machine.threads != "1":
        advice.append("OMP_NUM_THREADS=1 steadies small kernels on a CPU")
    return f"{'; '.join(seen)}. To settle it: {', or '.join(advice)}"


def time_words(one: Trial) -> str:
    """Median, interval, percent of the limit, memory and doubts, in a line."""
    value = one.median_ns or 0.0
    scale = scale_for([value], "ns")
    half = None
    words = []
    if one.interval_ns:
        low, high = one.interval_ns
        half = (high - low) / 2
        words.append(f"95 % interval {scale.show(low, half)}-{scale.show(high, half)}")
    if one.percent_of_limit is not None:
        words.append(f"{one.percent_of_limit:.0f} % of the nominal limit")
    if one.peak_bytes is not None:
        words.append(f"peak memory {memory_text(one.peak_bytes)}")
    if one.doubts:
        words.append("doubts: " + ", ".join(c.replace("_", " ").lower() for c in one.doubts))
    return ", ".join([f"median {scale.with_unit(value, half)}", *words])


def wrong_words(wrong: Wrong) -> str:
    """Where it is wrong and by how much."""
    parts = [wrong.output]
    if wrong.draw:
        parts.append(f"on the {wrong.draw} draw")
    elif wrong.draws:
        parts.append(f"the worst of the draws {', '.join(wrong.draws)}")
    if wrong.frobenius_error is not None:
        parts.append(f"relative error {wrong.frobenius_error:.3g}")
    if wrong.allowed is not None:
        parts.append(f"{wrong.allowed:.3g} is allowed")
    if wrong.worst_row is not None and wrong.worst_row_error is not None:
        parts.append(f"worst in row {wrong.worst_row}: {wrong.worst_row_error:.3g}")
    return ", ".join(parts)


def other_words(one: Trial) -> str:
    """One other shape: faster, slower, or wrong there."""
    sizes = " ".join(f"{name}={value}" for name, value in one.axes.items())
    if not one.correct:
        ended = ended_words(one.status, one.reason)
        return f"{sizes}: {ended} there, {one.reason.replace('_', ' ')}"
    said = [f"{_kind(rival)} {rival.title}{_by(rival)}" for rival in one.rivals]
    return f"{sizes}: {'; '.join(said) or 'correct, nothing to compare with'}"


def _table(one: Trial) -> object:
    times = [rival.median_ns for rival in one.rivals]
    scale = scale_for([one.median_ns or 0.0, *times], "ns")
    columns = (
        Column("yours against", flexible=True),
        Column(scale.unit, "right"),
        Column("verdict"),
        Column("ratio", "right"),
        Column("95 % interval and margin"),
        Column("to settle", flexible=True),
    )
    cells = (
        [clean(rival.title) for rival in one.rivals],
        align_decimal(show_column([scaled(scale, time) for time in times])),
        [str(rival.verdict.kind) for rival in one.rivals],
        [f"{rival.verdict.ratio:.3f}" if rival.verdict.ratio else "" for rival in one.rivals],
        [ratio_interval(rival.verdict) for rival in one.rivals],
        [rival.verdict.settle.text if rival.verdict.settle else "" for rival in one.rivals],
    )
    return build_table(columns, list(zip(*cells, strict=True)))


def _kind(rival: Rival) -> str:
    words = {"FASTER": "faster than", "SLOWER": "loses to", "SAME": "the same as"}
    return words.get(str(rival.verdict.kind), "not told apart from")


def _by(rival: Rival) -> str:
    ratio = rival.verdict.ratio
    return f", {max(ratio, 1 / ratio):.2f}x" if ratio else ""
