"""The timed part: rounds in balanced order, one process at a time, the anchor after each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kernelindex.runner import batch_files
from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.regimes import Regime, regimes_of
from kernelindex.runner.worker.audit import above_floor, events_within_wall
from kernelindex.runner.worker.checking import (
    Asked,
    compare,
    journal_check,
    note_guards,
    note_result,
    remove_files,
    used_once,
)
from kernelindex.runner.worker.idleness import Idleness
from kernelindex.runner.worker.members import Member, Timed
from kernelindex.runner.worker.replies import (
    malformed,
    read_cycles,
    read_details,
    read_number,
    read_times,
)
from kernelindex.runner.worker.schedule import draw_calls, draw_rounds
from kernelindex.stats import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.worker.anchor import AnchorProbe
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.runner.worker.checking import Judge
    from kernelindex.stats import Random

_OFFSETS = 1 << 20
_GAPS = ("gaps", "why", "slowness", "piece_ns", "first", "each")


@dataclass(slots=True)
class Rounds:
    """The rounds of one generation of a point for members that run side by side."""

    bench: Bench
    judge: Judge
    members: Sequence[Member]
    anchor: AnchorProbe
    random: Random
    generation: int = 0
    orders: list[list[int]] = field(default_factory=list)
    idleness: Idleness = field(default_factory=Idleness)

    def run(self) -> None:
        """All rounds; raises CutShortError between two candidates when the time is over."""
        rules = self.bench.rules
        self.orders = draw_rounds(len(self.members), rules.rounds, self.random)
        wanted = self._draw_checks(rules.rounds, rules.checks_per_generation)
        for number, order in enumerate(self.orders):
            for place in order:
                self.bench.check_time()
                member = self.members[place]
                self.idleness.enter(member)
                self._measure_member(member, wanted.get((number, member.id)))
                self.idleness.leave(member)
                self.anchor.sample(member.id)
            self.anchor.end_round()
            self._journal_round(number)
        for member in self.members:
            self.idleness.enter(member)
            if (refused := self.idleness.verdict(member)) is not None:
                member.fail(None, refused)

    def to_json(self) -> dict[str, Any]:
        """What the generation's file keeps of these rounds and of who took part."""
        return {
            "members": {one.id: one.to_json() for one in self.members},
            "anchor": self.anchor.to_json(),
            "orders": [[self.members[place].id for place in order] for order in self.orders],
        }

    def _journal_round(self, number: int) -> None:
        """One line a round, with the digest of the samples it brought."""
        brought = {
            member.id: {
                regime.key(): timed.samples_ns[-1]
                for regime, timed in member.timed.items()
                if len(timed.samples_ns) == number + 1
            }
            for member in self.members
        }
        digest = batch_files.digest(batch_files.dump_json(brought))
        self.bench.journal.write("round", point=self.judge.point.id, round=number, digest=digest)

    def _draw_checks(self, rounds: int, checks: int) -> dict[tuple[int, str], Regime]:
        """Which timed calls are judged: round and member, and the regime within.

        Regimes take turns in an order drawn for the batch, so that the generations together
        check every one of them as far as the checks reach.
        """
        wanted = {}
        for member in self.members:
            regimes = [one for name in member.passes for one in regimes_of(name, self.bench.rules)]
            turns = self.bench.random("checked regimes", member.id).shuffled(regimes)
            for at, number in enumerate(self.random.shuffled(range(rounds))[:checks]):
                wanted[number, member.id] = turns[(self.generation * checks + at) % len(turns)]
        return wanted

    def _measure_member(self, member: Member, checked: Regime | None) -> None:
        for timed_pass in member.passes:
            before = None
            for regime in regimes_of(timed_pass, self.bench.rules):
                if timed_pass in member.open_passes():
                    self._measure(member, regime, before, check=regime == checked)
                before = None if regime == checked else regime

    def _measure(
        self, member: Member, regime: Regime, before: Regime | None, *, check: bool
    ) -> None:
        timed = member.timed.setdefault(regime, Timed())
        calls, refresh = self._draw_count(member, regime), self.random.below(_OFFSETS)
        reply = self._request(member, regime, calls, refresh, warm=is_warm(regime, before))
        if reply is None:
            return
        refused = keep_times(self.bench, member, regime, timed, reply, calls)
        if refused is None and note_guards(member, regime.timed_pass, reply) and check:
            self._judge_timed(member, regime, refresh)
        if refused is not None:
            member.fail(regime.timed_pass, refused)

    def _request(
        self,
        member: Member,
        regime: Regime,
        calls: int,
        refresh: int,
        *,
        warm: bool,
    ) -> Reply | None:
        rules = self.bench.rules
        return member.ask(
            regime.timed_pass,
            "measure",
            self.bench.timeout_s,
            calls=calls,
            refresh=refresh,
            switch_calls=0 if warm else rules.switch_warmup_calls,
            switch_seconds=0.0 if warm else rules.switch_warmup_seconds,
            idle_seconds=rules.burst_idle_seconds,
            **regime.fields(),
        )

    def _draw_count(self, member: Member, regime: Regime) -> int:
        """What fills a round's seconds, within bounds; a burst is no longer than a round."""
        rules = self.bench.rules
        reported = member.median_ns.get(regime.timed_pass, 1e6)
        expected = max(reported, member.wall_ns.get(regime.timed_pass, 0.0))
        low, high = rules.min_samples, rules.max_samples
        if regime.load == "burst":
            high = max(1, rules.burst_samples)
            low = min(low, high)
        wanted = max(1, round(rules.round_seconds * 1e9 / expected))
        return draw_calls(min(wanted, high), low, high, self.random)

    def _judge_timed(self, member: Member, regime: Regime, refresh: int) -> None:
        """Judge what one of the calls just timed left; which one was drawn after it was made."""
        path = member.process.place.out / "timed.kit"
        reply = member.ask(regime.timed_pass, "kept", self.bench.timeout_s, out=str(path))
        if reply is None:
            return
        asked = self._asked(regime, reply, refresh)
        if asked is None:
            text = f"kept: wanted a set and refresh {refresh}, as was asked for"
            member.fail(regime.timed_pass, malformed(text))
            return
        results = compare(self.judge, {member.id: str(path)}, asked)
        if self.judge.problem is None:
            wrong = note_result(member, asked, results.get(member.id), timed=True)
            if wrong is not None and regime.timed_pass == "backward":
                wrong = used_once(self.bench, member) or wrong
            journal_check(self.bench, asked, {member.id: wrong}, timed=True)
            if wrong is not None:
                member.fail(regime.timed_pass, wrong)
        self.judge.ask("free")
        remove_files([path])

    def _asked(self, regime: Regime, reply: Reply, refresh: int) -> Asked | None:
        index = reply.fields.get("set")
        if not isinstance(index, int) or reply.fields.get("refresh") != refresh:
            return None
        if not 0 <= index < self.bench.rules.rotation_sets:
            return None
        return Asked(self.judge.point.draws[0], regime.timed_pass, index, refresh)


def is_warm(regime: Regime, before: Regime | None) -> bool:
    """Whether what was timed just ``before`` is this burst under load: then no switch is made."""
    return regime.load == "burst" and before == replace(regime, load="sustained")


def keep_times(
    bench: Bench, member: Member, regime: Regime, timed: Timed, reply: Reply, calls: int
) -> Refused | None:
    """Take a reply's samples into the series; the refusal where they cannot be true."""
    times = read_times(reply.fields.get("samples_ns"), calls)
    if isinstance(times, Refused):
        return times
    timed.samples_ns.append(times)
    timed.cycles.append(read_cycles(reply.fields.get("cycles"), len(times)))
    timed.wall_ns.append(reply.wall_ns)
    timed.telemetry.append(_telemetry(bench, reply))
    if regime.load == "sustained":
        member.median_ns[regime.timed_pass] = median(times)
        member.wall_ns[regime.timed_pass] = call_ns(reply, times)
    floor = _floor(bench, member, regime)
    return events_within_wall(times, reply.wall_ns) or above_floor(times, floor)


def _floor(bench: Bench, member: Member, regime: Regime) -> float | None:
    if regime.cache != "cold":
        return None
    for point in bench.plan.points:
        if any(one is member.candidate for one in point.candidates):
            return point.limits.floor_ns.get(regime.timed_pass)
    return None


def call_ns(reply: Reply, times: Sequence[float]) -> float:
    """Time of a call with its flush and its wait, without what a measurement begins with."""
    stated = read_number(reply.fields.get("timed_ns"), reply.wall_ns)
    return min(max(stated, sum(times)), reply.wall_ns) / len(times)


def _telemetry(bench: Bench, reply: Reply) -> dict[str, Any]:
    """The probe's readings, with how many processes are ours and how the queue was paced."""
    told = read_details(reply.fields.get("telemetry"))
    if not told:
        return told
    pace = read_details(reply.fields.get("pace"))
    return told | {
        "own_processes": bench.watch.alive,
        "timed_ns": read_number(reply.fields.get("timed_ns"), 0.0),
        "hold_ns": read_number(pace.get("hold_ns"), 0.0),
        **{name: pace[name] for name in _GAPS if name in pace},
    }
