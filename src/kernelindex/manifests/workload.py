"""WorkloadCase and WorkloadSuite: exact benchmarkable cases, alone or as a list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from kernelindex.manifests.fields import (
    Artifact,
    Count,
    Digest,
    Int,
    Items,
    Maybe,
    Model,
    NonNegative,
    Number,
    Positive,
    Ratio,
    Text,
    Text200,
    Text500,
    Token,
    TokenSet,
)

SpecialValuePolicy = Literal["reject", "exact_match", "ignore"]
Shape = Annotated[Items[Count], Field(min_length=1)]


class TensorData(Model):
    """How the values of a tensor are made."""

    generator: Token = Field(description="Named generator, such as normal.")
    seed: Maybe[Int] = Field(None, description="Seed, where it is part of the case.")
    parameters: Maybe[dict[Token, Number]] = Field(None, description="Numbers it takes.")
    artifact: Maybe[Artifact] = Field(None, description="Recorded values.")


class _TensorBase(Model):
    shape: Shape = Field(description="Extent of each dimension, outermost first.")
    dtype: Token = Field(description="Element type.")
    strides: Maybe[Items[Int]] = Field(None, description="Elements between neighbours.")
    alignment_bytes: Maybe[Positive] = Field(None, description="Alignment of the first element.")


class Tensor(_TensorBase):
    """A concrete tensor."""

    data: Maybe[TensorData] = Field(None, description="How its values are made.")


class Scalar(Model):
    """A concrete scalar."""

    dtype: Token = Field(description="Type of the value.")
    value: bool | Number | Text = Field(description="The value.")


class Correctness(Model):
    """When a result counts as correct."""

    comparator: Token = Field(description="Named comparison; not_asserted where none is made.")
    max_absolute_error: Maybe[NonNegative] = Field(None, description="Largest absolute error.")
    max_relative_error: Maybe[NonNegative] = Field(None, description="Largest relative error.")
    required_matched_ratio: Maybe[Ratio] = Field(None, description="Share that must match.")
    nan_policy: Maybe[SpecialValuePolicy] = Field(None, description="What NaN in a result means.")
    infinity_policy: Maybe[SpecialValuePolicy] = Field(None, description="The same for infinities.")


class _CaseBase(Model):
    operation_spec_digest: Digest = Field(description="The operation.")
    axes: dict[Token, Int] = Field(description="Value of each axis.")
    scalars: Maybe[dict[Token, Scalar]] = Field(None, description="Scalar arguments by name.")


class WorkloadCase(_CaseBase):
    """One exact benchmarkable case."""

    tensors: dict[Token, Tensor] = Field(description="Tensors by argument name.")
    correctness: Correctness = Field(description="When a result counts as correct.")


class SuiteCase(Model):
    """One case of a suite."""

    external_id: Text200 = Field(description="The source's id of the case.")
    axes: dict[Token, Int] = Field(description="Value of each axis.")


class SuiteCorrectness(Model):
    """When a result counts as correct, as the source says it."""

    comparator: Token = Field(description="Named comparison.")
    description: Maybe[Text500] = Field(None, description="The rule in words.")


class Aggregation(Model):
    """The one number published for the whole suite."""

    metric: Token = Field(description="Metric that is aggregated.")
    statistic: Token = Field(description="How, such as geomean.")


class WorkloadSuite(Model):
    """An ordered list of cases with a published aggregate."""

    operation_spec_digest: Digest = Field(description="The operation.")
    cases: Annotated[Items[SuiteCase], Field(min_length=1)] = Field(description="Cases in order.")
    correctness: SuiteCorrectness = Field(description="When a result counts as correct.")
    aggregation: Aggregation = Field(description="The published aggregate.")


class DataV2(Model):
    """How values are made, with parameters of any scalar type."""

    generator: Token = Field(description="Named generator, such as normal.")
    seed: Maybe[Int] = Field(
        None, description="Only where the seed is part of the case; a controlled run draws its own."
    )
    parameters: Maybe[dict[Token, bool | Number | Text200]] = Field(
        None, description="What the generator takes."
    )
    artifact: Maybe[Artifact] = Field(None, description="Recorded values.")


class TensorV2(_TensorBase):
    """A concrete tensor and its part in a step."""

    data: Maybe[DataV2] = Field(None, description="How its values are made.")
    role: Maybe[Literal["static", "per_call"]] = Field(
        None, description="static: weights, may be prepared once; per_call: new for every call."
    )


class Routing(Model):
    """How work is distributed over experts or groups."""

    distribution: Literal["uniform", "balanced", "skewed", "zipf", "single_expert", "recorded"] = (
        Field(
            description="uniform: random with equal odds; balanced: equal counts; skewed, zipf: "
            "by parameters; single_expert: all to one; recorded: from the artifact."
        )
    )
    generator: Maybe[Token] = Field(None, description="Named generator of the assignment.")
    parameters: Maybe[dict[Token, bool | Number | Text200]] = Field(
        None, description="What the generator takes."
    )
    artifact: Maybe[Artifact] = Field(None, description="Recorded assignment.")

    @model_validator(mode="after")
    def _recorded_has_artifact(self) -> Routing:
        if self.distribution == "recorded" and self.artifact is None:
            raise PydanticCustomError("recorded_artifact", "an artifact, as it is recorded")
        return self


class Tolerance(Model):
    """When one output or gradient counts as correct."""

    comparator: Maybe[Token] = Field(None, description="Named comparison, if not the case's own.")
    max_absolute_error: Maybe[NonNegative] = Field(None, description="Largest absolute error.")
    max_relative_error: Maybe[NonNegative] = Field(None, description="Largest relative error.")
    max_frobenius_error: Maybe[NonNegative] = Field(
        None, description="Largest relative Frobenius error of the whole output."
    )
    max_worst_row_error: Maybe[NonNegative] = Field(
        None, description="Largest relative Frobenius error of one row, group or expert."
    )
    max_error_ratio: Maybe[NonNegative] = Field(
        None, description="Largest ratio to the error of a trusted implementation of equal dtype."
    )
    required_matched_ratio: Maybe[Ratio] = Field(None, description="Share that must match.")
    nan_policy: Maybe[SpecialValuePolicy] = Field(None, description="What NaN in it means.")
    infinity_policy: Maybe[SpecialValuePolicy] = Field(None, description="The same for infinities.")


class ReferencePrecision(Model):
    """What results are compared with."""

    precision: Literal["fp64", "fp32"] = Field(description="Precision it computes in.")
    tf32: Maybe[bool] = Field(None, description="Whether TF32 was allowed; false where controlled.")
    language: Maybe[Token] = Field(None, description="Language of the reference program.")
    artifact: Maybe[Artifact] = Field(None, description="The reference program.")


class CorrectnessV2(Correctness):
    """When a result counts as correct, and against what."""

    reference: Maybe[ReferencePrecision] = Field(None, description="What it is compared with.")


class WorkloadCaseV2(_CaseBase):
    """One exact benchmarkable case, with data, roles and tolerances of its own."""

    tensors: dict[Token, TensorV2] = Field(description="Tensors by argument name.")
    correctness: CorrectnessV2 = Field(description="When a result counts as correct.")
    routing: Maybe[Routing] = Field(None, description="How work is distributed over experts.")
    gradients: Maybe[TokenSet] = Field(None, description="Inputs whose gradients are computed.")
    upstream_gradients: Maybe[dict[Token, DataV2]] = Field(
        None, description="How the gradient of each output is made."
    )
    tolerances: Maybe[dict[Token, Tolerance]] = Field(
        None, description="By output name; the gradient of input x is grad_x."
    )
