"""Evidence levels: derived from what was handed over, never typed by a submitter.

``reported`` < ``reproducible`` < ``verified`` < ``replicated``. Attestations of people
change none of it, and a level earned in another index is derived again here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kernelindex.policy.evidence_reading import PROTOCOL, SAMPLES, SOURCE, WORKLOAD
from kernelindex.policy.facts import LEVELS, Level, Profile, RunFacts

REPLICATION_TOLERANCE = 0.03
CALIBRATED = "a calibration inside its limits"
MOST_PROBLEMS = 5
TOOLKITS = frozenset(("cuda", "rocm", "hip"))
SYSTEM = frozenset(("driver", "os", "kernel"))
"""Names in a stack that are neither toolkit nor framework."""
CPUS = frozenset(("x86_64", "amd64", "aarch64", "arm64"))
"""Architectures of processors, which have no driver and no toolkit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """A second run of the same implementation, shape, protocol and product.

    ``ratio`` is this run's value over the other's through the shared anchor.
    """

    run_digest: str
    owner: str
    host: str
    gpu: str
    approved: bool
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFacts:
    """What is known of a run's evidence; everything defaults to not handed over.

    The first four add to what a run's manifests state; the next three make it verified,
    where ``lacks`` is empty: what a complete measurement has and this one has not, in words.
    ``calibration_problems`` says in words what of its batch's calibration is outside.
    ``batch_number`` is its batch's place in its runner's sequence; ``unproven_batch`` says in
    words that the batch before it is not here.
    """

    exact_source: bool = False
    complete_workload: bool = False
    complete_protocol: bool = False
    raw_samples: bool = False
    signed_by_approved_key: bool = False
    correctness_passed: bool = False
    calibration_within_limits: bool = False
    calibration_problems: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    owner: str = ""
    host: str = ""
    gpu: str = ""
    replications: tuple[Replication, ...] = ()
    batch_number: int | None = None
    unproven_batch: str | None = None

    @property
    def calibrated(self) -> bool:
        """Whether its batch's calibration is inside its limits, by word and by number."""
        return self.calibration_within_limits and not self.calibration_problems


NO_EVIDENCE = EvidenceFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """The level reached, and in words what the next one lacks (empty at the top)."""

    level: Level
    missing: tuple[str, ...]

    @property
    def next(self) -> Level | None:
        """The level that ``missing`` is about."""
        index = LEVELS.index(self.level) + 1
        return LEVELS[index] if index < len(LEVELS) else None

    @property
    def verified(self) -> bool:
        """Whether the level is verified or above."""
        return LEVELS.index(self.level) >= LEVELS.index(Level.VERIFIED)


def level_of(facts: RunFacts, evidence: EvidenceFacts | None = None) -> LevelReport:
    """The highest level whose rules, and those of every level below it, are met."""
    handed = evidence or NO_EVIDENCE
    steps = (
        (Level.REPORTED, missing_for_reproducible(facts, handed)),
        (Level.REPRODUCIBLE, missing_for_verified(facts, handed)),
        (Level.VERIFIED, missing_for_replicated(handed)),
    )
    for level, missing in steps:
        if missing:
            return LevelReport(level=level, missing=missing)
    return LevelReport(level=Level.REPLICATED, missing=())


def missing_for_reproducible(facts: RunFacts, evidence: EvidenceFacts) -> tuple[str, ...]:
    """What another person lacks to run it again, neither stated nor handed over."""
    unstated = missing_versions(facts.stack, on_cpu=facts.device.architecture in CPUS)
    versions = f"software versions ({', '.join(unstated)})"
    return _words(
        (evidence.exact_source or SOURCE in facts.stated, "the exact source"),
        (evidence.complete_workload or WORKLOAD in facts.stated, "a complete workload"),
        (evidence.complete_protocol or PROTOCOL in facts.stated, "a complete protocol"),
        (not unstated, versions),
        (evidence.raw_samples or SAMPLES in facts.stated, "raw samples"),
    )


@lru_cache(maxsize=1024)
def missing_versions(
    stack: tuple[tuple[str, str], ...], *, on_cpu: bool = False
) -> tuple[str, ...]:
    """Which kinds of software no version is stated for: driver, toolkit, framework.

    A processor has neither driver nor toolkit.
    """
    names = {name.casefold() for name, _ in stack}
    return _words(
        (on_cpu or "driver" in names, "driver"),
        (on_cpu or bool(names & TOOLKITS), "toolkit"),
        (bool(names - TOOLKITS - SYSTEM), "framework"),
    )


def missing_for_verified(facts: RunFacts, evidence: EvidenceFacts) -> tuple[str, ...]:
    """What a controlled run of an approved runner lacks."""
    checked = evidence.correctness_passed and facts.correctness.asserted
    return _words(
        (facts.protocol.profile is Profile.CONTROLLED, "a controlled run"),
        (evidence.signed_by_approved_key, "a signature by a runner key this index approved"),
        (checked, "correctness asserted and passed"),
        (evidence.calibrated, _calibration_words(evidence)),
        *((False, lacking) for lacking in evidence.lacks),
    )


def _calibration_words(evidence: EvidenceFacts) -> str:
    """What is lacking, with the first few values that are outside."""
    if not evidence.calibration_problems:
        return CALIBRATED
    return f"{CALIBRATED}: {'; '.join(evidence.calibration_problems[:MOST_PROBLEMS])}"


def missing_for_replicated(evidence: EvidenceFacts) -> tuple[str, ...]:
    """What a second, independent identity has not shown yet."""
    if any(counts_as_replication(evidence, other) for other in evidence.replications):
        return ()
    return ("a run of another owner, host and GPU within 3 % through the anchor",)


def counts_as_replication(evidence: EvidenceFacts, other: Replication) -> bool:
    """Whether the other run is approved, independent in all three ways, and within 3 %."""
    independent = (
        other.owner not in ("", evidence.owner)
        and other.host not in ("", evidence.host)
        and other.gpu not in ("", evidence.gpu)
    )
    apart = max(other.ratio, 1.0 / other.ratio) - 1.0 if other.ratio > 0.0 else float("inf")
    return other.approved and independent and apart <= REPLICATION_TOLERANCE


def _words(*items: tuple[bool, str]) -> tuple[str, ...]:
    return tuple(word for present, word in items if not present)
