"""The five kinds of end-to-end serving; never mixed with kernel runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kernelindex.manifests.fields import (
    Commit,
    Count,
    Digest,
    Instant,
    Items,
    Maybe,
    Model,
    NonNegative,
    Number,
    Slug,
    Text,
    Text120,
    Text200,
    Text500,
    Token,
    Url,
)
from kernelindex.manifests.run import RunMeasurement


class ModelRepository(Model):
    """Where the weights are."""

    host: Text = Field(description="Host, such as huggingface.")
    id: Text = Field(description="Id there.")
    revision: Maybe[Text] = Field(None, description="Revision there.")


class Tokenizer(Model):
    """The tokenizer."""

    name: Maybe[Text] = Field(None, description="Name.")
    revision: Maybe[Text] = Field(None, description="Revision.")
    digest: Maybe[Digest] = Field(None, description="Digest of its files.")


class ModelRevision(Model):
    """A served model."""

    model: Text200 = Field(description="Name of the model.")
    repository: Maybe[ModelRepository] = Field(None, description="Where the weights are.")
    tokenizer: Maybe[Tokenizer] = Field(None, description="The tokenizer.")
    architecture: Maybe[Text] = Field(None, description="Architecture in words.")
    parameter_count: Maybe[Count] = Field(None, description="Parameters.")
    context_length: Maybe[Count] = Field(None, description="Longest context, tokens.")
    modality: Maybe[Text] = Field(None, description="Modality, such as text.")
    license: Maybe[Text] = Field(None, description="Licence of the weights.")


class StackProject(Model):
    """The serving software."""

    name: Text = Field(description="Name.")
    repository: Maybe[Url] = Field(None, description="Source repository.")


class StackRevision(Model):
    """Its revision."""

    version: Maybe[Text120] = Field(None, description="Version.")
    commit: Maybe[Commit] = Field(None, description="Commit.")
    container_digest: Maybe[Digest] = Field(None, description="Container image.")


class ServingStackRevision(Model):
    """One revision of serving software."""

    project: StackProject = Field(description="The software.")
    revision: StackRevision = Field(description="Its revision.")
    backends: Maybe[Annotated[Items[Text], Field(max_length=8)]] = Field(
        None, description="Backends in use."
    )
    api_protocol: Maybe[Text] = Field(None, description="Protocol it speaks.")
    license: Maybe[Text] = Field(None, description="Licence.")


class Parallelism(Model):
    """Degrees of parallelism."""

    tensor: Maybe[Count] = Field(None, description="Tensor parallel.")
    pipeline: Maybe[Count] = Field(None, description="Pipeline parallel.")
    data: Maybe[Count] = Field(None, description="Data parallel.")
    expert: Maybe[Count] = Field(None, description="Expert parallel.")
    context: Maybe[Count] = Field(None, description="Context parallel.")


class KvCache(Model):
    """The key-value cache."""

    dtype: Maybe[Token] = Field(None, description="Element type.")
    capacity_tokens: Maybe[Count] = Field(None, description="Tokens it holds.")


class ServingLimits(Model):
    """Limits in force."""

    max_sequence_length: Maybe[Count] = Field(None, description="Tokens a sequence.")
    max_batch_size: Maybe[Count] = Field(None, description="Sequences a batch.")
    max_num_tokens: Maybe[Count] = Field(None, description="Tokens a batch.")


class Speculative(Model):
    """Speculative decoding."""

    method: Text = Field(description="Method.")
    draft_model: Maybe[Text] = Field(None, description="Draft model.")


class ServingConfiguration(Model):
    """How a stack is set up."""

    stack_digest: Digest = Field(description="The stack.")
    dtype: Maybe[Token] = Field(None, description="Element type of weights.")
    quantization: Maybe[Text] = Field(None, description="Quantization scheme.")
    parallelism: Maybe[Parallelism] = Field(None, description="Degrees of parallelism.")
    attention_backend: Maybe[Text] = Field(None, description="Attention backend.")
    kv_cache: Maybe[KvCache] = Field(None, description="The key-value cache.")
    limits: Maybe[ServingLimits] = Field(None, description="Limits in force.")
    speculative: Maybe[Speculative] = Field(None, description="Speculative decoding.")
    options: Maybe[dict[Token, Text500]] = Field(None, description="Other options.")


class Dataset(Model):
    """The requests' origin."""

    name: Text = Field(description="Name.")
    digest: Maybe[Digest] = Field(None, description="Digest of its content.")


class TokenCount(Model):
    """Distribution of a number of tokens."""

    distribution: Text = Field(description="Kind of distribution.")
    mean: Maybe[NonNegative] = Field(None, description="Mean.")
    maximum: Maybe[NonNegative] = Field(None, description="Maximum.")
    artifact_digest: Maybe[Digest] = Field(None, description="Recorded lengths.")


class TokenCounts(Model):
    """Tokens a request."""

    prompt: Maybe[TokenCount] = Field(None, description="Tokens in.")
    output: Maybe[TokenCount] = Field(None, description="Tokens out.")


class Objective(Model):
    """A service level to keep."""

    metric: Token = Field(description="What is limited.")
    statistic: Token = Field(description="Statistic of it.")
    operator: Literal["<=", "<"] = Field(description="Comparison.")
    value: Number = Field(description="Limit.")
    unit: Token = Field(description="Unit of the limit.")


class Sampling(Model):
    """How tokens are drawn."""

    temperature: Maybe[NonNegative] = Field(None, description="Temperature.")
    seeded: Maybe[bool] = Field(None, description="Whether a seed is set.")


class ServingWorkload(Model):
    """What is asked of a served model."""

    dataset: Maybe[Dataset] = Field(None, description="The requests' origin.")
    tokens: Maybe[TokenCounts] = Field(None, description="Tokens a request.")
    streaming: bool = Field(description="Whether tokens are streamed.")
    load_generation: Literal["open_loop", "closed_loop", "offline"] = Field(
        description="How requests are issued."
    )
    arrival: Maybe[Text] = Field(None, description="Arrival process.")
    request_rate_per_second: Maybe[NonNegative] = Field(None, description="Requests a second.")
    slo: Maybe[Annotated[Items[Objective], Field(max_length=8)]] = Field(
        None, description="Service levels to keep."
    )
    sampling: Maybe[Sampling] = Field(None, description="How tokens are drawn.")
    duration_seconds: Maybe[NonNegative] = Field(None, description="Duration.")
    request_count: Maybe[Count] = Field(None, description="Requests.")


class Topology(Model):
    """Accelerators and nodes."""

    accelerator_vendor: Maybe[Token] = Field(None, description="Vendor.")
    accelerator_model: Text = Field(description="Accelerator as the source names it.")
    accelerators_per_node: Count = Field(description="Accelerators a node.")
    node_count: Count = Field(description="Nodes.")
    interconnect: Maybe[Text] = Field(None, description="Link between accelerators.")


class ServingHarness(Model):
    """The load generator."""

    name: Text = Field(description="Name.")
    version: Text = Field(description="Version.")


class ServingSourceNative(Model):
    """The result as the source published it."""

    source: Slug = Field(description="The source.")
    benchmark: Text = Field(description="Its benchmark.")
    scenario: Text = Field(description="Its scenario.")
    division: Text = Field(description="Its division.")
    category: Text = Field(description="Its category.")
    external_id: Text = Field(description="Its id of the row.")
    metrics: Maybe[dict[Token, Number | Text]] = Field(None, description="In its own units.")


class ServingRun(Model):
    """One end-to-end measurement."""

    model_digest: Digest = Field(description="The model.")
    configuration_digest: Digest = Field(description="The configuration.")
    workload_digest: Digest = Field(description="The workload.")
    topology: Topology = Field(description="Accelerators and nodes.")
    harness: ServingHarness = Field(description="The load generator.")
    placement: Maybe[Text] = Field(None, description="Where parts run.")
    quality_policy: Text = Field(description="Rule that results have to keep.")
    status: Literal["valid", "invalid", "incomplete_evidence"] = Field(description="How it ended.")
    measurements: Annotated[Items[RunMeasurement], Field(min_length=1, max_length=64)] = Field(
        description="The numbers."
    )
    source_native: Maybe[ServingSourceNative] = Field(None, description="As published.")
    caveats: Maybe[Annotated[Items[Text], Field(max_length=16)]] = Field(
        None, description="What to bear in mind."
    )
    observed_at: Instant = Field(description="When, in UTC.")
