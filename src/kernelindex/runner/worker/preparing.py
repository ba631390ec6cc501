"""Everything before the rounds: start, load, warm up; traits, traces and audits once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.regimes import regimes_of
from kernelindex.runner.worker.audit import check_slope
from kernelindex.runner.worker.bench import side_by_side
from kernelindex.runner.worker.members import Member
from kernelindex.runner.worker.replies import (
    first_refusal,
    malformed,
    read_details,
    read_findings,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.plan import Candidate, Point
    from kernelindex.runner.worker.bench import Bench
    from kernelindex.stats import Random

_LEFT_OUT = "unsupported"


def start_members(
    bench: Bench, point: Point, candidates: Sequence[tuple[Candidate, tuple[str, ...]]]
) -> list[Member]:
    """Start a process for each candidate with the passes still asked of it."""
    allowed = point.limits.memory_bytes
    return [
        Member(one, bench.start_probe(f"{point.id}-{one.id}", memory_bytes=allowed), passes)
        for one, passes in candidates
    ]


def load_members(bench: Bench, point: Point, members: Sequence[Member], random: Random) -> None:
    """Greet and load all of them side by side, each with a pad of its own size first."""
    pads = [random.below(bench.rules.pad_bytes + 1) for _ in members]

    def load(pair: tuple[Member, int]) -> None:
        member, pad = pair
        fields = bench.hello() | {"pad_bytes": pad}
        greeted = member.ask(None, "hello", bench.long_timeout_s, **fields)
        if greeted is None:
            return
        bench.facts.setdefault("probe", read_details(greeted.fields.get("facts")))
        loaded = member.ask(
            None,
            "load",
            bench.long_timeout_s,
            point=to_json(point),
            candidate=to_json(member.candidate),
            plan_dir=str(bench.plan_folder),
        )
        if loaded is not None:
            note_loaded(member, loaded)

    side_by_side(list(zip(members, pads, strict=True)), load)


def note_loaded(member: Member, loaded: Reply) -> None:
    """Keep what loading told; what the guards found on import counts for every pass."""
    findings = read_findings(loaded.fields, "guards")
    kept = {name: value for name, value in loaded.fields.items() if name != "guards"}
    member.found["loaded"] = read_details(kept)
    refused = first_refusal(findings)
    if refused is not None:
        member.fail(None, refused)


def capture_members(bench: Bench, members: Sequence[Member]) -> None:
    """Whether a graph can be captured of each pass; last, because failing spoils a process."""
    for member in members:
        for timed_pass in member.open_passes():
            answer = member.process.ask("capture", bench.long_timeout_s, **{"pass": timed_pass})
            if isinstance(answer, Reply):
                member.note("capture", timed_pass, read_details(dict(answer.fields)))


def compile_members(bench: Bench, members: Sequence[Member]) -> None:
    """Every pass and regime once, side by side: what compiles, compiles now."""

    def warm(member: Member) -> None:
        for timed_pass in member.passes:
            for regime in regimes_of(timed_pass, bench.rules):
                if timed_pass not in member.open_passes():
                    break
                member.ask(
                    timed_pass,
                    "warm",
                    bench.long_timeout_s,
                    seconds=0.0,
                    calls=1,
                    **regime.fields(),
                )

    side_by_side(members, warm)


def warm_member(bench: Bench, member: Member, timed_pass: str) -> None:
    """Warm up alone until steady; how long a call takes decides how many are timed."""
    regime = next(regimes_of(timed_pass, bench.rules))
    rules = bench.rules
    reply = member.ask(
        timed_pass,
        "warm",
        bench.timeout_s,
        seconds=rules.warmup_seconds,
        calls=rules.warmup_calls,
        **regime.fields(),
    )
    if reply is None:
        return
    member.note("warm", timed_pass, read_details(dict(reply.fields)))
    middle = read_number(reply.fields.get("median_ns"), 0.0)
    if middle <= 0:
        member.fail(timed_pass, malformed("warm: wanted a median_ns above 0"))
        return
    member.median_ns[timed_pass] = middle
    calls = max(1.0, read_number(reply.fields.get("calls"), 1.0))
    member.wall_ns[timed_pass] = reply.wall_ns / calls


def examine_member(bench: Bench, member: Member, timed_pass: str, *, audit: bool) -> None:
    """Traits, trace and (where ``audit``) audits, untimed; one not supported is left out."""
    for topic in ("traits", "trace"):
        reply = _ask_if_supported(bench, member, timed_pass, topic)
        if reply is not None:
            member.note(topic, timed_pass, read_details(reply))
    listed = _ask_if_supported(bench, member, timed_pass, "audits") if audit else None
    names = (listed or {}).get("names")
    for name in names[:50] if isinstance(names, list) else []:
        if timed_pass not in member.open_passes():
            return
        _audit(bench, member, timed_pass, str(name))


def audited_passes(bench: Bench, member: Member) -> tuple[str, ...]:
    """The passes of a member that are audited, drawn with the batch's seed.

    A file of somebody's own is audited in every pass, whatever the rules say.
    """
    wanted = None if member.candidate.file else bench.rules.audited_passes
    return tuple(bench.random("audits", member.id).shuffled(member.passes)[:wanted])


def _audit(bench: Bench, member: Member, timed_pass: str, name: str) -> None:
    fields = _ask_if_supported(bench, member, timed_pass, "audit", name=name)
    if fields is None:
        return
    findings = read_findings(fields, "findings")
    member.found.setdefault("audits", {}).setdefault(timed_pass, {})[name] = findings
    for one in findings:
        if not one["status"]:
            member.doubt(timed_pass, one["code"], "note", one["text"])
    refused = first_refusal(findings)
    if refused is not None:
        member.fail(timed_pass, refused)


def _ask_if_supported(
    bench: Bench, member: Member, timed_pass: str, command: str, **fields: str
) -> dict[str, object] | None:
    """The fields of an examination, or None; one that fails is a doubt, unless it ended all.

    How long each took is kept: examinations are a good part of a first generation.
    """
    if timed_pass not in member.open_passes():
        return None
    answer = member.process.ask(command, bench.long_timeout_s, **{"pass": timed_pass}, **fields)
    if not isinstance(answer, Refused):
        spent = member.found.setdefault("seconds", {}).setdefault(timed_pass, {})
        spent[fields.get("name", command)] = round(answer.wall_ns / 1e9, 3)
        return dict(answer.fields)
    if not member.process.alive:
        member.fail(timed_pass, answer)
    elif answer.status != _LEFT_OUT:
        text = f"{command}: {answer.code}: {answer.text}"
        member.doubt(timed_pass, f"{command}_failed", "note", text[:500])
    return None


def examine_all(bench: Bench, members: Sequence[Member], *, fully: bool) -> None:
    """Strictly one process at a time: warm up, examine (where ``fully``), check the slope."""
    for member in members:
        audited = audited_passes(bench, member)
        for timed_pass in member.passes:
            bench.check_time()
            if timed_pass in member.open_passes():
                warm_member(bench, member, timed_pass)
            if fully:
                examine_member(bench, member, timed_pass, audit=timed_pass in audited)
            if timed_pass in member.open_passes():
                check_slope(member, timed_pass, bench.timeout_s, on_host=bench.plan.device == "cpu")
        if fully:
            free_member(bench, member)


def free_member(bench: Bench, member: Member) -> None:
    """Have it give back the memory that its examination took and that nothing holds any more.

    Audits hold copies of everything; others, the judge and the anchor share the device. What
    its calls need it takes again in the warm-up after the first switch.
    """
    if member.process.alive:
        answer = member.process.ask("free", bench.long_timeout_s)
        if isinstance(answer, Refused) and not member.process.alive:
            member.fail(None, answer)
