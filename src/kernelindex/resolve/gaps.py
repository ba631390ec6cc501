"""What an answer does not know, what would tell, and which question to ask next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.policy.facts import Profile
from kernelindex.registry.operations import load_operations
from kernelindex.resolve.answer import Suggestion
from kernelindex.resolve.blocks import PASS_ORDER
from kernelindex.resolve.findings import device_filters
from kernelindex.resolve.matching import is_device
from kernelindex.resolve.query import to_query
from kernelindex.resolve.request import Policy
from kernelindex.resolve.rerun_words import reruns_on_device
from kernelindex.resolve.wording import is_verified, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernelindex.catalog.rows import CohortRow
    from kernelindex.resolve.answer import Excluded
    from kernelindex.resolve.findings import Findings
    from kernelindex.resolve.interpret import Meaning
    from kernelindex.resolve.reads import Reads
    from kernelindex.resolve.settled import Settled

MAX_SUGGESTIONS = 8
RELATIVES_LIMIT = 200
UNSTATED = "unstated"


def list_missing(meaning: Meaning, findings: Findings) -> tuple[str, ...]:
    """What is not known, each with what would tell."""
    return tuple(_missing(meaning, findings))


def _missing(meaning: Meaning, findings: Findings) -> Iterator[str]:
    if not findings.fits:
        yield "This exact workload has not been measured here; a run of it would answer."
        return
    yield from _not_rerun(findings)
    alone = sum(row.only_result for row in findings.fits)
    if alone:
        groups = "1 group has" if alone == 1 else f"{alone} groups have"
        yield f"{groups} one result only; a second implementation would make a ranking."
    if meaning.request.timed_pass is None:
        measured = {row.timed_pass for row in findings.fits}
        absent = [name for name in PASS_ORDER[:4] if name not in measured]
        if UNSTATED in measured:
            yield "Some sources do not say which pass they timed."
        elif absent:
            yield f"Not measured as a pass of its own: {listed(absent)}."


def _not_rerun(findings: Findings) -> Iterator[str]:
    """Cards without a controlled run, and cards whose controlled runs are not verified."""
    controlled = [row for row in findings.fits if row.profile == Profile.CONTROLLED]
    for row in findings.fits:
        controlled += reruns_on_device(row, findings.controlled)
    verified = {_label(row) for row in (*findings.fits, *controlled) if is_verified(row)}
    rerun = set(map(_label, controlled))
    labels = list(dict.fromkeys(_label(row) for row in findings.fits))
    bare = [one for one in labels if one not in verified | rerun]
    if bare:
        yield f"No controlled rerun on {listed(bare, 'or')}; one would confirm or contradict it."
    unverified = [one for one in labels if one in rerun - verified]
    if unverified:
        yield (
            f"The controlled runs on {listed(unverified)} are not verified; a run's page says"
            " what it lacks."
        )


def _label(row: CohortRow) -> str:
    return str(row.device.get("label"))


def suggest(
    catalog: Reads,
    meaning: Meaning,
    findings: Findings,
    settled: Settled,
    left_out: Sequence[Excluded] = (),
) -> tuple[Suggestion, ...]:
    """Narrower or corrected questions, each one click or one paste away.

    ``left_out`` are the entries that the question's conditions leave out.
    """
    found = list(meaning.suggestions)
    if left_out:
        query = to_query(meaning.request, policy=Policy(), framework=None)
        count = len({one.run for one in left_out})
        said = f"without conditions, with the {count} runs that do not meet them"
        found.append(Suggestion(text=said, query=query))
    if not findings.fits and not _is_near_on_device(meaning, findings):
        found += _relatives(catalog, meaning)
    open_rows = findings.fits[: 3 * MAX_SUGGESTIONS] if settled.open_fields else ()
    for row in open_rows:
        query = to_query(meaning.request, **_narrowing(row, settled.open_fields))
        found.append(Suggestion(text=_about(row, settled.open_fields), query=query))
    unique = {item.query: item for item in reversed(found)}
    return tuple(reversed(unique.values()))[:MAX_SUGGESTIONS]


def _is_near_on_device(meaning: Meaning, findings: Findings) -> bool:
    """Whether the operation itself was measured on the asked device."""
    device = meaning.device
    return device is not None and any(is_device(row, device) for _, row in findings.near)


def _relatives(catalog: Reads, meaning: Meaning) -> Iterator[Suggestion]:
    """Operations of the same family that were measured on the asked device."""
    if meaning.device is None or not meaning.operation.slugs:
        return
    families = {
        known.family
        for slug in meaning.operation.slugs
        if (known := load_operations().get(slug)) is not None
    }
    if not families:  # reading 200 groups took half of such an answer's time
        return
    counts: dict[str, int] = {}
    titles: dict[str, str] = {}
    for row in catalog.cohorts(**device_filters(meaning.device), limit=RELATIVES_LIMIT):
        if row.family in families and row.operation not in meaning.operation.slugs:
            counts[row.operation] = counts.get(row.operation, 0) + 1
            titles[row.operation] = row.operation_title or row.operation
    for slug, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        groups = "1 group" if count == 1 else f"{count} groups"
        text = f"{titles[slug]} was measured on {meaning.device.asked}: {groups}"
        yield Suggestion(text=text, query=f"{slug} gpu:{meaning.device.asked}")


def _narrowing(row: CohortRow, open_fields: tuple[str, ...]) -> dict[str, object]:
    """The fields of a request that would leave this cohort's alternative alone."""
    fields: dict[str, object] = {}
    if "operations" in open_fields:
        fields["operation"] = row.operation
    if "axes" in open_fields:
        fields["axes"] = row.axes
    if "products" in open_fields:
        fields["hardware"] = row.device.get("product_id") or row.device.get("label")
    return fields


def _about(row: CohortRow, open_fields: tuple[str, ...]) -> str:
    parts = []
    if "operations" in open_fields:
        parts.append(row.operation_title or row.operation)
    if "axes" in open_fields:
        parts.append(" ".join(f"{name}={value}" for name, value in row.axes.items()))
    if "products" in open_fields:
        parts.append(str(row.device.get("label")))
    entries = "1 entry" if row.entry_count == 1 else f"{row.entry_count} entries"
    return ", ".join([*filter(None, parts), entries])
