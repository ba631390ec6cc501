"""BenchmarkProtocol: every rule that can change a timing's meaning, never a realised value."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from kernelindex.manifests.fields import (
    Commit,
    Count,
    Duration,
    Maybe,
    Model,
    Name,
    NonNegative,
    Positive,
    Ratio,
    Set,
    Text,
    Text200,
    Text500,
    Text1000,
    Token,
    Url,
)
from kernelindex.manifests.passes import TimedPass


class Harness(Model):
    """The program that measures."""

    name: Text200 = Field(description="Name of the program.")
    version: Maybe[Text] = Field(None, description="Its version.")
    repository: Maybe[Url] = Field(None, description="Its source repository.")
    commit: Maybe[Commit] = Field(None, description="Its commit.")


class Measurement(Model):
    """How one number is obtained."""

    timer: Token = Field(description="Clock, such as cuda_events or wall_clock.")
    synchronization: Maybe[Text] = Field(None, description="How the device is waited for.")
    compile_included: Maybe[bool] = Field(None, description="Whether compilation is timed.")
    setup_included: Maybe[bool] = Field(None, description="Whether set-up is timed.")
    warmup_iterations: Maybe[Count] = Field(None, description="Untimed calls before.")
    warmup_duration: Maybe[Duration] = Field(None, description="Untimed time before, ns.")
    measured_iterations: Maybe[Count] = Field(None, description="Timed calls a sample.")
    samples: Maybe[Count] = Field(None, description="Samples taken.")
    input_regeneration: Maybe[Text] = Field(None, description="When inputs are made anew.")
    outlier_policy: Maybe[Text500] = Field(None, description="Which samples are dropped.")
    primary_statistic: Token = Field(description="Statistic that is the result.")


class ProtocolCorrectness(Model):
    """How results are checked."""

    reference: Text500 = Field(description="What results are compared with.")
    comparator: Token = Field(description="Named comparison.")


class DevicePolicy(Model):
    """Settings of the device that the protocol demands."""

    clocks_locked: Maybe[bool] = Field(None, description="Whether clocks are locked.")
    power_limit_watts: Maybe[NonNegative] = Field(None, description="Power limit.")
    persistence_mode: Maybe[bool] = Field(None, description="Whether the driver stays loaded.")


class Comparability(Model):
    """Which results may be compared, in the source's words."""

    family: Text = Field(description="Name of the family of comparable results.")
    notes: Maybe[Text1000] = Field(None, description="Limits of comparison.")


class BenchmarkProtocol(Model):
    """Every rule that can change a timing's meaning."""

    harness: Harness = Field(description="The program that measures.")
    measurement: Measurement = Field(description="How one number is obtained.")
    correctness: Maybe[ProtocolCorrectness] = Field(None, description="How results are checked.")
    device_policy: Maybe[DevicePolicy] = Field(None, description="Device settings demanded.")
    comparability: Maybe[Comparability] = Field(None, description="What may be compared.")


RegionPart = Literal[
    "allocation", "host_work", "gradient_accumulation", "random_numbers", "synchronization"
]


class Controlled(Model):
    """Our controlled protocol of which this is an instance."""

    name: Name = Field(description="Name of the controlled protocol.")
    version: Positive = Field(description="Its version; a change of meaning raises it.")


class TimedRegion(Model):
    """What lies between start and stop besides the work itself."""

    includes: Set[RegionPart] = Field(description="Listed parts are timed; the others are not.")


class CacheRegime(Model):
    """State of the device's caches at the start of a sample."""

    regime: Literal["cold", "hot"] = Field(description="cold: flushed before; hot: left as is.")
    flush_bytes: Maybe[Positive] = Field(None, description="Bytes written and read to flush.")
    flush_multiple: Maybe[NonNegative] = Field(
        None, description="The same as a multiple of the last-level cache."
    )
    persisting_lines_reset: Maybe[bool] = Field(
        None, description="Whether persisting L2 lines are reset."
    )

    @model_validator(mode="after")
    def _only_cold_flushes(self) -> CacheRegime:
        if self.regime == "hot" and (self.flush_bytes or self.flush_multiple):
            raise PydanticCustomError("hot_flush", "no flush, as the regime is hot")
        return self


class LoadRegime(Model):
    """How hard the device has been working when a sample is taken."""

    regime: Literal["burst", "sustained"] = Field(
        description="burst: first samples after idle; sustained: after continuous load."
    )
    minimum_samples: Maybe[Positive] = Field(None, description="Back-to-back samples at least.")
    minimum_duration: Maybe[Duration] = Field(None, description="Back-to-back time at least, ns.")
    idle_before: Maybe[Duration] = Field(None, description="Idle time before a burst, ns.")


class ProcessModel(Model):
    """Which processes run a candidate."""

    model: Literal["fresh_per_generation", "one_per_candidate", "shared"] = Field(
        description="Fresh for each generation, one a candidate, or one for all."
    )
    generations: Maybe[Positive] = Field(None, description="Generations a candidate at least.")
    random_padding: Maybe[bool] = Field(None, description="Whether allocations get random padding.")
    isolated: Maybe[bool] = Field(None, description="Whether timers are out of its reach.")


class Interleaving(Model):
    """How candidates take turns."""

    order: Literal["none", "balanced", "random"] = Field(description="Order within a round.")
    rounds: Maybe[Positive] = Field(None, description="Rounds at least.")
    switch_warmup_samples: Maybe[Count] = Field(
        None, description="First samples after a switch that count as warm-up."
    )
    anchor: Maybe[Literal["none", "per_batch", "per_round", "per_candidate"]] = Field(
        None, description="How often a reference kernel is measured between."
    )
    swapped_whole: Maybe[bool] = Field(
        None, description="Whether candidates are unloaded whole where memory does not hold them."
    )


class Stopping(Model):
    """When measuring ends."""

    rule: Literal["fixed_samples", "interval_width", "time"] = Field(description="What ends it.")
    relative_half_width: Maybe[NonNegative] = Field(
        None, description="Half-width of the interval on the log ratio to reach."
    )
    confidence: Maybe[Ratio] = Field(None, description="Confidence of that interval.")
    minimum_rounds: Maybe[Positive] = Field(None, description="Rounds at least.")
    maximum_rounds: Maybe[Positive] = Field(None, description="Rounds at most.")
    maximum_duration: Maybe[Duration] = Field(None, description="Time at most, ns.")


class Warmup(Model):
    """When warm-up ends."""

    until: Literal["count", "duration", "steady"] = Field(description="What ends warm-up.")
    minimum_iterations: Maybe[Count] = Field(None, description="Calls at least.")
    minimum_duration: Maybe[Duration] = Field(None, description="Time at least, ns.")
    steady: Maybe[Set[Literal["samples", "clocks", "temperature", "compile_cache"]]] = Field(
        None, description="What has to be steady."
    )


class Inputs(Model):
    """How inputs change between calls."""

    sets: Maybe[Positive] = Field(None, description="Input sets that rotate.")
    seed: Maybe[Literal["drawn_per_batch", "fixed"]] = Field(
        None, description="drawn_per_batch: committed by hash first, revealed in the evidence."
    )
    upstream_gradient: Maybe[Literal["rotating", "constant"]] = Field(
        None, description="Whether the upstream gradient rotates too."
    )
    weights: Maybe[Literal["refreshed", "constant"]] = Field(
        None, description="Whether static tensors change between training calls."
    )


class Checks(Model):
    """When and on which draws results are checked."""

    draws: Maybe[Set[Literal["own", "stress", "uneven", "empty_group", "overfull_group"]]] = Field(
        None, description="Draws that are checked."
    )
    timed_calls: Maybe[bool] = Field(None, description="Whether timed calls are checked too.")


class BenchmarkProtocolV2(BenchmarkProtocol):
    """Every rule that can change a timing's meaning, the timed pass included."""

    timed_pass: Maybe[TimedPass] = Field(None, description="The pass timed; absent is unstated.")
    controlled: Maybe[Controlled] = Field(None, description="Our protocol it is an instance of.")
    timed_region: Maybe[TimedRegion] = Field(None, description="What is timed besides the work.")
    cache: Maybe[CacheRegime] = Field(None, description="Caches at the start of a sample.")
    load: Maybe[LoadRegime] = Field(None, description="Load of the device before a sample.")
    execution: Maybe[Literal["eager", "graph"]] = Field(None, description="How work is launched.")
    process: Maybe[ProcessModel] = Field(None, description="Which processes run a candidate.")
    interleaving: Maybe[Interleaving] = Field(None, description="How candidates take turns.")
    stopping: Maybe[Stopping] = Field(None, description="When measuring ends.")
    warmup: Maybe[Warmup] = Field(None, description="When warm-up ends.")
    inputs: Maybe[Inputs] = Field(None, description="How inputs change between calls.")
    gradients: Maybe[Literal["leaf", "non_leaf"]] = Field(
        None, description="Whether weights are leaf tensors, whose gradients are stored."
    )
    gradient_buffers: Maybe[Literal["fresh", "accumulated"]] = Field(
        None, description="Whether .grad is new each call or added to."
    )
    checks: Maybe[Checks] = Field(None, description="When and on which draws results are checked.")
    queue_filled: Maybe[bool] = Field(
        None, description="Whether the device queue is filled before the start event."
    )
    traced: Maybe[bool] = Field(None, description="Whether one untimed run is traced.")
