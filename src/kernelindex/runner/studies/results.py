"""What a study's batch shows: every pair of its candidates judged as any other pair is."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kernelindex.policy.samples import Samples
from kernelindex.policy.verdicts import Verdict, VerdictKind, compare_samples
from kernelindex.runner.recording.batch import Series, read_batch
from kernelindex.stats import median, round_medians

# An unstable candidate is measured as well; a study that left it out would flatter itself.
MEASURED = frozenset(("passed", "unstable"))

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Verdicts of one kind of pair; ``ratios`` are first over second, of the point estimate."""

    verdicts: Mapping[str, int]
    ratios: tuple[float, ...]
    half_widths: tuple[float, ...]

    @property
    def pairs(self) -> int:
        """How many pairs were judged."""
        return sum(self.verdicts.values())

    @property
    def decisive(self) -> int:
        """How many came out faster or slower."""
        return self.verdicts.get("FASTER", 0) + self.verdicts.get("SLOWER", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """One size in one batch.

    ``same`` are pairs of identical code; ``different`` the plain kernel against the one with
    ``percent`` more work, where FASTER is right and SLOWER wrong. ``median_ns`` is the plain
    kernel's.
    """

    point: str
    median_ns: float
    percent: int
    margin: float
    same: Tally
    different: Tally


def read_study(folder: Path) -> tuple[StudyResult, ...]:
    """Judge every pair of a study's batch folder; raises BatchError as ``read_batch``."""
    batch = read_batch(folder)
    points: dict[str, list[Series]] = defaultdict(list)
    for series in batch.series:
        if series.status in MEASURED:
            points[series.point.id].append(series)
    return tuple(
        _judge_point(name, group, batch.calibration, batch.id) for name, group in points.items()
    )


def _judge_point(
    name: str, group: list[Series], calibration: Mapping[str, Any], batch: str
) -> StudyResult:
    samples = {one.candidate.id: _samples(one, calibration, batch) for one in group}
    plain = {key: one for key, one in samples.items() if key.startswith("less")}
    more = {key: one for key, one in samples.items() if key.startswith("more")}
    same = [_compare(a, b) for kind in (plain, more) for a, b in combinations(kind.values(), 2)]
    different = [_compare(a, b) for a in plain.values() for b in more.values()]
    return StudyResult(
        point=name,
        median_ns=median([_value(one) for one in plain.values()]),
        percent=int(name.rsplit("-", 1)[1]),
        margin=median([one.margin or 0.0 for one in same]),
        same=_tally(same),
        different=_tally(different),
    )


def _samples(series: Series, calibration: Mapping[str, Any], batch: str) -> Samples:
    counts = [len(one) for generation in series.samples_ns for one in generation]
    floor = [(float(at), float(margin)) for at, margin in calibration.get("floor", ())]
    return Samples(
        batch=batch,
        runner=batch.rsplit("/", 1)[0],
        rounds=round_medians(series.samples_ns),
        samples_per_round=min(counts),
        floor=tuple(floor),
        tick_ns=float(calibration.get("tickNs", 1.0)),
    )


def _value(samples: Samples) -> float:
    return median([value for generation in samples.rounds for value in generation])


def _compare(a: Samples, b: Samples) -> Verdict:
    return compare_samples(a, b, _value(a), _value(b))


def _tally(verdicts: Iterable[Verdict]) -> Tally:
    judged = tuple(verdicts)
    return Tally(
        verdicts=Counter(str(VerdictKind(one.kind).value) for one in judged),
        ratios=tuple(one.ratio for one in judged if one.ratio is not None),
        half_widths=tuple(
            (one.high / one.low) ** 0.5 - 1 for one in judged if one.high and one.low
        ),
    )
