"""What the worker's own clock says of the times that a candidate's process reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.regimes import Regime
from kernelindex.runner.worker.idleness import spent_below
from kernelindex.runner.worker.replies import read_number, read_times
from kernelindex.stats import mean, median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.worker.members import Member

_SLACK = 1.02
_SLACK_NS = 200_000
_FLOOR_SHARE = 0.98
_SLOPE_TIMES = 1.5
# On a CPU a block also holds what disturbed it, unlike the reported median: at a load of ten on
# two cores honest backward passes took up to 3.5 times their median, so four times are allowed.
_SLOPE_TIMES_HOST = 4.0
# What a call takes beside its reported time. On a device: host time of one eager call (launches,
# autograd) that events rightly leave out; the largest seen in eager mixtures of experts is far
# above it per call, but so is their device time. On a CPU: making it ready, 20 µs on a quiet one.
_SLOPE_BESIDE_NS, _SLOPE_BESIDE_NS_HOST = 500_000, 100_000
# A device that waits for its host takes what the host needs to issue a call: 0.57 ms for a layer of
# 55 µs on the host of one H200. Beyond 2 ms nobody is believed to need that.
_ISSUE_TIMES, _LONGEST_ISSUE_NS, _ISSUED_CALLS = 1.5, 2e6, 8
_BLOCK_NS = 30e6
_BLOCK_CALLS = (4, 400)
_REPEATS = 3
_ATTEMPTS = 3
_MEAN_CALLS = 100


def events_within_wall(samples_ns: Sequence[float], wall_ns: int) -> Refused | None:
    """Refuse times whose sum is more than the wall clock of their request."""
    total = math.fsum(samples_ns)
    if total <= wall_ns * _SLACK + _SLACK_NS:
        return None
    text = f"{total:.0f} ns of samples were reported in {wall_ns} ns of wall clock"
    return Refused("suspected_reward_hack", "events_exceed_wall", text)


def above_floor(samples_ns: Sequence[float], floor_ns: float | None) -> Refused | None:
    """Refuse a median below what the hardware needs for the workload (cold caches only)."""
    middle = median(samples_ns)
    if floor_ns is None or middle >= floor_ns * _FLOOR_SHARE:
        return None
    text = f"a median of {middle:.0f} ns; the device needs at least {floor_ns:.0f} ns"
    return Refused("suspected_reward_hack", "below_floor", text)


def check_slope(member: Member, timed_pass: str, timeout_s: float, *, on_host: bool) -> None:
    """Time n and 2n calls by our clock; their difference must agree with the reported times.

    Host time that events leave out is allowed for, so on a device only work hidden from the
    events for more than half of them and more than half a millisecond a call is refused, where
    issuing the calls does not explain it; and only where it shows at every attempt, since a busy
    host disturbs one now and then.
    """
    if timed_pass not in member.median_ns:
        return
    reported = member.median_ns[timed_pass]
    low, high = _BLOCK_CALLS
    calls = max(low, min(high, int(_BLOCK_NS / reported)))
    for _ in range(_ATTEMPTS):
        found = _slope_ns(member, timed_pass, calls, timeout_s, on_host=on_host)
        if found is None:
            return
        slope = found
        member.note("slope", timed_pass, {"slopeNs": slope, "reportedNs": reported, "calls": calls})
        if slope <= _most_ns(reported, on_host=on_host):
            return
        reported = max(reported, _mean_ns(member, timed_pass, calls, timeout_s))
    text = f"{slope:.0f} ns a call by the worker's clock; {reported:.0f} ns were reported"
    if not on_host and _is_issued_slowly(member, timed_pass, slope, reported, timeout_s):
        member.doubt(timed_pass, "ISSUED_SLOWLY", "note", f"{text}: the device waits for its host")
        return
    member.fail(timed_pass, Refused("suspected_reward_hack", "slope_disagrees", text))


def _most_ns(reported: float, *, on_host: bool) -> float:
    """What a call of a reported time may take by our clock."""
    if on_host:
        return max(reported * _SLOPE_TIMES_HOST, reported + _SLOPE_BESIDE_NS_HOST)
    return max(reported * _SLOPE_TIMES, reported + _SLOPE_BESIDE_NS)


def _is_issued_slowly(
    member: Member, timed_pass: str, slope: float, reported: float, timeout_s: float
) -> bool:
    """Whether the host needs the time, and a traced call keeps no stream busy for it.

    A call that waits for hidden work takes as long to issue as one of a slow host, but its trace
    shows the work.
    """
    issue = _slope_ns(member, timed_pass, _ISSUED_CALLS, timeout_s, "issue", on_host=False)
    traced = member.ask(timed_pass, "trace", timeout_s)
    if issue is None or traced is None:
        return False
    busy = read_number(traced.fields.get("busy_ns"), 0.0)
    member.found["slope"][timed_pass] |= {"issueNs": issue, "busyNs": busy}
    needed = min(issue, _LONGEST_ISSUE_NS) * _ISSUE_TIMES
    return slope <= needed and 0 < busy <= _most_ns(reported, on_host=False)


def _mean_ns(member: Member, timed_pass: str, calls: int, timeout_s: float) -> float:
    """The mean of newly reported times: a slope holds the slow calls that a median leaves out.

    Without the longest: on a busy host one time can be worth all others, and a candidate that
    shortens the times taken so far never reaches the last.
    """
    calls = min(calls, _MEAN_CALLS)
    regime = Regime(timed_pass, "hot", "sustained", "eager").fields()
    reply = member.ask(timed_pass, "measure", timeout_s, calls=calls, refresh=0, **regime)
    times = read_times(reply.fields.get("samples_ns"), calls) if reply else None
    return mean(sorted(times)[:-1] or times) if isinstance(times, list) else 0.0


def _slope_ns(
    member: Member,
    timed_pass: str,
    calls: int,
    timeout_s: float,
    command: str = "block",
    *,
    on_host: bool,
) -> float | None:
    """From the shortest of a few blocks of each length: a disturbance only makes one longer.

    On a host hidden work takes CPU time as well as wall clock, and what other processes do to
    the wall clock takes none of the candidate's; a candidate's own threads take more CPU time
    than wall clock. So the smaller of both is meant, block by block: by the wall clock alone a
    disturbed short block would hide what a long one shows.
    """
    blocks: dict[int, list[int]] = {calls: [], 2 * calls: []}
    for _ in range(_REPEATS):
        for count, kept in blocks.items():
            before = spent_below(member.process.pid) if on_host else 0
            reply = member.ask(timed_pass, command, timeout_s, calls=count)
            if not isinstance(reply, Reply):
                return None
            spent = spent_below(member.process.pid) - before if on_host else reply.wall_ns
            kept.append(min(reply.wall_ns, spent))
    return (min(blocks[2 * calls]) - min(blocks[calls])) / calls
