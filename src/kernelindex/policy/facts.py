"""What policy knows about one run: plain frozen values, read from manifests and registry.

Policy functions take these and nothing else, so that a verdict never depends on a
database, a clock or the order of import. ``policy.reading`` builds them.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the catalog reads these annotations
from dataclasses import dataclass, field
from enum import StrEnum

from kernelindex.policy.samples import Samples, Telemetry  # noqa: TC001 - likewise

UNSTATED = "unstated"


class TimedPass(StrEnum):
    """Which part of a training or inference step was timed."""

    FORWARD = "forward"
    BACKWARD = "backward"
    FULL = "full"
    INFERENCE = "inference"
    UNSTATED = "unstated"


class Profile(StrEnum):
    """Whose rules produced the number."""

    SOURCE_NATIVE = "source_native"
    CONTROLLED = "controlled"


class Level(StrEnum):
    """Evidence levels, weakest first; compare with ``LEVELS.index``."""

    REPORTED = "reported"
    REPRODUCIBLE = "reproducible"
    VERIFIED = "verified"
    REPLICATED = "replicated"


LEVELS = tuple(Level)


class Direction(StrEnum):
    """Whether a smaller or a larger value is better."""

    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Primary:
    """The one number a run is ranked by.

    ``value`` is in ``unit`` (latency is always ns). ``key`` is ``metric:statistic:unit``.
    """

    metric: str
    statistic: str
    unit: str
    value: float
    direction: Direction | None

    @property
    def key(self) -> str:
        """The metric part of the comparison key."""
        return f"{self.metric}:{self.statistic}:{self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Dispersion a source published with its number: displayed, never compared.

    ``low`` and ``high`` are in the primary unit; ``kind`` names them (p20-p80, p05-p95…).
    """

    kind: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval of the primary value that policy may use (controlled runs only)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The exact workload under our names.

    ``operation`` is our slug, or the operation digest where nothing is mapped.
    ``axes`` and ``dtypes`` are sorted by name; ``dtypes`` maps tensor to dtype id.
    """

    operation: str
    family: str
    mapped: bool
    axes: tuple[tuple[str, int], ...]
    dtypes: tuple[tuple[str, str], ...]
    distribution: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSemantics:
    """What a timing means: the source's harness, or our protocol by name and version.

    ``rules`` are the rules within one harness that change meaning (cache regime, load
    regime, gradient accumulation, eager or graph), sorted; empty where none is stated.
    """

    profile: Profile
    name: str
    version: str | None = None
    rules: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """What must be equal for two devices to be compared; not stated is ``unstated``."""

    vendor: str
    product: str
    family: str
    architecture: str
    form_factor: str = UNSTATED
    memory: str = UNSTATED
    mig: str = UNSTATED
    count: str = UNSTATED
    interconnect: str = UNSTATED
    ecc: str = UNSTATED
    power_limit: str = UNSTATED
    clock_policy: str = UNSTATED
    confidential: str = UNSTATED
    product_id: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An implementation across its revisions: (project, entry point)."""

    id: str
    title: str
    project: str
    entry_point: str
    restated: bool = False
    restates: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """When it was measured, as the source said it; ``date`` is the calendar date, if any."""

    text: str
    zone: str
    date: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correctness:
    """What the run says of its own correctness; ``asserted`` needs a comparator that checks."""

    asserted: bool
    comparator: str
    max_absolute_error: float | None = None
    max_relative_error: float | None = None
    matched_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One named reason to trust a number less.

    ``effect`` is the class: ``blocks`` a claim, ``shifts`` the number, or ``note``.
    ``shift_ns`` is signed and only set where the size is known.
    """

    code: str
    effect: str
    text: str
    shift_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Work of one call: floating point operations and compulsory bytes.

    ``sure_bytes`` are the bytes that a call moves whatever its data, where that may be fewer: of
    an expert MLP at few tokens the weights of k experts.
    """

    flops: int | None
    bytes: int | None
    sure_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Everything policy may use about one run.

    ``stated`` names what its manifests bring of a reproducible run: source, workload,
    protocol, samples.
    """

    digest: str
    status: str
    primary: Primary | None
    primary_problem: str | None
    spread: Spread | None
    interval: Interval | None
    sample_count: int | None
    shape: Shape
    timed_pass: TimedPass
    protocol: ProtocolSemantics
    correctness_key: str
    correctness: Correctness
    device: DeviceClass
    line: Line
    revision: str
    implementation_digest: str
    workload_digest: str
    operation_digest: str
    implementation_operation_digest: str
    protocol_digest: str
    environment_digest: str
    stack: tuple[tuple[str, str], ...]
    source: str
    observed: Observed
    cost: Cost | None = None
    source_doubts: tuple[Doubt, ...] = ()
    bound: tuple[str, ...] = ()
    superseded_by: str | None = None
    retracted: str | None = None
    inferred: bool = False
    stated: tuple[str, ...] = ()
    samples: Samples | None = None
    telemetry: Telemetry | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
