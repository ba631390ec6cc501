"""The answer: what every surface shows for a question, with every key described.

The JSON of ``ki resolve --json`` is ``Answer.to_dict()``; docs/reference/answer.md is
written from the descriptions here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from kernelindex.resolve.problems import Problem  # noqa: TC001 (pydantic reads it)
from kernelindex.resolve.request import Request  # noqa: TC001 (pydantic reads it)

Match = Literal["exact", "nearest", "none", "ambiguous"]


class Part(BaseModel):
    """Base of everything in an answer: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data under the documented keys."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> bytes:
        """The JSON of ``to_dict``, in a third of its time: nothing is copied on the way."""
        return json_bytes(self)


def json_bytes(data: Any) -> bytes:
    """JSON of data that may have parts of answers in it, each under its documented keys.

    Not for ``Answer`` itself: the question in it has a form of its own.
    """
    return orjson.dumps(data, default=_fields_of)


def _fields_of(part: object) -> dict[str, Any]:
    """The fields of a part under their documented keys, for ``orjson``."""
    if not isinstance(part, Part):
        raise TypeError(f"{type(part).__name__} is not JSON")
    renamed = _renamed(type(part))
    fields = part.__dict__
    return {renamed.get(name, name): fields[name] for name in fields} if renamed else fields


@cache
def _renamed(part: type[Part]) -> dict[str, str]:
    return {name: field.alias for name, field in part.model_fields.items() if field.alias}


class Assumption(Part):
    """Something the answer takes for granted because the question left it open."""

    code: str = Field(description="stable code of the kind of assumption")
    text: str = Field(description="the assumption as one sentence")
    asked: str | None = Field(None, description="the words it is about")
    taken: tuple[str, ...] = Field((), description="what they were read as")


class Suggestion(Part):
    """Another question that may be the better one."""

    text: str = Field(description="why it may help")
    query: str = Field(description="the text query to ask")


class Range(Part):
    """Rank as a range: 1 plus those surely better, to all minus those surely worse."""

    low: int = Field(description="best rank it may have")
    high: int = Field(description="worst rank it may have")


class Metric(Part):
    """What is ranked."""

    metric: str = Field(description="metric id, such as latency")
    statistic: str = Field(description="statistic, such as median")
    unit: str = Field(description="unit of every value in the cohort")
    direction: str | None = Field(description="lower or higher is better")


class Primary(Part):
    """The number a run is ranked by."""

    metric: str = Field(description="metric id")
    statistic: str = Field(description="statistic of the metric")
    unit: str = Field(description="unit of the value")
    value: float = Field(description="the value, unrounded")


class Spread(Part):
    """Low and high of a published spread or of an interval."""

    kind: str = Field(description="what the two ends are, such as p20-p80 or confidence95")
    low: float = Field(description="lower end, in the primary unit")
    high: float = Field(description="upper end, in the primary unit")


class RunRef(Part):
    """The representative run of an entry."""

    digest: str = Field(description="permanent name of the run")
    primary: Primary = Field(description="the number the entry is ranked by")
    spread: Spread | None = Field(None, description="spread as published; never compared")
    interval: Spread | None = Field(None, description="95 % interval that verdicts may use")
    sample_count: int | None = Field(None, description="number of samples, where known")
    observed: str | None = Field(None, description="when it was measured, as the source says")


class ImplementationRef(Part):
    """What ran."""

    slug: str = Field(description="slug of the implementation revision")
    title: str = Field(description="its title")
    line: str = Field(description="implementation line: project and entry point, revision aside")
    project: str = Field(description="project slug or name")
    digest: str = Field(description="digest of the implementation revision")
    entry_point: str = Field("", description="what is called, within the project")
    language: str | None = Field(None, description="language of the callable")
    restated: bool = Field(False, description="a copy of another project's code, not a release")


class DoubtRef(Part):
    """One named reason to trust a number less."""

    code: str = Field(description="stable doubt code")
    effect: str = Field(alias="class", description="blocks (a claim), shifts (the number), note")
    text: str = Field(description="the doubt in words")
    shift_ns: float | None = Field(None, description="signed size in ns, where known")


class LimitRef(Part):
    """Distance to the hardware's limit."""

    tflops: float | None = Field(None, description="achieved TFLOP/s")
    tbps: float | None = Field(None, description="achieved TB/s of compulsory traffic")
    percent_nominal: float | None = Field(None, description="percent of the nominal peak")
    percent_attainable: float | None = Field(None, description="percent of the measured peak")
    bound: str | None = Field(None, description="which limit binds: compute or memory")


class Entry(Part):
    """One ranked candidate: implementation line, revision and software stack."""

    key: str = Field(description="line, revision and stack: what makes it one candidate")
    position: int = Field(description="place in the order shown, from 1")
    rank: Range | None = Field(None, description="rank range; absent for an only result")
    tie_group: int | None = Field(None, description="entries judged the same share a number")
    verdict_to_leader: str | None = Field(None, description="verdict of the comparison with #1")
    ratio_to_leader: float | None = Field(None, description="value over the leader's value")
    ratio_low: float | None = Field(None, description="lower end of the ratio's 95 % interval")
    ratio_high: float | None = Field(None, description="upper end of the ratio's 95 % interval")
    margin: float | None = Field(None, description="relative difference that counts as none")
    settle: str | None = Field(None, description="what would settle an unclear verdict")
    implementation: ImplementationRef = Field(description="what ran")
    revision: str = Field("", description="version, commit or label of the revision")
    stack: dict[str, str] = Field(default_factory=dict, description="driver, CUDA, torch …")
    latest_stack: bool = Field(True, description="the newest stack of this line and revision")
    run: RunRef = Field(description="the representative run")
    other_runs: tuple[str, ...] = Field((), description="further runs of the same entry")
    evidence: str = Field(description="evidence level reached")
    evidence_missing: tuple[str, ...] = Field((), description="what the next level lacks")
    doubts: tuple[DoubtRef, ...] = Field((), description="blocks first, then shifts, then notes")
    limit: LimitRef | None = Field(None, description="distance to the hardware's limit")
    deployable: bool = Field(False, description="whether the deployability list is complete")
    why_not: tuple[str, ...] = Field((), description="what keeps it from being deployable")
    peak_memory_bytes: int | None = Field(None, description="peak memory of the same case")


class Hardware(Part):
    """The device class of a cohort; what a source does not state is ``unstated``."""

    label: str = Field(description="name to show")
    product_id: str | None = Field(None, description="id of the product, where it is known")
    family: str = Field("", description="product family, such as H100")
    vendor: str = Field("", description="vendor id")
    architecture: str = Field("", description="architecture id")
    device_class: dict[str, str] = Field(
        default_factory=dict, description="form factor, memory, MIG, power limit, clocks …"
    )


class ShapeRef(Part):
    """The exact workload."""

    key: str = Field(description="key of the shape")
    axes: dict[str, int] = Field(description="axis sizes under our names")
    dtypes: dict[str, str] = Field(description="element dtype of each tensor")
    distribution: str | None = Field(None, description="data distribution, where stated")


class ProtocolRef(Part):
    """What a timing means here."""

    name: str = Field(description="harness or controlled protocol")
    version: str | None = Field(None, description="version of the protocol")
    rules: dict[str, str] = Field(default_factory=dict, description="rules that change meaning")


class CohortHead(Part):
    """A group that may be ranked together, without its entries."""

    key: str = Field(description="cohort key (cohort/v2)")
    operation: str = Field(description="operation slug, or digest where nothing is mapped")
    operation_title: str = Field("", description="title of the operation")
    shape: ShapeRef = Field(description="the exact workload")
    hardware: Hardware = Field(description="device class")
    timed_pass: str = Field(alias="pass", description="timed pass, or unstated")
    profile: str = Field(description="source_native or controlled")
    protocol: ProtocolRef = Field(description="whose rules produced the numbers")
    regime: str = Field("", description="how it was timed, in words")
    correctness: str = Field("", description="comparator of the correctness policy")
    source: str = Field(description="source slug")
    metric: Metric = Field(description="what is ranked")
    entry_count: int = Field(description="number of entries, shown or not")
    only_result: bool = Field(description="one entry: no rank, no record")
    unbeaten: tuple[str, ...] = Field((), description="keys of the entries no other beats")
    newest_observed: str | None = Field(None, description="date of the newest run")
    tolerance: float | None = Field(
        None,
        description="relative size below which reported numbers say nothing;"
        " absent where samples tell",
    )
    leader: str = Field("", description="who leads, as a few words")


class Cohort(CohortHead):
    """A ranked group with its entries in order."""

    summary: str = Field(description="the group in one or two sentences")
    shared_doubts: tuple[DoubtRef, ...] = Field((), description="doubts every entry has")
    entries: tuple[Entry, ...] = Field(description="entries in rank order")
    entries_left_out: int = Field(0, description="entries not shown, all behind the shown ones")
    entries_not_met: int = Field(
        0,
        description="entries that the question's conditions leave out; ranks and ratios are"
        " among these too",
    )


class Block(Part):
    """The cohorts of one timed pass; given when the question names no pass."""

    kind: Literal["training", "inference", "unstated"] = Field(description="block of the answer")
    timed_pass: str = Field(alias="pass", description="timed pass")
    cohorts: tuple[str, ...] = Field(description="keys of its cohorts in this answer")
    measured: bool | None = Field(
        description="whether anything that fits timed this pass; null where not all was read"
    )
    text: str = Field(description="what was measured, or that nothing was")


class Pick(Part):
    """The best of one cohort: one leader, or the unbeaten together."""

    cohort: str = Field(description="key of the cohort")
    hardware: str = Field(description="label of the device")
    timed_pass: str = Field(alias="pass", description="timed pass")
    how: Literal["leads", "unbeaten", "only_result"] = Field(description="what the pick claims")
    runs: tuple[str, ...] = Field(description="runs of the picked entries")
    text: str = Field(description="the pick in words")


class Slot(Part):
    """One of the three bests; an empty one says what would fill it."""

    picks: tuple[Pick, ...] = Field((), description="one pick for each cohort that has one")
    would_fill: str | None = Field(None, description="what would fill an empty slot")


class Best(Part):
    """Fastest, fastest verified and fastest deployable are three answers."""

    reported: Slot = Field(description="best of all eligible evidence")
    verified: Slot = Field(description="best of the entries verified or better")
    deployable: Slot = Field(description="best of the entries that can be installed and used")


class Difference(Part):
    """One way in which a near miss is not what was asked."""

    field: str = Field(description="pass, hardware, an axis, dtype, source, protocol …")
    asked: str = Field(description="what the question wants")
    found: str = Field(description="what was measured")
    text: str = Field(description="the difference in words")


class NearMiss(Part):
    """A cohort that is not what was asked, with every difference."""

    distance: float = Field(description="0 is the same; an axis off by 2x adds 1")
    differences: tuple[Difference, ...] = Field(description="every difference")
    cohort: CohortHead = Field(description="the group that was measured")


class NeighbourSide(Part):
    """The measured shape next to the asked one on one side of an axis."""

    value: int = Field(description="size of the axis there")
    cohort: str = Field(description="key of the cohort")
    leader: str = Field(description="who leads there, in words")
    leaders: tuple[str, ...] = Field(description="implementation lines unbeaten there")


class Neighbour(Part):
    """Measured shapes on either side of an unmeasured one, all other axes equal."""

    axis: str = Field(description="the axis that differs")
    asked: int = Field(description="the size asked for")
    hardware: str = Field(description="label of the device")
    timed_pass: str = Field(alias="pass", description="timed pass")
    below: NeighbourSide | None = Field(None, description="nearest smaller measured size")
    above: NeighbourSide | None = Field(None, description="nearest larger measured size")
    leaders_agree: bool | None = Field(None, description="whether both sides have one leader")
    text: str = Field(description="the pair in words; no latency is invented")


class Reason(Part):
    """A stable code and its words."""

    code: str = Field(description="stable reason code")
    text: str = Field(description="the reason in words")


class Excluded(Part):
    """A run or entry that does not count, and why."""

    run: str = Field(description="digest of the run")
    title: str = Field(description="what ran")
    cohort: str | None = Field(None, description="key of the cohort it would be in")
    reasons: tuple[Reason, ...] = Field(description="every reason")


class ExcludedCount(Part):
    """How many do not count for one reason, or for several together."""

    codes: tuple[str, ...] = Field(description="stable reason codes")
    text: str = Field(description="the reasons in words")
    runs: int = Field(description="runs or entries")


class Rerun(Part):
    """A reported number and a controlled run of the same line, shape and pass."""

    kind: Literal[
        "confirmed", "explained", "contradicted", "inconclusive", "not_comparable", "related"
    ] = Field(description="what the rerun shows; related: on another product, it judges nothing")
    timed_pass: str = Field(alias="pass", description="timed pass")
    line: str = Field(description="implementation line of both")
    reported: str = Field(description="the reported run")
    reported_value: float = Field(description="its value")
    reported_on: str = Field(description="label of its device")
    controlled: str = Field(description="the controlled run")
    controlled_value: float = Field(description="its value")
    controlled_on: str = Field(description="label of its device")
    unit: str = Field(description="unit of both values")
    ratio: float | None = Field(None, description="reported over controlled")
    reasons: tuple[str, ...] = Field((), description="why the two may differ, in words")
    text: str = Field(description="both numbers, what is shown, and why they differ")


class Reading(Part):
    """The question under our names: what was looked for."""

    operations: tuple[str, ...] = Field((), description="operation slugs; empty means any")
    axes: dict[str, int] = Field(default_factory=dict, description="axis sizes under our names")
    dtypes: tuple[tuple[str, ...], ...] = Field(
        (), description="for each dtype asked, the ids that meet it"
    )
    products: tuple[str, ...] = Field((), description="ids of the products meant")
    family: str | None = Field(None, description="product family of the hardware asked")
    timed_pass: str | None = Field(None, alias="pass", description="timed pass, if asked")
    source: str | None = Field(None, description="source slug, if asked")
    metric: str | None = Field(None, description="metric; absent means time or score")


class Answer(Part):
    """Everything there is to say to one question."""

    match: Match = Field(description="exact, nearest, none, or ambiguous")
    summary: str = Field(description="the answer in one or two sentences")
    request: Request | None = Field(description="the question as read; absent when refused")
    reading: Reading | None = Field(None, description="the question under our names")
    assumptions: tuple[Assumption, ...] = Field((), description="what was taken for granted")
    problems: tuple[Problem, ...] = Field((), description="why the question cannot be answered")
    suggestions: tuple[Suggestion, ...] = Field((), description="other questions worth asking")
    cohorts: tuple[Cohort, ...] = Field((), description="ranked groups that answer the question")
    cohorts_left_out: int = Field(0, description="further groups that fit, not shown")
    cohorts_not_met: int = Field(
        0, description="groups that fit, of which no entry meets the question's conditions"
    )
    blocks: tuple[Block, ...] = Field((), description="passes, when none was asked for")
    best: Best = Field(description="best reported, verified and deployable")
    nearest: tuple[NearMiss, ...] = Field((), description="near misses, nearest first")
    reruns: tuple[Rerun, ...] = Field((), description="reported numbers beside their reruns")
    neighbours: tuple[Neighbour, ...] = Field((), description="sides of an unmeasured shape")
    excluded: tuple[Excluded, ...] = Field(
        (), description="the first 50 runs that do not count, and why; rare reasons first"
    )
    excluded_counts: tuple[ExcludedCount, ...] = Field(
        (), description="all that do not count, by reason"
    )
    missing: tuple[str, ...] = Field((), description="what is not known, and what would tell")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data; the request under the names it was asked with."""
        data = super().to_dict()
        data["request"] = self.request.to_dict() if self.request else None
        return data
