"""Correctness before timing and of randomly chosen timed calls, through the judge."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.worker.bench import side_by_side
from kernelindex.runner.worker.idleness import wait_until_quiet
from kernelindex.runner.worker.replies import (
    first_refusal,
    read_details,
    read_findings,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.runner.plan import Point
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.runner.worker.members import Member
    from kernelindex.runner.worker.processes import Process

_OFFSETS = 1 << 20
# What a host that was held up for some milliseconds shows too.
_ASKED_AGAIN = frozenset(("work_after_return", "work_on_other_stream"))


@dataclass(slots=True)
class Judge:
    """The judge's process at one point; ``problem`` is why it can judge no more."""

    bench: Bench
    process: Process
    point: Point
    problem: Refused | None = None
    made: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def ask(self, command: str, **fields: Any) -> Reply | None:
        """The reply, or None: a judge that fails makes the reference invalid, not candidates."""
        answer = self.process.ask(command, self.bench.long_timeout_s, **fields)
        if isinstance(answer, Reply):
            return answer
        text = f"the judge failed at {command}: {answer.code}: {answer.text}"
        self.problem = Refused("invalid_reference", "judge_failed", text)
        self.bench.journal.write("judge_failed", command=command, code=answer.code, text=text[:500])
        return None

    def open(self) -> None:
        """Greet it and hand it the point."""
        greeted = self.ask("hello", device=self.bench.plan.device)
        if greeted is not None:
            self.bench.facts.setdefault("judge", read_details(greeted.fields.get("facts")))
            self.ask("point", point=to_json(self.point), operation=self.point.operation)

    def make(self, draw: str, seed: str, sets: int, folder: Path) -> Mapping[str, Any] | None:
        """Make the input files of a draw; None where it cannot."""
        folder.mkdir(parents=True, exist_ok=True)
        reply = self.ask("make", draw=draw, seed=seed, sets=sets, dir=str(folder))
        if reply is None:
            return None
        self.made[draw] = reply.fields
        return reply.fields


Wrong = dict[tuple[str, str], Refused]
"""What is wrong, by candidate and pass."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One checked call: which contents of which draw."""

    draw: str
    timed_pass: str
    set: int
    refresh: int


def check_draws(judge: Judge, members: Sequence[Member], generation: int) -> None:
    """Check every member on every draw, after the first generation on ``own`` alone.

    ``own`` comes last, so that its inputs stay loaded. What is wrong on it is said before what
    is wrong on others only.
    """
    bench, draws = judge.bench, judge.point.draws
    wrong: Wrong = {}
    # A later generation is another process of the same code: the workload's own draw will do.
    others = draws[1:] if generation == 0 else ()
    for draw in (*others, draws[0]):
        bench.check_time()
        sets = bench.rules.rotation_sets if draw == draws[0] else 1
        folder = bench.places.empty_inputs() / draw
        seed = bench.derive("inputs", judge.point.id, generation)
        began = time.monotonic()
        made = judge.make(draw, seed, sets, folder)
        if made is None:
            break
        bench.say(f"{judge.point.id}: draw {draw} made in {time.monotonic() - began:.1f} s")
        files = {"sets": made["sets"], "upstream": made["upstream"]}
        _load_inputs(bench, [one for one in members if one.open_passes()], files)
        # One answer for all passes of a draw: the reference is the costly part.
        random = bench.random("check", judge.point.id, generation, draw)
        index, offset = random.below(sets), random.below(_OFFSETS)
        for timed_pass in judge.point.passes if draw == draws[0] else elsewhere(judge.point):
            wrong.update(_check_pass(judge, members, Asked(draw, timed_pass, index, offset)))
    for member in members:
        for timed_pass in member.passes:
            if (member.id, timed_pass) in wrong:
                member.fail(timed_pass, wrong[member.id, timed_pass])
        if judge.problem is not None:
            member.fail(None, judge.problem)


def elsewhere(point: Point) -> tuple[str, ...]:
    """The passes checked on draws other than the workload's own.

    ``full`` makes what forward and backward make, by the same calls, so it stands for them.
    """
    if "full" not in point.passes:
        return point.passes
    return tuple(one for one in point.passes if one in ("full", "inference"))


def shown_wrong(timed_pass: str, draw: str, point: Point, failed: Iterable[str]) -> set[str]:
    """The passes that a wrong result refuses: those, too, that ``full`` stood for."""
    if timed_pass != "full" or draw == point.draws[0]:
        return {timed_pass}
    gradients = [name.startswith("grad_") for name in failed]
    stood_for = {"backward"} if any(gradients) else set()
    return {"full"} | stood_for | (set() if all(gradients) and gradients else {"forward"})


def _load_inputs(bench: Bench, members: Sequence[Member], files: Mapping[str, Any]) -> None:
    def load(member: Member) -> None:
        member.ask(None, "inputs", bench.long_timeout_s, **files)

    side_by_side(members, load)


def _check_pass(judge: Judge, members: Sequence[Member], asked: Asked) -> Wrong:
    if judge.problem is not None:
        return {}
    callers = [one for one in members if asked.timed_pass in one.open_passes()]
    files: dict[str, str] = {}

    def call(member: Member) -> None:
        path = call_to_file(judge.bench, member, asked)
        if path is not None:
            files[member.id] = str(path)

    began = time.monotonic()
    side_by_side(callers, call)
    called = time.monotonic()
    results = compare(judge, files, asked)
    remove_files(files.values())
    spent = f"calls {called - began:.1f} s, judging {time.monotonic() - called:.1f} s"
    judge.bench.say(f"{judge.point.id}: {asked.timed_pass} on draw {asked.draw}: {spent}")
    if judge.problem is not None:
        return {}
    found = {
        member.id: note_result(member, asked, results.get(member.id), timed=False)
        for member in callers
        if member.id in files
    }
    journal_check(judge.bench, asked, found, timed=False)
    return {
        (name, timed_pass): wrong
        for name, wrong in found.items()
        if wrong is not None
        for timed_pass in shown_wrong(
            asked.timed_pass, asked.draw, judge.point, _failed(results.get(name))
        )
    }


def _failed(result: Any) -> list[str]:
    """Names of the outputs and gradients that a result calls wrong."""
    outputs = result.get("outputs") if isinstance(result, dict) else None
    return [name for name, one in (outputs or {}).items() if not one.get("passed")]


def journal_check(
    bench: Bench, asked: Asked, found: Mapping[str, Refused | None], *, timed: bool
) -> None:
    """One line for the candidates judged on one call's contents: the reason, or passed."""
    bench.journal.write(
        "checked",
        draw=asked.draw,
        timed_pass=asked.timed_pass,
        set=asked.set,
        refresh=asked.refresh,
        timed=timed,
        results={name: wrong.code if wrong else "passed" for name, wrong in found.items()},
    )


def call_to_file(bench: Bench, member: Member, asked: Asked) -> Path | None:
    """One checked call with its outputs in a file; None after a refusal, which is noted."""
    path = member.process.place.out / f"{asked.draw}-{asked.timed_pass}.kit"
    fields = {"set": asked.set, "refresh": asked.refresh, "out": str(path), "poison": True}
    reply = member.ask(asked.timed_pass, "call", bench.long_timeout_s, **fields)
    if reply is None:
        return None
    _note_first_call(member, reply)
    text = _started(member, reply)
    if text is None or not wait_until_quiet(member.process.pid):
        return path if note_guards(member, asked.timed_pass, reply) else None
    return path if _ask_again(bench, member, asked, text) else None


def _started(member: Member, reply: Reply) -> str | None:
    """What a library may have started at a first call, such as a pool of compilers, in words.

    Where nothing else is against the call, and once in a process: else every other call could
    be deferred.
    """
    refused = [one for one in read_findings(reply.fields, "guards") if one["status"]]
    if not refused or not {one["code"] for one in refused} <= _ASKED_AGAIN:
        return None
    if "started" in member.found:
        return None
    text = str(refused[0]["text"])
    member.found["started"] = {"text": text}
    return text


def _ask_again(bench: Bench, member: Member, asked: Asked, text: str) -> bool:
    """Make the call once more now that all is quiet: only who defers work does so again.

    What is judged stays what the first call left.
    """
    bench.journal.write(
        "asked_again", candidate=member.id, timed_pass=asked.timed_pass, draw=asked.draw, text=text
    )
    path = member.process.place.out / "again.kit"
    fields = {"set": asked.set, "refresh": asked.refresh, "out": str(path), "poison": True}
    reply = member.ask(asked.timed_pass, "call", bench.long_timeout_s, **fields)
    remove_files([path])
    if reply is None or not note_guards(member, asked.timed_pass, reply):
        return False
    member.doubt(asked.timed_pass, "ASKED_AGAIN", "note", f"{text}, once")
    return True


def _note_first_call(member: Member, reply: Reply) -> None:
    """Keep the time of the process's very first call, compilation included."""
    elapsed = read_number(reply.fields.get("elapsed_ns"), 0.0)
    if elapsed > 0 and not member.process.place.compiled:
        member.found.setdefault("firstCall", {"ns": min(elapsed, float(reply.wall_ns))})


def note_guards(member: Member, timed_pass: str, reply: Reply) -> bool:
    """Note what the guards saw; False where one of the findings refuses the pass."""
    findings = read_findings(reply.fields, "guards")
    for one in findings:
        if not one["status"]:
            member.doubt(timed_pass, one["code"], "note", one["text"])
    refused = first_refusal(findings)
    if refused is not None:
        member.fail(timed_pass, refused)
    return refused is None


def compare(judge: Judge, files: Mapping[str, str], asked: Asked) -> Mapping[str, Any]:
    """The judge's results by candidate."""
    if not files:
        return {}
    reply = judge.ask(
        "compare",
        files=dict(files),
        draw=asked.draw,
        set=asked.set,
        refresh=asked.refresh,
        **{"pass": asked.timed_pass},
    )
    results = reply.fields.get("results") if reply else None
    return results if isinstance(results, dict) else {}


def note_result(
    member: Member, asked: Asked, result: Mapping[str, Any] | None, *, timed: bool
) -> Refused | None:
    """Keep what a comparison found; the refusal of a wrong answer, or of none at all."""
    if result is None:
        return Refused("incomplete_evidence", "not_judged", "the judge said nothing of it")
    if timed:
        member.checked[asked.timed_pass] = member.checked.get(asked.timed_pass, 0) + 1
    outputs = result.get("outputs") or {}
    _keep(member, asked.timed_pass, asked.draw, outputs)
    if asked.timed_pass == "full" and not timed:
        gradients = {name: one for name, one in outputs.items() if name.startswith("grad_")}
        rest = {name: one for name, one in outputs.items() if name not in gradients}
        for timed_pass, part in (("forward", rest), ("backward", gradients)):
            if timed_pass in member.passes:
                _keep(member, timed_pass, asked.draw, part)
    if result.get("status") == "passed":
        return None
    reason, text = str(result.get("reason") or ""), str(result.get("text") or "")
    text = f"{text} (on the {asked.draw} draw)" if text else text
    refused = Refused(str(result.get("status")), reason, text)
    if timed and refused.status != "invalid_reference":
        return Refused("suspected_reward_hack", "wrong_when_timed", f"{reason}: {text}")
    return refused


def used_once(bench: Bench, member: Member) -> Refused | None:
    """The refusal of a backward that is right only once a graph, which no cheat is."""
    fields = {"pass": "backward", "name": "once"}
    answer = member.process.ask("audit", bench.long_timeout_s, **fields)
    findings = read_findings(answer.fields, "findings") if isinstance(answer, Reply) else []
    return first_refusal(findings)


def _keep(member: Member, timed_pass: str, draw: str, outputs: Mapping[str, Any]) -> None:
    """Errors of a pass on a draw, unless the pass itself was judged on it before."""
    kept = member.found.setdefault("correctness", {}).setdefault(timed_pass, {})
    kept.setdefault("draws", {}).setdefault(draw, outputs)


def remove_files(paths: Any) -> None:
    """Outputs are large; they go once they are judged."""
    for path in paths:
        Path(path).unlink(missing_ok=True)
