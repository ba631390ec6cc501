"""Two to eight runs side by side: what differs, and what may be said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from kernelindex.errors import RequestError
from kernelindex.ids import short
from kernelindex.policy.facts import Direction, Profile
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.verdicts import REASONS, compare_reported
from kernelindex.resolve.dossier import ComparedField, Comparison, PairVerdict
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.numbers import ratio_text, scale_for
from kernelindex.resolve.run_lines import view_run_line
from kernelindex.resolve.verdicts import judge_pair
from kernelindex.resolve.withdrawn import shown_reasons, shown_status
from kernelindex.resolve.wording import half_width, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow
    from kernelindex.policy.verdicts import Verdict
    from kernelindex.resolve.reads import Reads

LEAST, MOST = 2, 8
VerdictName = Literal["FASTER", "SLOWER", "SAME", "UNCLEAR", "INCOMPARABLE"]


def compare_runs(catalog: Reads, idents: Sequence[str]) -> Comparison:
    """Compare runs named by alias or digest prefix, each against the first.

    Raises RequestError ``compare.count`` for fewer than two, more than eight, or one twice,
    NotFoundError and AmbiguousError as ``show_run`` does.
    """
    if not LEAST <= len(idents) <= MOST:
        raise RequestError(
            f"{len(idents)} runs given; compare takes {LEAST} to {MOST}", code="compare.count"
        )
    runs = [_run(catalog, ident) for ident in idents]
    _refuse_twice([run.digest for run in runs])
    fields = tuple(_fields(runs))
    mismatch = next((field for field in fields if field.material and not field.same), None)
    verdicts = tuple(_judge(catalog, runs[0], run) for run in runs[1:])
    return Comparison(
        runs=tuple(map(view_run_line, runs)),
        comparable=len({run.cohort_key for run in runs}) == 1 and runs[0].cohort_key is not None,
        first_difference=_mismatch_text(mismatch) if mismatch else None,
        fields=fields,
        verdicts=verdicts,
        summary=" ".join(dict.fromkeys(verdict.text for verdict in verdicts)),
    )


def _refuse_twice(digests: Sequence[str]) -> None:
    """A run is the same as itself, whatever its source's repeats do."""
    twice = next((one for one in digests if digests.count(one) > 1), None)
    if twice is not None:
        raise RequestError(
            f"run {short(twice)} is given twice; compare takes {LEAST} to {MOST} different runs",
            code="compare.count",
        )


def _judge(catalog: Reads, first: RunRow, run: RunRow) -> PairVerdict:
    """One run against the first, whatever the others are."""
    pair = (first, run)
    mismatch = next((one for one in _fields(pair) if one.material and not one.same), None)
    cohort, entries = _cohort(catalog, pair)
    return _verdict(first, run, cohort, entries, mismatch, _sampled(catalog, first, run))


def _run(catalog: Reads, ident: str) -> RunRow:
    run = catalog.run(locate(catalog, "run", ident).digest)
    if run is None:
        raise RequestError(f"run {ident} has no derived row; `ki catalog rebuild` makes it")
    return run


def _cohort(catalog: Reads, runs: Sequence[RunRow]) -> tuple[CohortRow | None, Sequence[EntryRow]]:
    """The one cohort of both runs, with its leader and their entries; none where of several."""
    keys = {run.cohort_key for run in runs}
    if len(keys) != 1 or None in keys:
        return None, ()
    key = cast("str", keys.pop())
    own = [run.entry_key for run in runs if run.entry_key is not None]
    return catalog.cohort(key), catalog.entries((key,), first=1, also=own).get(key, ())


RULES, RULE = "protocol rules", "protocol rule: "
_MATERIAL: tuple[tuple[str, Callable[[RunRow], object]], ...] = (
    ("operation", lambda run: run.operation),
    ("axes", lambda run: _pairs(run.axes)),
    ("dtypes", lambda run: _pairs(run.dtypes)),
    ("distribution", lambda run: run.distribution),
    ("pass", lambda run: run.timed_pass),
    ("protocol", lambda run: _words(run.protocol.get("name"), run.protocol.get("version"))),
    (RULES, lambda run: _pairs(_rules(run))),
    ("metric", lambda run: _words(run.statistic, run.metric, run.unit)),
    ("device", lambda run: run.device.get("label")),
    ("device class", lambda run: _pairs(run.device)),
    ("cohort", lambda run: run.cohort_key),
)
_BESIDE: tuple[tuple[str, Callable[[RunRow], object]], ...] = (
    ("source", lambda run: run.source),
    ("what ran", lambda run: run.line.get("title")),
    ("project", lambda run: run.line.get("project")),
    ("revision", lambda run: run.revision),
    ("language", lambda run: run.implementation.get("language")),
    ("stack", lambda run: _pairs(run.stack)),
    ("status", shown_status),
    ("value", lambda run: f"{run.value:,} {run.unit}" if run.value is not None else None),
    ("samples", lambda run: run.sample_count),
    ("evidence", lambda run: run.evidence),
    ("observed", lambda run: run.observed.get("text")),
    (
        "doubts",
        lambda run: ", ".join(doubt["code"].replace("_", " ").lower() for doubt in run.doubts),
    ),
)


def _fields(runs: Sequence[RunRow]) -> list[ComparedField]:
    found = []
    for material, table in ((True, _MATERIAL), (False, _BESIDE)):
        for name, read in table:
            one = _field(name, read, runs, material=material)
            found += _rule_fields(runs) if name == RULES and not one.same else [one]
    return found


def _rule_fields(runs: Sequence[RunRow]) -> list[ComparedField]:
    """Each rule in which protocols differ, then what they share of their rules."""
    every = [_rules(run) for run in runs]
    apart = sorted(
        {name for rules in every for name in rules if len({one.get(name) for one in every}) > 1}
    )
    found = [_field(f"{RULE}{name}", _rule(name), runs, material=True) for name in apart]
    shared = _pairs({name: rule for name, rule in every[0].items() if name not in apart})
    other = _field(f"other {RULES}", lambda _: shared, runs, material=True)
    return [*found, other] if shared else found


def _rule(name: str) -> Callable[[RunRow], object]:
    return lambda run: _rules(run).get(name)


def _rules(run: RunRow) -> dict[str, Any]:
    return run.protocol.get("rules") or {}


def _field(
    name: str, read: Callable[[RunRow], object], runs: Sequence[RunRow], *, material: bool
) -> ComparedField:
    values = [read(run) for run in runs]
    shown = tuple(None if value in (None, "") else str(value) for value in values)
    return ComparedField(name=name, values=shown, same=len(set(shown)) == 1, material=material)


def _verdict(
    first: RunRow,
    run: RunRow,
    cohort: CohortRow | None,
    entries: Sequence[EntryRow],
    mismatch: ComparedField | None,
    sampled: Verdict | None,
) -> PairVerdict:
    if cohort is None or first.reasons or run.reasons or not first.value or not run.value:
        text = f"No verdict: {_why_none(first, run, mismatch)}."
        return _pair(first, run, "INCOMPARABLE", (), text)
    stored = None if sampled is not None else _stored(first, run, entries)
    if stored is not None:
        kind, reasons = stored
    else:
        judged = sampled or _by_value(first.value, run.value, cohort)
        kind, reasons = cast("VerdictName", str(judged.kind)), judged.reasons
    text = _verdict_text(first, run, kind, reasons)
    return _pair(first, run, kind, reasons, text, sampled)


def _by_value(first: float, value: float, cohort: CohortRow) -> Verdict:
    direction = Direction(cohort.direction or Direction.LOWER)
    return compare_reported(value, first, Tolerance(**cohort.tolerance), direction)


def _sampled(catalog: Reads, first: RunRow, run: RunRow) -> Verdict | None:
    """The verdict by samples, where both runs are controlled and rank."""
    controlled = {first.profile, run.profile} == {Profile.CONTROLLED}
    if not controlled or first.reasons or run.reasons or first.cohort_key != run.cohort_key:
        return None
    facts = catalog.facts((first.digest, run.digest))
    if len(facts) < LEAST:
        return None
    return judge_pair(facts[run.digest], facts[first.digest])


def _stored(
    first: RunRow, run: RunRow, entries: Sequence[EntryRow]
) -> tuple[VerdictName, tuple[str, ...]] | None:
    """The stored verdict of an entry against the leader, where the first run is the leader."""
    if not entries or entries[0].run_digest != first.digest:
        return None
    entry = next((one for one in entries if one.run_digest == run.digest), None)
    if entry is None or entry.verdict_to_leader is None:
        return None
    verdict = entry.verdict_to_leader
    return verdict["kind"], tuple(verdict.get("reasons", ()))


def _pair(
    first: RunRow,
    run: RunRow,
    kind: VerdictName,
    reasons: tuple[str, ...],
    text: str,
    sampled: Verdict | None = None,
) -> PairVerdict:
    same_unit = first.unit == run.unit and first.value and run.value
    return PairVerdict(
        run=run.digest,
        against=first.digest,
        verdict=kind,
        ratio=run.value / first.value if same_unit and run.value and first.value else None,
        low=sampled.low if sampled else None,
        high=sampled.high if sampled else None,
        margin=sampled.margin if sampled else None,
        reasons=reasons,
        text=text,
    )


def _verdict_text(first: RunRow, run: RunRow, kind: VerdictName, reasons: tuple[str, ...]) -> str:
    """Such as "MoE expert loop is slower than Liger: 64.0 ms against 5.75 ms, 11.1x"."""
    first_value, value = first.value or 0.0, run.value or 0.0
    scale = scale_for([first_value, value], run.unit or "ns")
    ratio = max(first_value, value) / min(first_value, value)
    words = {"FASTER": "faster than", "SLOWER": "slower than", "SAME": "the same as"}.get(kind)
    names = run.line["title"], first.line["title"]
    claim = f"{names[0]} is {words} {names[1]}" if words else f"{names[0]} and {names[1]}: unclear"
    numbers = (
        f"{scale.with_unit(value, half_width(run))} against"
        f" {scale.with_unit(first_value, half_width(first))}"
    )
    because = listed([REASONS.get(code, code) for code in reasons])
    return f"{claim}: {numbers}, {ratio_text(ratio)} ({because})."


def _why_none(first: RunRow, run: RunRow, mismatch: ComparedField | None) -> str:
    for one in (first, run):
        if one.reasons:
            return f"{one.line['title']} does not rank: {shown_reasons(one.reasons)[0].text}"
    if mismatch:
        return _mismatch_text(mismatch)
    return "one of them has no number"


def _mismatch_text(field: ComparedField) -> str:
    seen = list(dict.fromkeys(value or "not stated" for value in field.values))
    rule = field.name.removeprefix(RULE) if field.name.startswith(RULE) else ""
    name = f"protocol rule {rule}" if rule else field.name
    plural = not rule and name.endswith("s") and not name.endswith("ss")
    differ = "differ" if plural else "differs"
    return f"{name} {differ} ({' / '.join(seen)})"


def _pairs(mapping: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(mapping.items()))


def _words(*parts: object) -> str:
    return " ".join(str(part) for part in parts if part)
