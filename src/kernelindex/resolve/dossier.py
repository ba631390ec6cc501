"""What is known of one run or object: the parts of its page, every key described."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from kernelindex.resolve.answer import (
    CohortHead,
    DoubtRef,
    Hardware,
    ImplementationRef,
    LimitRef,
    Part,
    Primary,
    ProtocolRef,
    Range,
    Reason,
    Rerun,
    ShapeRef,
    Spread,
)

Json = dict[str, Any]


class Ladder(Part):
    """Evidence as four words, the one reached and what the next lacks."""

    levels: tuple[str, ...] = Field(description="all levels, weakest first")
    reached: str = Field(description="the level reached")
    next: str | None = Field(None, description="the level above, if any")
    missing: tuple[str, ...] = Field((), description="what the next level lacks, in words")


class Standing(Part):
    """Where a run stands in its group."""

    text: str = Field(description="such as: 2 of 2, 11.1x behind #1")
    cohort: str | None = Field(None, description="key of its cohort, if anything ranks there")
    rank: Range | None = Field(None, description="rank range; absent for an only result")
    entry_count: int = Field(0, description="entries in the cohort")
    only_result: bool = Field(False, description="nothing to rank it against")
    ratio_to_leader: float | None = Field(None, description="value over the leader's")
    leader_run: str | None = Field(None, description="run of the first entry")
    leader: str | None = Field(None, description="who leads, in words")
    represented_by: str | None = Field(
        None, description="run that stands for the entry, where it is another one"
    )


class Identity(Part):
    """The digests that say exactly what was measured."""

    run: str = Field(description="digest of the run")
    implementation: str = Field(description="digest of the implementation")
    workload: str = Field(description="digest of the workload")
    operation: str = Field(description="digest of the operation")
    protocol: str = Field(description="digest of the protocol")
    environment: str = Field(description="digest of the environment")
    comparison_key: str | None = Field(None, description="key for interchange")
    cohort_key: str | None = Field(None, description="key of the group it would be ranked in")
    external_id: str | None = Field(None, description="the source's own id")
    aliases: tuple[str, ...] = Field((), description="ids from elsewhere that name it")


class Sibling(Part):
    """The same line, shape and device in another pass."""

    timed_pass: str = Field(alias="pass", description="timed pass")
    regime: str = Field("", description="how it was timed, in words")
    run: str = Field(description="digest of the run")
    value: float = Field(description="its value")
    interval: Spread | None = Field(None, description="95 % interval of the value, if it has one")
    unit: str = Field(description="unit of the value")


class GapPoint(Part):
    """One measured size of an axis."""

    value: int = Field(description="size of the axis")
    ratio: float = Field(description="times behind the best other line; below 1 is ahead")
    run: str = Field(description="run of this line there")
    against: str = Field(description="the other line, in words")


class Gap(Part):
    """How the distance to the best other line depends on one axis, all others equal."""

    axis: str = Field(description="the axis")
    points: tuple[GapPoint, ...] = Field(description="measured sizes in order")
    text: str = Field(description="the dependence in words")


class SourceRef(Part):
    """Where the number comes from."""

    slug: str = Field(description="source slug")
    title: str = Field("", description="name of the source")
    homepage: str | None = Field(None, description="its address")
    licence: str | None = Field(None, description="licence of its data")
    attribution: str = Field("", description="whom to credit")
    rows: tuple[Json, ...] = Field((), description="the source's own rows, verbatim")
    bound: tuple[str, ...] = Field((), description="facts our reviewed table supplied")
    published_at: str | None = Field(None, description="when the source published it")


class Artifact(Part):
    """A body that evidence names."""

    name: str = Field(description="what it is")
    uri: str = Field(description="where it was")
    digest: str = Field(description="digest of its bytes")
    held: bool = Field(False, description="whether `/artifacts/{digest}` has its bytes")


class EvidenceRef(Part):
    """A signed bundle that the run is in, as this index verified it."""

    bundle: str = Field(description="digest of the bundle: `/artifacts/{digest}` has it")
    record: str = Field(description="digest of the signed statement")
    runner: str = Field(description="name of the runner")
    owner: str = Field(description="who runs it")
    host: str = Field(description="on which machine")
    device: str = Field(description="on which device")
    key: str = Field(description="the public key that signed, for `ki evidence verify`")
    approval: str = Field(description="what this index decided of the key, in words")
    batch: int = Field(description="number of the batch in its runner's sequence")
    outcome: str = Field(description="complete, cut_short or aborted")
    previous: str | None = Field(None, description="digest of the statement of the batch before")
    chain: str = Field(description="whether the batch before is here, in words")
    within_limits: bool = Field(description="whether the calibration is inside its limits")
    correct: bool = Field(description="whether every output and gradient was compared and passed")
    lacks: tuple[str, ...] = Field((), description="what a complete measurement has beside")
    isolation: Json = Field(default_factory=dict, description="how the candidate was isolated")


class RunDossier(Part):
    """Everything known of one run."""

    kind: str = Field("BenchmarkRun", description="kind of the manifest")
    title: str = Field(description="what was measured, in words")
    summary: str = Field(description="value, standing and trust in one or two sentences")
    status: str = Field(description="passed, how it failed, or withdrawn")
    primary: Primary | None = Field(description="the number it is ranked by")
    spread: Spread | None = Field(None, description="spread as published; never compared")
    interval: Spread | None = Field(None, description="95 % interval that verdicts may use")
    sample_count: int | None = Field(None, description="number of samples, where known")
    observed: Json = Field(description="when it was measured: text, zone, date")
    standing: Standing = Field(description="where it stands in its group")
    ladder: Ladder = Field(description="evidence level and what the next lacks")
    doubts: tuple[DoubtRef, ...] = Field((), description="reasons to trust it less")
    limit: LimitRef | None = Field(None, description="distance to the hardware's limit")
    reasons: tuple[Reason, ...] = Field((), description="why it does not rank, if so")
    superseded_by: str | None = Field(None, description="run that replaces it")
    retracted: str | None = Field(None, description="why it was retracted")
    operation: str = Field(description="operation slug or digest")
    operation_title: str = Field("", description="title of the operation")
    shape: ShapeRef = Field(description="the exact workload")
    timed_pass: str = Field(alias="pass", description="timed pass, or unstated")
    profile: str = Field(description="source_native or controlled")
    protocol: ProtocolRef = Field(description="whose rules produced it")
    regime: str = Field("", description="how it was timed, in words")
    hardware: Hardware = Field(description="device class")
    implementation: ImplementationRef = Field(description="what ran")
    revision: str = Field("", description="revision of what ran")
    stack: dict[str, str] = Field(default_factory=dict, description="software versions")
    identity: Identity = Field(description="digests and keys")
    source: SourceRef = Field(description="where the number comes from")
    source_native: Json = Field(default_factory=dict, description="the source's own metrics")
    correctness: Json = Field(default_factory=dict, description="policy asked and result seen")
    measurements: tuple[Json, ...] = Field((), description="every number of the run")
    evidence: tuple[EvidenceRef, ...] = Field((), description="signed bundles it is in")
    artifacts: tuple[Artifact, ...] = Field((), description="evidence bodies by digest")
    peak_memory_bytes: int | None = Field(None, description="peak memory of the same case")
    memory_run: str | None = Field(None, description="run that measured the memory")
    siblings: tuple[Sibling, ...] = Field((), description="the same in other passes")
    reruns: tuple[Rerun, ...] = Field((), description="the number beside its reruns, if any")
    gaps: tuple[Gap, ...] = Field((), description="how its distance depends on an axis")
    attestations: str = Field(description="what people said of it, and that it changes no level")
    citation: str = Field(description="how to cite it")
    more: str = Field(description="query for all results of the operation")
    manifests: dict[str, Json] = Field(
        default_factory=dict, description="run, workload, operation, implementation …"
    )


class Link(Part):
    """A manifest that this one names."""

    path: str = Field(description="where it is named")
    kind: str = Field(description="kind of the named object")
    digest: str = Field(description="its digest")


class RunLine(Part):
    """One run in a list."""

    digest: str = Field(description="digest of the run")
    operation: str = Field(description="operation slug or digest")
    operation_title: str = Field("", description="title of the operation")
    shape: ShapeRef = Field(description="the exact workload")
    timed_pass: str = Field(alias="pass", description="timed pass")
    regime: str = Field("", description="how it was timed, in words")
    hardware: str = Field(description="label of the device")
    implementation: ImplementationRef = Field(description="what ran")
    revision: str = Field("", description="revision of what ran")
    primary: Primary | None = Field(None, description="its number; absent where none")
    interval: Spread | None = Field(None, description="95 % interval of it, if it has one")
    rank: Range | None = Field(None, description="rank range, where it stands for its entry")
    evidence: str = Field(description="evidence level")
    status: str = Field(description="passed, how it failed, or withdrawn")
    source: str = Field(description="source slug")
    observed: str | None = Field(None, description="when, as the source says")
    doubts: tuple[DoubtRef, ...] = Field((), description="reasons to trust it less")


class StatusCount(Part):
    """How many runs have one status."""

    status: str = Field(description="status as shown, such as aborted")
    runs: int = Field(description="runs that have it")


class RunList(Part):
    """One page of runs."""

    runs: tuple[RunLine, ...] = Field(description="runs, newest first")
    cursor: str | None = Field(None, description="asks for the next page")
    left_out: tuple[StatusCount, ...] = Field(
        (),
        description="on a first page without a status: runs that meet the filters and are listed"
        " only where their status, or any, is asked for",
    )


class ObjectDossier(Part):
    """Everything known of an object that is not a run."""

    kind: str = Field(description="kind of the object")
    digest: str | None = Field(
        None, description="its digest; an operation of ours may have several"
    )
    slug: str | None = Field(None, description="its slug")
    title: str = Field(description="its title")
    facts: dict[str, str] = Field(default_factory=dict, description="counts and names in words")
    aliases: tuple[str, ...] = Field((), description="ids from elsewhere that name it")
    sources: tuple[str, ...] = Field((), description="sources that told of it")
    links: tuple[Link, ...] = Field((), description="manifests it names")
    cohorts: tuple[CohortHead, ...] = Field((), description="groups it is ranked in")
    runs: tuple[RunLine, ...] = Field((), description="some of its runs, newest first")
    manifest: Json | None = Field(None, description="the canonical document")


class RecordLine(Part):
    """One change of a cohort's leader."""

    cohort: str = Field(description="key of the cohort")
    date: str | None = Field(None, description="calendar date")
    same_day: bool = Field(False, description="several that day; their order is not known")
    cause: str = Field(description="why the leader changed")
    operation: str = Field(description="operation slug or digest")
    operation_title: str = Field("", description="title of the operation")
    axes: dict[str, int] = Field(default_factory=dict, description="axis sizes")
    timed_pass: str = Field(alias="pass", description="timed pass")
    regime: str = Field("", description="how the group was timed, in words")
    hardware: str = Field(description="label of the device")
    run: str = Field(description="run that caused the change")
    leader_run: str | None = Field(
        None, description="the new leader's run, of which the value is; it may have come earlier"
    )
    leader: str | None = Field(
        None, description="the new leader; absent where several are unbeaten"
    )
    value: float | None = Field(None, description="the new leader's value")
    interval: Spread | None = Field(None, description="95 % interval of the value, if it has one")
    unit: str | None = Field(None, description="unit of the values")
    previous: str | None = Field(None, description="the leader before")
    previous_value: float | None = Field(None, description="its value")
    ratio: float | None = Field(None, description="how many times better than before")
    current: bool = Field(description="whether it is the last change of its cohort")


class RecordList(Part):
    """One page of record events."""

    records: tuple[RecordLine, ...] = Field(description="events, newest first")
    cursor: str | None = Field(None, description="asks for the next page")


class ComparedField(Part):
    """One property of all compared runs."""

    name: str = Field(description="what is compared")
    values: tuple[str | None, ...] = Field(description="one value a run, in order")
    same: bool = Field(description="whether all are equal")
    material: bool = Field(description="whether a difference forbids ranking them together")


class PairVerdict(Part):
    """What may be said of one run against the first."""

    run: str = Field(description="the run")
    against: str = Field(description="the first run")
    verdict: Literal["FASTER", "SLOWER", "SAME", "UNCLEAR", "INCOMPARABLE"] = Field(
        description="verdict of the run against the first"
    )
    ratio: float | None = Field(None, description="the run's value over the first's")
    low: float | None = Field(None, description="lower end of the ratio's 95 % interval")
    high: float | None = Field(None, description="upper end of the ratio's 95 % interval")
    margin: float | None = Field(None, description="relative difference that counts as none")
    reasons: tuple[str, ...] = Field((), description="why, as codes")
    text: str = Field(description="the verdict, or why there is none, in words")


class Comparison(Part):
    """Two to eight runs side by side."""

    runs: tuple[RunLine, ...] = Field(description="the runs in the order given")
    comparable: bool = Field(description="whether all are of one cohort")
    first_difference: str | None = Field(None, description="first material mismatch, in words")
    fields: tuple[ComparedField, ...] = Field(description="aligned properties")
    verdicts: tuple[PairVerdict, ...] = Field(description="each further run against the first")
    summary: str = Field(description="the comparison in one sentence")
