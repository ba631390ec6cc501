"""What the catalog answers with: frozen rows, JSON-ready where they are nested.

Nested mappings are plain JSON objects, stored ready when a cohort is judged, so that a
surface renders them without asking again. Digests are ``sha256:<hex>``; times are ns;
``value`` is in the row's ``unit``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a long list; ``cursor`` asks for the next and is bound to its filters."""

    rows: tuple[T, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One object that an identifier names.

    ``via`` says how: ``alias``, ``slug``, ``name`` (several share it) or ``digest``.
    """

    kind: str
    digest: str
    title: str
    via: str
    slug: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredManifest:
    """A manifest as stored: ``document`` is ``{apiVersion, kind, metadata, spec}``."""

    digest: str
    kind: str
    document: Json
    slug: str | None
    title: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRow:
    """One operation under our slug (or its own digest where nothing is mapped)."""

    slug: str
    title: str
    family: str
    mapped: bool
    aliases: tuple[str, ...]
    digests: tuple[str, ...]
    run_count: int
    cohort_count: int
    shape_count: int
    implementation_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementationRow:
    """One implementation revision and how much is known of it."""

    digest: str
    slug: str
    title: str
    project: str
    operation: str
    line_id: str
    language: str
    run_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRow:
    """One upstream library, author or vendor."""

    slug: str
    title: str
    digest: str | None
    implementation_count: int
    run_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareRow:
    """One GPU product (or an unresolved label) that has runs here."""

    id: str
    label: str
    family: str
    vendor: str
    architecture: str
    product_id: str | None
    run_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetCount:
    """How many current runs have one value of one filter, counted ahead."""

    facet: str
    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeRow:
    """One exact workload shape and where it has been measured.

    ``devices`` and ``passes`` count cohorts: ``{product id or label: count}``.
    """

    shape_key: str
    operation: str
    axes: Json
    dtypes: Json
    distribution: str | None
    cohort_count: int
    run_count: int
    devices: Json
    passes: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortRow:
    """One set of results that may be compared, with what is equal in all of them.

    ``device``     product_id, label, vendor, product, family, architecture and the stated
                   parts of the device class
    ``protocol``   {name, version, rules}
    ``best``       {reported, verified, deployable}, each {entries, only_result, fills}:
                   entry keys, and in words what would fill an empty one
    ``tolerance``  {relative, tick, basis}: below it reported numbers say nothing
    """

    key: str
    operation: str
    operation_title: str
    family: str
    shape_key: str
    axes: Json
    dtypes: Json
    distribution: str | None
    timed_pass: str
    profile: str
    protocol: Json
    correctness: str
    metric: str
    statistic: str
    unit: str
    direction: str | None
    device: Json
    source: str
    entry_count: int
    run_count: int
    only_result: bool
    unbeaten: tuple[str, ...]
    newest_observed: str | None
    shared_doubts: tuple[str, ...]
    best: Json
    tolerance: Json
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One ranked candidate of a cohort: a line at a revision on a stack.

    ``run_levels``      {run digest: {level, missing}} of its runs that handed evidence over
    ``line``            {id, title, project, entry_point, restated, restates}
    ``implementation``  {digest, slug, title, project, language}
    ``doubts``          [{code, class, text, shift_ns}]  class: blocks | shifts | note
    ``limit``           {tflops, tbps, percent_nominal, percent_attainable, bound, floor_ns,
                        compute_floor_ns, memory_floor_ns, peak_dtype}
    ``interval``, ``spread``  {low, high} and for a spread its kind; in ``unit``
    ``ratio_to_leader`` value / leader's value (1.0 for the leader)
    """

    cohort_key: str
    entry_key: str
    position: int
    rank_low: int | None
    rank_high: int | None
    tie_group: int | None
    verdict_to_leader: Json | None
    line: Json
    implementation: Json
    revision: str
    stack: Json
    latest_stack: bool
    run_digest: str
    value: float
    statistic: str
    unit: str
    spread: Json | None
    interval: Json | None
    sample_count: int | None
    ratio_to_leader: float | None
    evidence: str
    evidence_missing: tuple[str, ...]
    doubts: tuple[Json, ...]
    limit: Json | None
    deployable: bool
    why_not: tuple[str, ...]
    other_runs: tuple[str, ...]
    peak_memory_bytes: int | None
    memory_run: str | None
    observed: Json
    run_levels: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedRow:
    """One run that does not rank, and why: ``reasons`` is [{code, text}].

    ``run_protocol`` is as the protocol of a cohort: {name, version, rules}.
    """

    run_digest: str
    operation: str
    shape_key: str
    cohort_key: str | None
    timed_pass: str
    device: str
    implementation_digest: str
    line_id: str
    line_title: str
    status: str
    source: str
    value: float | None
    unit: str | None
    reasons: tuple[Json, ...]
    run_protocol: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run with what is known of it; ``reasons`` says why it does not rank, if so.

    ``entry_key`` and ``rank`` ({low, high, position}) are set where it is in an entry.
    """

    digest: str
    kind: str
    status: str
    source: str
    sources: tuple[str, ...]
    operation: str
    operation_title: str
    family: str
    shape_key: str
    axes: Json
    dtypes: Json
    distribution: str | None
    timed_pass: str
    profile: str
    protocol: Json
    device: Json
    line: Json
    implementation: Json
    revision: str
    stack: Json
    workload_digest: str
    operation_digest: str
    protocol_digest: str
    environment_digest: str
    metric: str | None
    statistic: str | None
    unit: str | None
    value: float | None
    spread: Json | None
    interval: Json | None
    sample_count: int | None
    observed: Json
    published_at: str | None
    cohort_key: str | None
    entry_key: str | None
    comparison_key: str | None
    rank: Json | None
    evidence: str
    evidence_missing: tuple[str, ...]
    doubts: tuple[Json, ...]
    limit: Json | None
    superseded_by: str | None
    retracted: str | None
    reasons: tuple[Json, ...]
    bound: tuple[str, ...] = ()
    source_rows: tuple[Json, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One change of a cohort's leader, with its cause.

    ``date``      calendar date; ``same_day`` says that the order within it is not known
    ``run_digest``  the run that caused the change; ``leader_run`` the new leader's
    ``line``      the new leader's line, None where several are unbeaten (``unbeaten``)
    ``value``     the new leader's value with its ``interval`` ({low, high}), if it has one;
                  ``ratio`` how many times better than the one before
    ``current``   whether it is the cohort's last change
    """

    cohort_key: str
    ordinal: int
    date: str | None
    same_day: bool
    cause: str
    run_digest: str
    leader: str | None
    leader_run: str | None
    line: Json | None
    value: float | None
    interval: Json | None
    previous_run: str | None
    previous_line: Json | None
    previous_value: float | None
    ratio: float | None
    unbeaten: tuple[str, ...]
    current: bool
    metric: str | None
    unit: str | None
    operation: str
    operation_title: str
    shape_key: str
    axes: Json
    dtypes: Json
    device: str
    timed_pass: str
    profile: str
    protocol: Json
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One thing whose name matches; ``score`` is higher for better within one search."""

    kind: str
    slug: str
    title: str
    score: float
    run_count: int
    subtitle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits of a text search, or spellings that exist where there are none."""

    hits: tuple[SearchHit, ...]
    suggestions: tuple[str, ...] = field(default=())
