"""One generation of one point: fresh processes, correctness, examination, rounds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner import batch_files
from kernelindex.runner.worker.anchor import AnchorProbe
from kernelindex.runner.worker.bench import CutShortError, side_by_side
from kernelindex.runner.worker.checking import Judge, check_draws
from kernelindex.runner.worker.preparing import (
    capture_members,
    compile_members,
    examine_all,
    load_members,
    start_members,
)
from kernelindex.runner.worker.rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex.runner.plan import Candidate, Point
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.runner.worker.members import Member

Wanted = tuple["Candidate", tuple[str, ...]]
_TOO_LARGE = "resource_exceeded"


@dataclass(slots=True)
class Conduct:
    """Runs a generation; candidates that do not fit into memory together run apart."""

    bench: Bench
    point: Point
    generation: int
    wanted: Sequence[Wanted]

    def run(self) -> dict[str, Any]:
        """The generation's record; raises CutShortError when the time is over."""
        started = time.monotonic()
        groups: list[list[Wanted]] = [list(self.wanted)]
        parts: list[dict[str, Any]] = []
        while groups:
            group = groups.pop(0)
            part, apart = self._run_group(group, len(parts))
            parts.append(part)
            groups += apart
        record = _merged(parts)
        record["seconds"] = time.monotonic() - started
        return record | {"point": self.point.id, "generation": self.generation}

    def _run_group(
        self, group: Sequence[Wanted], number: int
    ) -> tuple[dict[str, Any], list[list[Wanted]]]:
        bench = self.bench
        processes = []
        try:
            judge = Judge(bench, bench.start_judge(), self.point)
            processes.append(judge.process)
            anchor = AnchorProbe(bench, bench.start_probe("anchor"))
            processes.append(anchor.process)
            members = start_members(bench, self.point, group)
            processes += [one.process for one in members]
            return self._measure(judge, anchor, members, number)
        finally:
            bench.end_all(processes)

    def _measure(
        self, judge: Judge, anchor: AnchorProbe, members: list[Member], number: int
    ) -> tuple[dict[str, Any], list[list[Wanted]]]:
        self._prepare(judge, anchor, members, number)
        apart, members = self._set_apart(members)
        random = self.bench.random("rounds", self.point.id, self.generation, number)
        rounds = Rounds(self.bench, judge, members, anchor, random, self.generation)
        decided = self._is_decided(members)
        if not decided:
            self._time(rounds)
        for member in members:
            self._finish(member, apart=number > 0)
        record = rounds.to_json()
        if self.generation == 0 and number == 0 and not decided:
            record["selfcheck"] = self._selfcheck(judge, anchor, members)
        return record, apart

    def _selfcheck(
        self, judge: Judge, anchor: AnchorProbe, members: Sequence[Member]
    ) -> dict[str, Any]:
        """The proof of the timer that all rounds went by, once the card is empty.

        It moves a GiB, for which candidates need not have left room: they and the judge end
        first. The anchor's process stays, with the timer and the flush that it had all along.
        """
        self.bench.end_all([judge.process, *(one.process for one in members)])
        return anchor.selfcheck()

    def _time(self, rounds: Rounds) -> None:
        """Warm up, examine, and run all rounds."""
        self._say("warm-up and examination")
        examine_all(self.bench, rounds.members, fully=self.generation == 0)
        rounds.anchor.warm(self.bench.rules.warmup_seconds)
        self._say(f"{self.bench.rules.rounds} rounds")
        try:
            rounds.run()
        except CutShortError:
            self._keep_abandoned(rounds)
            raise
        if self.generation == 0:
            capture_members(self.bench, rounds.members)

    def _is_decided(self, members: Sequence[Member]) -> bool:
        """Whether every subject of a trial was refused: nobody waits for the others' times."""
        subjects = self.bench.plan.subjects(self.point)
        return bool(subjects) and not any(
            one.open_passes() for one in members if one.id in subjects
        )

    def _keep_abandoned(self, rounds: Rounds) -> None:
        """What was timed before the end is kept, and counts for nothing: it is measured anew."""
        bench, index = self.bench, self.bench.plan.points.index(self.point)
        path = batch_files.abandoned_file(bench.folder, index, self.generation, bench.journal.lines)
        batch_files.write_json(path, rounds.to_json())
        found = batch_files.digest(path.read_bytes())
        bench.journal.write("generation_abandoned", file=path.name, digest=found)

    def _prepare(
        self, judge: Judge, anchor: AnchorProbe, members: Sequence[Member], number: int
    ) -> None:
        bench = self.bench
        self._say(f"starting {len(members)} candidates")
        random = bench.random("pads", self.point.id, self.generation, number)
        jobs: list[Callable[[], None]] = [
            judge.open,
            anchor.open,
            lambda: load_members(bench, self.point, members, random),
        ]
        side_by_side(jobs, lambda job: job())
        bench.check_time()
        self._say("correctness")
        check_draws(judge, members, self.generation)
        if self.generation == 0 and number == 0 and judge.problem is None:
            lint = judge.ask("lint")
            findings = lint.fields.get("findings") if lint else None
            bench.journal.write("lint", point=self.point.id, findings=findings or [])
        if judge.problem is None:
            judge.ask("free")
        compile_members(bench, members)

    def _set_apart(self, members: list[Member]) -> tuple[list[list[Wanted]], list[Member]]:
        """Groups for candidates that ran out of memory beside the others, and who stays."""
        large = [one for one in members if _ran_out_of_memory(one)]
        if not large or len(members) == 1:
            return [], members
        for member in large:
            self.bench.end(member.process)
        names = [one.id for one in large]
        self.bench.journal.write("swapped", point=self.point.id, candidates=names)
        self._say(f"does not fit beside the others, measured apart: {', '.join(names)}")
        wanted = [(one.candidate, one.passes) for one in large]
        staying = [one for one in members if one not in large]
        return ([wanted] if staying else [[one] for one in wanted]), staying

    def _finish(self, member: Member, *, apart: bool) -> None:
        if not self.bench.isolation.features:
            for timed_pass in member.passes:
                text = "nothing but resource limits kept the candidate from network and files"
                member.doubt(timed_pass, "NOT_ISOLATED", "note", text)
        if apart:
            for timed_pass in member.passes:
                text = "its memory did not fit beside the others': its rounds ran apart"
                member.doubt(timed_pass, "NOT_INTERLEAVED", "note", text)
        discarded = member.process.output.discarded
        if discarded:
            member.found["output"] = {"discardedBytes": discarded}
        self._journal_failures(member)

    def _journal_failures(self, member: Member) -> None:
        for timed_pass, refused in member.failures.items():
            self.bench.journal.write(
                "refused",
                point=self.point.id,
                generation=self.generation,
                candidate=member.id,
                timed_pass=timed_pass,
                status=refused.status,
                code=refused.code,
            )
            self._say(f"{member.id} {timed_pass}: {refused.status} ({refused.code})")

    def _say(self, text: str) -> None:
        self.bench.say(f"{self.point.id} generation {self.generation}: {text}")


def _ran_out_of_memory(member: Member) -> bool:
    return any(one.status == _TOO_LARGE for one in member.failures.values())


def _merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One record of the groups of a generation; the first group's anchor is the anchor."""
    merged: dict[str, Any] = {"members": {}, "anchor": parts[0]["anchor"], "orders": []}
    for part in parts:
        merged["members"] |= part["members"]
        merged["orders"].append(part["orders"])
    if "selfcheck" in parts[0]:
        merged["selfcheck"] = parts[0]["selfcheck"]
    return merged
