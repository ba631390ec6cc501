"""BenchmarkRun of v1alpha2: what our runner knows of a measurement besides its numbers."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from kernelindex.manifests.fields import (
    Artifact,
    Commit,
    Count,
    Digest,
    DoubtCode,
    Duration,
    Instant,
    Items,
    Maybe,
    Model,
    NonNegative,
    Number,
    Ratio,
    Text100,
    Text200,
    Text500,
    Text1000,
    Token,
    TokenSet,
    one_of,
)
from kernelindex.manifests.run import (
    Latency,
    RunBase,
    RunCorrectness,
    SourceNativeBase,
    Status,
    TimingBase,
)


class ObservedLocal(Model):
    """When, as a clock showed it whose zone is not known."""

    text: Text100 = Field(description="Date and time exactly as the source wrote them.")
    zone: Literal["unstated"] = Field(description="That the zone is not known.")


class LatencyV2(Latency):
    """Time of one call, each value in ns, with the quantiles do_bench reports."""

    p20: Maybe[Duration] = Field(None, description="20th percentile.")
    p80: Maybe[Duration] = Field(None, description="80th percentile.")


class TimingV2(TimingBase):
    """The measured time."""

    latency_ns: LatencyV2 = Field(description="Time of one call.")
    round_medians_ns: Maybe[Items[Items[Duration]]] = Field(
        None, description="Median of each round, a list for each process generation."
    )


class SourceNativeV2(SourceNativeBase):
    """The values as the source published them, texts such as "NaN" included."""

    metrics: Maybe[dict[Token, Number | Text200]] = Field(None, description="In its own units.")


class OutputErrors(Model):
    """What was found for one output or gradient."""

    passed: bool = Field(description="Whether it is within its tolerance.")
    finite: Maybe[bool] = Field(None, description="Whether it has no NaN and no infinity.")
    maximum_absolute_error: Maybe[NonNegative] = Field(None, description="Largest absolute error.")
    maximum_relative_error: Maybe[NonNegative] = Field(None, description="Largest relative error.")
    frobenius_error: Maybe[NonNegative] = Field(None, description="Relative Frobenius error.")
    worst_row_error: Maybe[NonNegative] = Field(None, description="The same of the worst row.")
    error_ratio: Maybe[NonNegative] = Field(
        None, description="Ratio to the error of a trusted implementation of equal dtype."
    )
    matched_ratio: Maybe[Ratio] = Field(None, description="Share that matched.")


class RunCorrectnessV2(RunCorrectness):
    """What was found when results were checked, by output."""

    outputs: Maybe[dict[Token, OutputErrors]] = Field(
        None, description="By output; the gradient of input x is grad_x."
    )
    draws: Maybe[TokenSet] = Field(None, description="Draws that were checked.")
    timed_calls_checked: Maybe[Count] = Field(None, description="Timed calls that were checked.")


class Runner(Model):
    """Who measured."""

    id: Text200 = Field(description="Name of the runner.")
    key_digest: Maybe[Digest] = Field(None, description="SHA-256 of its public key.")
    version: Maybe[Text100] = Field(None, description="Version of its program.")
    commit: Maybe[Commit] = Field(None, description="Commit of its program.")
    owner: Maybe[Text200] = Field(None, description="Who runs it.")
    host: Maybe[Text200] = Field(None, description="Machine, by a name of its own.")
    device: Maybe[Text200] = Field(None, description="Device, by its serial name or UUID.")


class Batch(Model):
    """The batch of measurements that this one was taken in."""

    id: Text200 = Field(description="Name of the batch.")
    number: Maybe[Count] = Field(None, description="Place in the runner's sequence, without gaps.")
    previous_digest: Maybe[Digest] = Field(None, description="Digest of the batch before.")
    seed_commitment: Maybe[Digest] = Field(None, description="SHA-256 of the seed, made first.")
    seed: Maybe[Text200] = Field(None, description="The seed, revealed afterwards.")
    generations: Maybe[Count] = Field(None, description="Process generations of this candidate.")
    rounds: Maybe[Count] = Field(None, description="Rounds of this candidate.")
    anchor_median: Maybe[Duration] = Field(None, description="Median of the batch's anchor, ns.")
    calibration: Maybe[Artifact] = Field(
        None, description="Self-checks and sentinels of the batch."
    )


class Range(Model):
    """A quantity over the measurement."""

    minimum: Maybe[Number] = Field(None, description="Smallest.")
    median: Maybe[Number] = Field(None, description="Median.")
    mean: Maybe[Number] = Field(None, description="Mean.")
    maximum: Maybe[Number] = Field(None, description="Largest.")
    samples: Maybe[Count] = Field(None, description="Readings.")


class Telemetry(Model):
    """What the device reported while it was measured."""

    driver: Maybe[Text100] = Field(None, description="Driver in use.")
    sm_clock_mhz: Maybe[Range] = Field(None, description="Multiprocessor clock.")
    memory_clock_mhz: Maybe[Range] = Field(None, description="Memory clock.")
    power_watts: Maybe[Range] = Field(None, description="Power.")
    temperature_celsius: Maybe[Range] = Field(None, description="Temperature.")
    energy_joules_per_call: Maybe[NonNegative] = Field(None, description="Energy of one call.")
    throttle_reasons: Maybe[TokenSet] = Field(None, description="Reasons seen.")
    other_processes: Maybe[Count] = Field(None, description="Other processes on the device.")
    ecc_errors: Maybe[Count] = Field(None, description="Memory errors counted.")
    artifact: Maybe[Artifact] = Field(None, description="All readings.")


class Memory(Model):
    """Device memory used."""

    peak_bytes: Maybe[Count] = Field(None, description="Peak allocation.")
    saved_bytes: Maybe[Count] = Field(None, description="Saved by forward for backward.")


class Traits(Model):
    """Properties found while measuring."""

    deterministic: Maybe[bool] = Field(None, description="Whether equal inputs gave equal bits.")
    graph_capturable: Maybe[bool] = Field(None, description="Whether it can be captured.")
    first_call: Maybe[Duration] = Field(None, description="First call, compilation included, ns.")
    setup: Maybe[Duration] = Field(None, description="Preparing static tensors, ns.")


class Executed(Model):
    """One device kernel that ran."""

    kernel: Text500 = Field(description="Its name.")
    share: Ratio = Field(description="Its share of the device's busy time.")
    launches: Maybe[Count] = Field(None, description="Launches a call.")


class Trace(Model):
    """What one untimed traced call showed."""

    launches: Maybe[Count] = Field(None, description="Launches a call.")
    busy_ratio: Maybe[NonNegative] = Field(None, description="Busy time over event time.")
    artifact: Maybe[Artifact] = Field(None, description="The trace.")


class NamedDoubt(Model):
    """A reason to trust the number less, found where it was measured."""

    code: DoubtCode = Field(description="Stable name.")
    effect: Literal["blocks", "shifts", "note"] = Field(
        description="Blocks a claim, shifts the number, or is a note."
    )
    shift_ns: Maybe[Number] = Field(None, description="Signed size, where known, ns.")
    text: Maybe[Text1000] = Field(None, description="In words.")


class Samples(Artifact):
    """The sample artifact."""

    media_type: Maybe[Text200] = Field(None, description="Format of the bytes.")
    count: Maybe[Count] = Field(None, description="Samples in it.")


StatusV2 = Literal[Status, "unstable", "aborted"]


class BenchmarkRunV2(RunBase):
    """One immutable measurement event, with who measured and what was seen."""

    model_config = ConfigDict(json_schema_extra=one_of("observedAt", "observedLocal"))

    status: StatusV2 = Field(
        description="How it ended; unstable: no steady interval; aborted: cut short."
    )
    correctness: Maybe[RunCorrectnessV2] = Field(None, description="What checking found.")
    timing: Maybe[TimingV2] = Field(None, description="The measured time.")
    source_native: Maybe[SourceNativeV2] = Field(None, description="As the source published it.")
    observed_at: Maybe[Instant] = Field(None, description="When, in UTC.")
    observed_local: Maybe[ObservedLocal] = Field(None, description="When, zone not known.")
    runner: Maybe[Runner] = Field(None, description="Who measured.")
    batch: Maybe[Batch] = Field(None, description="The batch it was taken in.")
    telemetry: Maybe[Telemetry] = Field(None, description="What the device reported.")
    memory: Maybe[Memory] = Field(None, description="Device memory used.")
    traits: Maybe[Traits] = Field(None, description="Properties found.")
    executed: Maybe[Items[Executed]] = Field(None, description="Device kernels that ran.")
    trace: Maybe[Trace] = Field(None, description="What a traced call showed.")
    doubts: Maybe[Items[NamedDoubt]] = Field(None, description="Named doubts.")
    samples: Maybe[Samples] = Field(None, description="All samples.")

    @model_validator(mode="after")
    def _one_time(self) -> BenchmarkRunV2:
        if (self.observed_at is None) == (self.observed_local is None):
            raise PydanticCustomError("exactly_one", "exactly one of observedAt and observedLocal")
        return self
