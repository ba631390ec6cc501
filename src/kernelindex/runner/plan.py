"""The plan of one batch: everything that is fixed before the first call is timed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping  # noqa: TC003 - read at run time to parse plans
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner.dataclass_json import ShapeError, from_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

FORMAT_VERSION = 1
TRAINING = ("forward", "backward", "full")
PASSES = ("inference", *TRAINING)
GRADIENT_PASSES = ("backward", "full")
CACHE = ("cold", "hot")
LOAD = ("burst", "sustained")
EXECUTION = ("eager", "graph")
GAPS = ("spun", "worked")
PURPOSES = ("records", "study", "try", "reproduce")
INTERFACES = ("torch", "numpy")
GRADIENTS = ("leaf", "non_leaf")
GRADIENT_BUFFERS = ("fresh", "accumulated")
_MAX_PLAN_BYTES = 64 << 20
# Processes, correctness, examination: the least a generation takes beyond its rounds.
_OVERHEAD_SECONDS = 10.0
_ROUNDS_SHARE = 0.6
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_ID = 200


class PlanError(KernelIndexError):
    """Raised when a plan cannot be read, or asks for what no batch can do."""

    code = "plan.invalid"


def _need(condition: bool, wanted: str) -> None:
    if not condition:
        raise ValueError(wanted)


def _need_id(text: str) -> None:
    _need(0 < len(text) <= _MAX_ID and text.isprintable(), f"an id of 1 to {_MAX_ID} letters")


def _need_some_of(values: tuple[str, ...], known: tuple[str, ...], name: str) -> None:
    fits = bool(values) and len(set(values)) == len(values) and set(values) <= set(known)
    _need(fits, f"{name} to be one or more of {', '.join(known)}, each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How every point of a batch is measured; seconds, bytes and counts.

    ``half_width_target`` is relative, of the 95 % interval of every pair of candidates;
    ``max_generations`` are run only while it is not reached. ``audited_passes``
    passes of each candidate, drawn by the batch, are audited in the first generation (None: all);
    candidates from a file are audited in all. ``gaps`` is what holds a device before a call under
    sustained load in a cold cache: a spin, as in plans that do not say, or work (docs/adr/0015).
    """

    generations: int = 3
    max_generations: int = 3
    rounds: int = 8
    round_seconds: float = 0.3
    min_samples: int = 3
    max_samples: int = 100
    warmup_seconds: float = 0.5
    warmup_calls: int = 5
    switch_warmup_calls: int = 3
    switch_warmup_seconds: float = 0.3
    half_width_target: float = 0.005
    rotation_sets: int = 3
    cache: tuple[str, ...] = ("cold",)
    load: tuple[str, ...] = ("sustained", "burst")
    execution: tuple[str, ...] = ("eager",)
    burst_samples: int = 10
    burst_idle_seconds: float = 0.1
    command_timeout_seconds: float = 120.0
    checks_per_generation: int = 2
    audited_passes: int | None = None
    pad_bytes: int = 64 << 20
    gaps: str = "spun"

    def __post_init__(self) -> None:
        _need(1 <= self.generations <= self.max_generations, "1 <= generations <= maxGenerations")
        _need(self.rounds >= 1, "at least one round")
        _need(1 <= self.min_samples <= self.max_samples, "1 <= minSamples <= maxSamples")
        _need(self.rotation_sets >= 1, "rotationSets of at least 1")
        _need(self.command_timeout_seconds > 0, "commandTimeoutSeconds above 0")
        _need(self.checks_per_generation >= 0, "checksPerGeneration of 0 or more")
        _need((self.audited_passes or 0) >= 0, "auditedPasses of 0 or more, or null")
        _need(min(self.pad_bytes, self.burst_samples) >= 0, "padBytes, burstSamples >= 0")
        _need_some_of(self.cache, CACHE, "cache")
        _need_some_of(self.load, LOAD, "load")
        _need_some_of(self.execution, EXECUTION, "execution")
        _need(self.gaps in GAPS, f"gaps of {', '.join(GAPS)}")

    def least_seconds(self, passes: int) -> float:
        """What one generation takes at least, for so many passes of all candidates together."""
        regimes = len(self.cache) * len(self.load) * len(self.execution)
        each = self.round_seconds + self.switch_warmup_seconds
        return _OVERHEAD_SECONDS + _ROUNDS_SHARE * self.rounds * passes * regimes * each


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The trusted piece of work that every batch of a runner measures beside its candidates."""

    id: str = "kernelindex/anchor-matmul"
    entry: str = "kernelindex.runner.calibration.anchor:matmul"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """What one output or gradient may be off; None: that bound is not asked.

    They take the place of the operation's, whose ``ToleranceSpec`` says what each measures.
    """

    frobenius: float
    worst_row: float | None = None
    max_rel: float | None = None
    max_abs: float | None = None
    error_ratio: float | None = None

    def __post_init__(self) -> None:
        relative = (self.worst_row, self.max_rel, self.max_abs, self.error_ratio)
        asked = [self.frobenius, *(one for one in relative if one is not None)]
        _need(min(asked) > 0, "bounds above 0, or null where one is not asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One entry point to measure.

    ``entry`` is ``module:function``, or the function's name where ``file`` is set (a path
    inside the plan's folder, or absolute). ``prepare`` likewise, for static inputs.
    """

    id: str
    entry: str
    passes: tuple[str, ...]
    interface: str = "torch"
    prepare: str | None = None
    file: str | None = None
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _need_id(self.id)
        _need_some_of(self.passes, PASSES, "passes")
        _need(self.interface in INTERFACES, f"interface of {', '.join(INTERFACES)}")
        _need(self.file is not None or ":" in self.entry, "entry as module:function, or a file")
        leads_out = self.file is not None and ".." in PurePosixPath(self.file).parts
        _need(not leads_out, "file without .., inside the plan's folder or absolute")
        gradients = set(GRADIENT_PASSES) & set(self.passes)
        _need(self.interface == "torch" or not gradients, "no gradients of a numpy candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Physical floor of a call by pass (ns), and resident memory a candidate may take.

    ``memory_bytes`` of 0 leaves the worker's own limit, a share of the machine's memory.
    """

    floor_ns: Mapping[str, float] = field(default_factory=dict)
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One workload with everything that is measured at it; every axis is 1 or more.

    ``dtypes`` maps a tensor to its dtype id (bf16, fp32…). ``trusted`` is the id of the
    candidate whose error is the denominator of the error ratio. ``material`` is opaque here.
    """

    id: str
    operation: str
    axes: Mapping[str, int]
    dtypes: Mapping[str, str]
    passes: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    distribution: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    gradients: str = "leaf"
    gradient_buffers: str = "fresh"
    draws: tuple[str, ...] = ("own",)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    trusted: str | None = None
    limits: Limits = field(default_factory=Limits)
    material: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _need_id(self.id)
        for name, size in self.axes.items():
            _need(size >= 1, f"axes of 1 or more: {name} is {size}")
        ids = [one.id for one in self.candidates]
        _need(bool(ids) and len(set(ids)) == len(ids), "one or more candidates of different ids")
        _need_some_of(self.passes, PASSES, "passes")
        _need(self.gradients in GRADIENTS, f"gradients of {', '.join(GRADIENTS)}")
        _need(self.gradient_buffers in GRADIENT_BUFFERS, "gradientBuffers fresh or accumulated")
        _need(bool(self.draws) and self.draws[0] == "own", "draws that begin with own")
        named = all(_NAME.fullmatch(one) for one in self.draws)
        _need(named and len(set(self.draws)) == len(self.draws), "names of draws, each once")
        _need(self.trusted is None or self.trusted in ids, "trusted to be a candidate's id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One numbered batch of one runner on one device (``cpu`` or ``cuda:<n>``)."""

    number: int
    runner: str
    device: str
    points: tuple[Point, ...]
    purpose: str = "records"
    time_budget_seconds: float = 540.0
    rules: Rules = field(default_factory=Rules)
    anchor: Anchor = field(default_factory=Anchor)
    format_version: int = FORMAT_VERSION
    material: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _need(self.format_version == FORMAT_VERSION, f"formatVersion {FORMAT_VERSION}")
        _need(self.number >= 0, "a number of 0 or more")
        named = _NAME.fullmatch(self.runner) is not None
        _need(named, "runner as a name of letters, digits, . _ - (up to 100)")
        _need(self.time_budget_seconds > 0, "timeBudgetSeconds above 0")
        _need(self.purpose in PURPOSES, f"purpose of {', '.join(PURPOSES)}")
        ids = [one.id for one in self.points]
        _need(bool(ids) and len(set(ids)) == len(ids), "one or more points of different ids")
        added_up = any(one.gradient_buffers == "accumulated" for one in self.points)
        _need(not added_up or self.rules.execution == ("eager",), "accumulated gradients in eager")
        kind, colon, index = self.device.partition(":")
        known = self.device == "cpu" or (kind == "cuda" and bool(colon) and index.isdigit())
        _need(known, "device as cpu or cuda:<index>")

    @property
    def least_seconds(self) -> float:
        """What the whole batch takes at least, its least number of generations."""
        per_point = (
            sum(len(set(one.passes) & set(point.passes)) for one in point.candidates)
            for point in self.points
        )
        return self.rules.generations * sum(map(self.rules.least_seconds, per_point))

    @property
    def is_host_trial(self) -> bool:
        """Whether somebody waits at a CPU for what their own file comes to."""
        return self.purpose == "try" and self.device == "cpu"

    def subjects(self, point: Point) -> frozenset[str]:
        """Ids of the candidates that a trial is about, files of one's own; else none."""
        own = (one.id for one in point.candidates if one.file is not None)
        return frozenset(own if self.purpose == "try" else ())


def parse_plan(text: str | bytes, where: str = "plan") -> Plan:
    """A plan from its JSON; raises PlanError naming the key, what it held and what is wanted."""
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats)
        version = value.get("formatVersion", FORMAT_VERSION) if isinstance(value, dict) else None
        if version not in (FORMAT_VERSION, None):
            raise ShapeError("formatVersion", version, f"{FORMAT_VERSION}, as it is written here")
        return from_json(Plan, value)
    except ShapeError as error:
        raise PlanError(f"{where}: {error}", path=error.path) from error
    except ValueError as error:
        raise PlanError(f"{where}: not JSON: {error}") from error


def load_plan(path: Path) -> Plan:
    """The plan in a file; raises PlanError, also where the file cannot be read."""
    try:
        if path.stat().st_size > _MAX_PLAN_BYTES:
            raise PlanError(f"{path}: larger than {_MAX_PLAN_BYTES} bytes; split the plan")
        return parse_plan(path.read_bytes(), str(path))
    except OSError as error:
        raise PlanError(f"{path}: cannot be read ({error.strerror}); pass a plan file") from error


def plan_to_json(plan: Plan) -> str:
    """The plan as JSON text that ``parse_plan`` reads back to an equal plan."""
    return json.dumps(to_json(plan), indent=1, allow_nan=False) + "\n"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ShapeError(repeated[0], "the key twice", "every key once")
    return dict(pairs)
