"""What controlled runs say of reported numbers, here and on other cards.

A rerun on the same product judges the reported number (policy.reruns). One on another
product is related evidence: it says in words why the two differ, and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from kernelindex.policy.cohorts import shape_key
from kernelindex.policy.facts import Doubt, Profile, TimedPass
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.reruns import RerunKind, rerun_verdict
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.resolve.answer import Rerun
from kernelindex.resolve.blocks import pass_rank
from kernelindex.resolve.numbers import ratio_text, scale_for, signed_time, spaced_percent
from kernelindex.resolve.variants import age_of, harness_of, meaning_of, setting_of
from kernelindex.resolve.wording import half_width, line_name, short_revision

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from kernelindex.catalog.dossier_reads import RunParts
    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow
    from kernelindex.policy.facts import RunFacts
    from kernelindex.resolve.reads import Reads

MOST = 12
PEAK = "bf16"
SINGLE_SAMPLE = "SINGLE_SAMPLE"
RELATED = "related"
WEIGHTS = {"leaf": "leaf weights", "non_leaf": "non-leaf weights"}


@dataclass(frozen=True, slots=True)
class Side:
    """One number: the group it stands in and its entry."""

    cohort: CohortRow
    entry: EntryRow

    @property
    def product_id(self) -> str | None:
        """The product it was measured on, where it is known."""
        return self.cohort.device.get("product_id")

    @property
    def label(self) -> str:
        """The device in words."""
        return str(self.cohort.device.get("label") or "an unnamed device")


def find_reruns(
    catalog: Reads,
    rows: Sequence[CohortRow],
    shown: Sequence[CohortRow],
    meets: Callable[[EntryRow], bool] = lambda _: True,
) -> tuple[Rerun, ...]:
    """Reported numbers with their reruns, where one of the two is among the shown groups.

    Both of a pair must be what ``meets`` wants.

    ``rows`` are the groups of the question's shape in every pass and on every device. Of
    reruns that differ in the harness's variant only the newest is told. Where not all pairs
    have room, every number has its likest rerun before any has a second. Asks the catalog
    for nothing where no controlled group stands beside a reported one.
    """
    keys = {row.key for row in shown}
    pairs = _beside(rows, keys)
    if not pairs:
        return ()
    wanted = [row.key for reported, again in pairs for row in (reported, *again)]
    entries = catalog.entries(list(dict.fromkeys(wanted)))
    numbered = (
        (turn, pair)
        for told in _sides(pairs, entries)
        for turn, pair in enumerate(told)
        if keys & {side.cohort.key for side in pair} and all(meets(side.entry) for side in pair)
    )
    sides = [pair for _, pair in sorted(numbered, key=itemgetter(0))][:MOST]
    facts = catalog.facts(side.entry.run_digest for pair in sides for side in pair)
    return tuple(
        _view(reported, controlled, facts)
        for reported, controlled in sides
        if {reported.entry.run_digest, controlled.entry.run_digest} <= facts.keys()
    )


def reruns_of(catalog: Reads, run: RunRow, parts: RunParts) -> tuple[Rerun, ...]:
    """The reruns of a reported run, or the reported runs that a controlled one repeats."""
    cohort, others = parts.cohort, parts.others
    if cohort is None or not others:
        return ()
    found = find_reruns(catalog, [cohort, *others], [cohort])
    return tuple(one for one in found if one.line == run.line["id"])


def judge_rerun(reported: Side, controlled: Side, facts: Mapping[str, RunFacts]) -> tuple[str, str]:
    """The kind of one pair, and what is judged in words."""
    was, now = facts[reported.entry.run_digest], facts[controlled.entry.run_digest]
    verdict = rerun_verdict(
        was,
        now,
        tolerance=Tolerance(**reported.cohort.tolerance),
        reported_doubts=_doubts(reported.entry),
        controlled_doubts=_doubts(controlled.entry),
    )
    if verdict.kind is RerunKind.NOT_COMPARABLE and _only_the_card(reported, controlled, was, now):
        return RELATED, "another card, so it neither confirms nor contradicts the number"
    return str(verdict.kind), spaced_percent(verdict.text)


def is_beside(reported: CohortRow, controlled: CohortRow) -> bool:
    """Whether the two are of one workload, pass and metric."""
    same_pass = reported.timed_pass in (controlled.timed_pass, TimedPass.UNSTATED)
    same_metric = (reported.metric, reported.unit) == (controlled.metric, controlled.unit)
    return reported.shape_key == controlled.shape_key and same_pass and same_metric


def likest_first(reported: CohortRow, rows: Iterable[CohortRow]) -> list[CohortRow]:
    """Reruns as they are told: on the same card, likest to the source's protocol, then newest."""
    card = reported.device.get("product_id")

    def place(row: CohortRow) -> tuple[object, ...]:
        other_card = row.device.get("product_id") != card
        return (other_card, unlikeness(reported, row), *meaning_of(row))

    return sorted(_newest_first(rows), key=place)


def _newest_first(rows: Iterable[CohortRow]) -> list[CohortRow]:
    by_key = sorted(rows, key=lambda row: row.key)
    return sorted(by_key, key=lambda row: row.newest_observed or "", reverse=True)


def _beside(rows: Sequence[CohortRow], keys: set[str]) -> list[tuple[CohortRow, list[CohortRow]]]:
    """Each reported group with its reruns, where one of them all is among ``keys``."""
    controlled = [row for row in rows if row.profile == Profile.CONTROLLED]
    reported = [row for row in _newest_first(rows) if row.profile != Profile.CONTROLLED]
    reported.sort(key=lambda row: (pass_rank(row.timed_pass), str(row.device.get("label"))))
    pairs = [
        (row, likest_first(row, (one for one in controlled if is_beside(row, one))))
        for row in reported
    ]
    return [
        (row, again)
        for row, again in pairs
        if again and keys & {row.key, *(one.key for one in again)}
    ]


def _sides(
    pairs: Sequence[tuple[CohortRow, Sequence[CohortRow]]],
    entries: Mapping[str, Sequence[EntryRow]],
) -> Iterator[list[tuple[Side, Side]]]:
    """For each reported entry its pairs with reruns of the same line, the likest first."""
    for reported, again in pairs:
        reruns = [
            (one, {entry.line["id"]: entry for entry in reversed(entries.get(one.key, ()))})
            for one in again
        ]
        for entry in entries.get(reported.key, ()):
            line = entry.line["id"]
            found = [Side(one, ours[line]) for one, ours in reruns if line in ours]
            yield [(Side(reported, entry), side) for side in _of_newest_variant(found)]


def _of_newest_variant(sides: Sequence[Side]) -> list[Side]:
    """Without those that another repeats under a newer variant of the harness."""
    ages: dict[Hashable, int] = {}
    for side in sides:
        setting, age = setting_of(side.cohort), age_of(side.cohort)
        ages[setting] = min(age, ages.get(setting, age))
    return [side for side in sides if age_of(side.cohort) == ages[setting_of(side.cohort)]]


def unlikeness(reported: CohortRow, controlled: CohortRow) -> int:
    """How many rules of the source's protocol a rerun did not follow."""
    stated, rules = reported.protocol.get("rules") or {}, controlled.protocol.get("rules") or {}
    return sum(rules.get(name) != value for name, value in stated.items())


def _only_the_card(reported: Side, controlled: Side, was: RunFacts, now: RunFacts) -> bool:
    known = None not in (reported.product_id, controlled.product_id)
    return (
        known
        and reported.product_id != controlled.product_id
        and was.line.id == now.line.id
        and shape_key(was.shape) == shape_key(now.shape)
    )


def _doubts(entry: EntryRow) -> tuple[Doubt, ...]:
    return tuple(
        Doubt(code=one["code"], effect=one["class"], text=one["text"], shift_ns=one["shift_ns"])
        for one in entry.doubts
    )


def _view(reported: Side, controlled: Side, facts: Mapping[str, RunFacts]) -> Rerun:
    kind, judged = judge_rerun(reported, controlled, facts)
    reasons = tuple(_reasons(reported, controlled))
    return Rerun(
        kind=kind,
        timed_pass=controlled.cohort.timed_pass,
        line=str(reported.entry.line["id"]),
        reported=reported.entry.run_digest,
        reported_value=reported.entry.value,
        reported_on=reported.label,
        controlled=controlled.entry.run_digest,
        controlled_value=controlled.entry.value,
        controlled_on=controlled.label,
        unit=controlled.entry.unit,
        ratio=reported.entry.value / controlled.entry.value if controlled.entry.value else None,
        reasons=reasons,
        text=_text(reported, controlled, kind, judged, reasons),
    )


def _text(reported: Side, controlled: Side, kind: str, judged: str, reasons: Sequence[str]) -> str:
    """Both numbers, what is judged, and why they differ."""
    scale = scale_for([reported.entry.value, controlled.entry.value], reported.entry.unit)
    half = half_width(controlled.entry)
    now = scale.with_unit(controlled.entry.value, half)
    interval = ""
    if controlled.entry.interval and half is not None:
        low, high = (controlled.entry.interval[name] for name in ("low", "high"))
        interval = f" (95 % interval {scale.show(low, half)} to {scale.show(high, half)})"
    name = line_name(reported.entry)
    head = (
        f"{name}, {controlled.cohort.timed_pass}: {scale.with_unit(reported.entry.value)} was"
        f" published on {reported.label}, {now}{interval} is measured on {controlled.label}"
        f"{_how(controlled)}: {judged}."
    )
    why = f" What differs: {'; '.join(reasons)}." if reasons and kind != "confirmed" else ""
    return head + why


def _how(side: Side) -> str:
    """How it was rerun: the source's protocol followed or our own, its variant, the weights."""
    harness = harness_of(side.cohort)
    rules = side.cohort.protocol.get("rules") or {}
    way = f"as {harness.followed}" if harness.followed else f"{rules.get('load', '')} load".strip()
    variant = f" ({harness.variant})" if harness.variant else ""
    parts = (way + variant, WEIGHTS.get(rules.get("gradients", "")))
    return " " + " with ".join(filter(None, parts))


def _reasons(reported: Side, controlled: Side) -> Iterator[str]:
    """Why the two numbers may differ, the card first."""
    if reported.product_id != controlled.product_id:
        yield f"the card: {controlled.label}{_peaks(reported, controlled)} {reported.label}"
    mine = (reported.cohort.protocol.get("rules") or {}).get("gradients")
    ours = (controlled.cohort.protocol.get("rules") or {}).get("gradients")
    if mine and ours and mine != ours:
        yield f"{WEIGHTS[mine]} were published, {WEIGHTS[ours]} are rerun"
    for doubt in reported.entry.doubts:
        if doubt["class"] == "shifts":
            size = doubt.get("shift_ns")
            about = f"{signed_time(size, reported.entry.value)} of " if size else ""
            yield f"{about}the published time is not the kernel's own: {doubt['text']}"
    codes = {doubt["code"] for doubt in reported.entry.doubts}
    if reported.entry.sample_count == 1 or SINGLE_SAMPLE in codes:
        count = controlled.entry.sample_count
        yield f"one sample was published, {count or 'many'} samples are rerun"
    if reported.entry.revision != controlled.entry.revision:
        was, now = short_revision(reported.entry.revision), controlled.entry.revision
        yield f"revision {was} was published, {short_revision(now)} is rerun"


def _peaks(reported: Side, controlled: Side) -> str:
    """Nominal bandwidth and peak of the one card over the other's, where both are known."""
    was = PRODUCTS.get(reported.product_id or "")
    now = PRODUCTS.get(controlled.product_id or "")
    if was is None or now is None or not was.bandwidth_bytes_s or not now.bandwidth_bytes_s:
        return " in place of"
    words = f", of {_times(now.bandwidth_bytes_s / was.bandwidth_bytes_s)} nominal bandwidth"
    peak = was.peaks_flops.get(PEAK)
    if peak and PEAK in now.peaks_flops:
        words += f" and {_times(now.peaks_flops[PEAK] / peak)} {PEAK} peak"
    return f"{words} of the"


def _times(ratio: float) -> str:
    return "the" if ratio == 1.0 else f"{ratio_text(ratio)} the"
