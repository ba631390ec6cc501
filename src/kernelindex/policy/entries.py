"""Entries: one implementation line at one revision on one software stack."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kernelindex.policy.facts import Direction, Line, RunFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NONE_VERIFIED: frozenset[str] = frozenset()


class Soundness(IntEnum):
    """What stands behind the number of a run; of an entry's runs only the soundest count."""

    REPORTED = 0
    MEASURED = 1
    CALIBRATED = 2
    VERIFIED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The runs that count as one candidate; ``representative`` stands for all of them.

    ``runs`` are ordered by value, then digest, and all have a primary measurement;
    ``verified`` has the digests of runs that are verified, of this entry or others.
    """

    key: str
    line: Line
    revision: str
    stack: tuple[tuple[str, str], ...]
    runs: tuple[RunFacts, ...]
    representative: RunFacts
    verified: frozenset[str] = NONE_VERIFIED

    @property
    def soundness(self) -> Soundness:
        """That of the representative: no run of the entry has more."""
        return soundness_of(self.representative, self.verified)

    @property
    def value(self) -> float:
        """The representative's primary value, in its unit."""
        return value_of(self.representative)

    @property
    def direction(self) -> Direction:
        """Whether a smaller value is better; lower where the registry does not say."""
        primary = self.representative.primary
        return (primary.direction if primary else None) or Direction.LOWER

    @property
    def others(self) -> tuple[RunFacts, ...]:
        """The runs beside the representative."""
        return tuple(run for run in self.runs if run.digest != self.representative.digest)


def value_of(run: RunFacts) -> float:
    """A run's primary value; only for runs that have one.

    Raises ValueError for a run without a primary measurement: exclude those first.
    """
    if run.primary is None:
        raise ValueError(f"run {run.digest} has no primary measurement; exclude it first")
    return run.primary.value


def entry_key(facts: RunFacts) -> str:
    """Line, revision and stack as one text, equal for runs of one candidate."""
    return _key_of(facts.line.id, facts.revision, facts.stack)


@lru_cache(maxsize=8192)
def _key_of(line_id: str, revision: str, stack: tuple[tuple[str, str], ...]) -> str:
    return json.dumps([line_id, revision, stack], ensure_ascii=False, separators=(",", ":"))


def soundness_of(run: RunFacts, verified: frozenset[str]) -> Soundness:
    """What stands behind a run's number, where ``verified`` has the digests of verified runs."""
    if run.digest in verified:
        return Soundness.VERIFIED
    if run.samples is None:
        return Soundness.REPORTED
    return Soundness.CALIBRATED if run.samples.calibrated else Soundness.MEASURED


def representative(runs: Sequence[RunFacts], verified: frozenset[str] = NONE_VERIFIED) -> RunFacts:
    """The lower median by value; among equal values the smallest digest.

    Only the soundest runs count, so that the number is of a run that earned the level beside
    it; of controlled ones only those of each runner's newest batch on the newest day: what
    they are held against was measured beside them.
    """
    sound = _soundest(runs, verified)
    ordered = _by_value(_newest(by_batch(sound)) or sound)
    middle = value_of(ordered[(len(ordered) - 1) // 2])
    return min((run for run in ordered if value_of(run) == middle), key=lambda run: run.digest)


def _soundest(runs: Sequence[RunFacts], verified: frozenset[str]) -> Sequence[RunFacts]:
    if len(runs) == 1:
        return runs
    found = [soundness_of(run, verified) for run in runs]
    most = max(found)
    return [run for run, soundness in zip(runs, found, strict=True) if soundness is most]


class Place(NamedTuple):
    """A batch among others; they sort from the oldest day to the newest."""

    date: str
    number: int
    runner: str
    batch: str


def by_batch(runs: Iterable[RunFacts]) -> dict[Place, list[RunFacts]]:
    """Controlled runs by their batch."""
    batches: dict[Place, list[RunFacts]] = {}
    for run in runs:
        if run.samples is not None:
            one = run.samples
            place = Place(run.observed.date or "", one.number, one.runner, one.batch)
            batches.setdefault(place, []).append(run)
    return batches


def _newest(batches: dict[Place, list[RunFacts]]) -> list[RunFacts]:
    """The runs of each runner's last batch of the newest day."""
    newest = max((place.date for place in batches), default="")
    last: dict[str, Place] = {}
    for place in sorted(place for place in batches if place.date == newest):
        last[place.runner] = place
    return [run for place in last.values() for run in batches[place]]


def paired_runs(a: Entry, b: Entry) -> list[tuple[RunFacts, RunFacts]]:
    """The runs that a verdict on two entries is drawn from, those of the newest batch first.

    One pair for every batch that measured both as soundly as the less sound of the numbers they
    stand with, and a verified entry as soundly as its own; the representatives where none did.
    """
    mine, other = by_batch(a.runs), by_batch(b.runs)
    found = []
    for batch in sorted(mine.keys() & other.keys(), reverse=True):
        x, y = representative(mine[batch], a.verified), representative(other[batch], b.verified)
        if _counts_for(a, x, b) and _counts_for(b, y, a):
            found.append((x, y))
    return found or [(a.representative, b.representative)]


def _counts_for(entry: Entry, run: RunFacts, rival: Entry) -> bool:
    """Whether a verdict on two entries may use this run of the first.

    Nobody takes a place from a verified number with one of it that is not.
    """
    own = entry.soundness
    least = own if own is Soundness.VERIFIED else min(own, rival.soundness)
    return soundness_of(run, entry.verified) >= least


def newest_batch(entry: Entry) -> Place | None:
    """The newest batch among those that stand for the entry; None without samples."""
    return max(by_batch(_soundest(entry.runs, entry.verified)), default=None)


def build_entry(
    key: str, runs: Sequence[RunFacts], verified: frozenset[str] = NONE_VERIFIED
) -> Entry:
    """One entry from its runs (at least one, all of the same key)."""
    chosen = representative(runs, verified)
    return Entry(
        key=key,
        line=chosen.line,
        revision=chosen.revision,
        stack=chosen.stack,
        runs=_by_value(runs),
        representative=chosen,
        verified=verified,
    )


def build_entries(
    runs: Iterable[RunFacts], verified: frozenset[str] = NONE_VERIFIED
) -> list[Entry]:
    """Group eligible runs of one cohort into entries, ordered by key."""
    groups: dict[str, dict[str, RunFacts]] = {}
    for run in runs:
        groups.setdefault(entry_key(run), {})[run.digest] = run
    return [build_entry(key, list(groups[key].values()), verified) for key in sorted(groups)]


def latest_stacks(entries: Sequence[Entry]) -> frozenset[str]:
    """The keys of the entries that are the latest stack of their line and revision.

    Latest is the newest calendar date of observation, then the highest versions by
    component, then the key; a stack that states nothing yields to one that does.
    """
    newest: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        place = (entry.line.id, entry.revision)
        held = newest.get(place)
        if held is None or _stack_age(entry) > _stack_age(held):
            newest[place] = entry
    return frozenset(entry.key for entry in newest.values())


def _by_value(runs: Iterable[RunFacts]) -> tuple[RunFacts, ...]:
    return tuple(sorted(runs, key=lambda run: (value_of(run), run.digest)))


def _stack_age(entry: Entry) -> tuple[bool, str, tuple[tuple[str, tuple[int, ...]], ...], str]:
    date = max(run.observed.date or "" for run in entry.runs)
    versions = tuple((name, _version(text)) for name, text in entry.stack)
    return bool(entry.stack), date, versions, entry.key


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))
