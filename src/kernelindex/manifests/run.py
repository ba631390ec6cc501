"""BenchmarkRun: one immutable measurement event."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from kernelindex.manifests.fields import (
    Artifact,
    Commit,
    Count,
    Digest,
    Duration,
    Instant,
    Items,
    Maybe,
    Model,
    NonNegative,
    Number,
    Ratio,
    Slug,
    Text200,
    Text500,
    Token,
    Url,
    any_of,
)

Status = Literal[
    "passed",
    "incorrect_shape",
    "incorrect_dtype",
    "incorrect_numerical",
    "compile_error",
    "runtime_error",
    "timeout",
    "resource_exceeded",
    "invalid_reference",
    "policy_violation",
    "suspected_reward_hack",
    "incomplete_evidence",
    "revoked",
]


Interval = Annotated[tuple[Duration, Duration], Field(strict=False)]


class RunCorrectness(Model):
    """What was found when results were checked."""

    comparator: Token = Field(description="Named comparison.")
    maximum_absolute_error: Maybe[NonNegative] = Field(None, description="Largest absolute error.")
    maximum_relative_error: Maybe[NonNegative] = Field(None, description="Largest relative error.")
    matched_ratio: Maybe[Ratio] = Field(None, description="Share that matched.")


class Latency(Model):
    """Time of one call, each value in ns."""

    model_config = ConfigDict(json_schema_extra=any_of("median", "mean"))

    median: Maybe[Duration] = Field(None, description="Median.")
    mean: Maybe[Duration] = Field(None, description="Mean.")
    p05: Maybe[Duration] = Field(None, description="5th percentile.")
    p95: Maybe[Duration] = Field(None, description="95th percentile.")
    minimum: Maybe[Duration] = Field(None, description="Smallest sample.")
    maximum: Maybe[Duration] = Field(None, description="Largest sample.")
    mad: Maybe[Duration] = Field(None, description="Median absolute deviation.")
    confidence95: Maybe[Interval] = Field(None, description="95 % interval, low and high.")

    @model_validator(mode="after")
    def _has_centre(self) -> Latency:
        if self.median is None and self.mean is None:
            raise PydanticCustomError("median_or_mean", "median or mean")
        return self


class TimingBase(Model):
    """How the time was sampled."""

    primary_statistic: Token = Field(description="Statistic that is the result.")
    samples: Maybe[Count] = Field(None, description="Samples taken.")
    raw_samples: Maybe[Artifact] = Field(None, description="All samples.")


class Timing(TimingBase):
    """The measured time."""

    latency_ns: Latency = Field(description="Time of one call.")


class RunMeasurement(Model):
    """One named number."""

    metric: Token = Field(description="What is measured, such as peak_memory.")
    unit: Token = Field(description="Unit of the value.")
    statistic: Token = Field(description="How samples became one number.")
    value: Number = Field(description="The number.")
    sample_count: Maybe[Count] = Field(None, description="Samples behind it.")


class SourceNativeBase(Model):
    """Who published the numbers."""

    source: Slug = Field(description="The source.")
    benchmark: Maybe[Text200] = Field(None, description="Its benchmark.")
    external_id: Maybe[Text500] = Field(None, description="Its id of the row.")


class SourceNative(SourceNativeBase):
    """The numbers as the source published them."""

    metrics: Maybe[dict[Token, Number]] = Field(None, description="Numbers in its own units.")


class EvidenceHarness(Model):
    """The harness that ran."""

    repository: Url = Field(description="Its repository.")
    commit: Commit = Field(description="Its commit.")


class Evidence(Model):
    """What remains of the measurement."""

    logs: Maybe[Artifact] = Field(None, description="Logs.")
    raw_samples: Maybe[Artifact] = Field(None, description="All samples.")
    harness: Maybe[EvidenceHarness] = Field(None, description="The harness that ran.")


class RunBase(Model):
    """What runs of every version have."""

    implementation_digest: Digest = Field(description="What was measured.")
    workload_digest: Digest = Field(description="The case or suite it was measured on.")
    protocol_digest: Digest = Field(description="By which rules.")
    environment_digest: Digest = Field(description="Where.")
    measurements: Maybe[Items[RunMeasurement]] = Field(None, description="Other numbers.")
    evidence: Maybe[Evidence] = Field(None, description="What remains of the measurement.")


class BenchmarkRun(RunBase):
    """One immutable measurement event tying the four to numbers."""

    status: Status = Field(description="How it ended.")
    correctness: Maybe[RunCorrectness] = Field(None, description="What checking found.")
    timing: Maybe[Timing] = Field(None, description="The measured time.")
    source_native: Maybe[SourceNative] = Field(None, description="As the source published it.")
    observed_at: Instant = Field(description="When, in UTC.")
