"""Every problem code that the API answers with, its HTTP status and its meaning.

docs/reference/api.md lists this table, a test holds it to that, and another produces each.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CODES", "Code", "code_of"]


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of problem: ``title`` is the same for every occurrence."""

    code: str
    status: int
    title: str


_TABLE = """
    route.not_found                404  There is no such address
    route.method                   405  The address does not take this method
    run.not_found                  404  No run has this name
    run.ambiguous                  409  Several runs have this name
    run.not_derived                404  The object is stored but is no kernel run with a rank
    operation.not_found            404  No operation has this name
    operation.ambiguous            409  Several operations have this name
    implementation.not_found       404  No implementation has this name
    implementation.ambiguous       409  Several implementations have this name
    workload.not_found             404  No workload has this name
    workload.ambiguous             409  Several workloads have this name
    protocol.not_found             404  No protocol has this name
    protocol.ambiguous             409  Several protocols have this name
    environment.not_found          404  No environment has this name
    environment.ambiguous          409  Several environments have this name
    project.not_found              404  No project has this name
    project.ambiguous              409  Several projects have this name
    hardware.not_found             404  Nothing was measured on this hardware
    source.not_found               404  No source has this name
    cohort.not_found               404  No one group has this key
    manifest.not_found             404  No manifest has this digest
    artifact.not_found             404  No artifact has this digest
    schema.not_found               404  There is no such schema
    export.not_found               404  There is no such export
    request.parameter_unknown      400  A query parameter is not known
    request.parameter_repeated     400  A query parameter is given twice
    request.parameter_missing      400  A query parameter is missing
    request.parameter_invalid      400  A query parameter has a value it cannot have
    request.limit                  400  The page size is out of bounds
    request.cursor                 400  The cursor is not of this list and these filters
    request.media_type             415  The body is not JSON
    request.body_too_large         413  The body is too large
    request.query_too_long         414  The address is too long
    request.batch                  422  A batch is a list of 1 to 50 questions
    request.not_an_object          422  A question is a JSON object
    request.field_unknown          422  A field of the question is not known
    request.field_invalid          422  A field of the question has a value it cannot have
    request.empty                  422  The question names neither operation nor hardware
    request.axis_value             422  The size of an axis is out of bounds
    request.axis_unknown           422  The operation has no such axis
    request.axis_repeated          422  An axis is given twice with different sizes
    request.dtype_unknown          422  No dtype has this name
    request.hardware_unknown       422  No GPU has this name
    request.metric_unknown         422  No metric has this name
    request.licence_unknown        422  SPDX has no licence of this name
    request.several_gpus           422  The question is about several GPUs at once
    request.operation_unknown      422  No operation has this name
    query.too_long                 422  The text of the question is too long
    query.axis_value               422  The size of an axis is not a whole number
    query.repeated                 422  The question gives two values for one thing
    query.filter_unknown           422  A filter of the question is not known
    query.filter_empty             422  A filter of the question has no value
    query.filter_value             422  A filter of the question has a value it cannot have
    compare.count                  422  A comparison takes 2 to 8 runs
    canonical.syntax               400  The body is not JSON
    canonical.encoding             400  The body is not UTF-8
    canonical.duplicate_key        400  The body has a key twice in one object
    canonical.not_finite           400  The body has a number that is not finite
    canonical.integer_range        400  The body has an integer beyond 2^53-1
    canonical.surrogate            400  The body has half of a surrogate pair
    canonical.too_deep             400  The body is nested too deep
    key.missing                    401  An API key is needed
    key.invalid                    401  The API key is not known here
    key.expired                    401  The API key has expired
    key.revoked                    401  The API key was revoked
    key.scope                      403  The API key may not do this
    contribution.invalid           422  The contribution breaks a rule
    contribution.rate_limited      429  Too many contributions in a short time
    contribution.queue_full        503  The queue of unreviewed contributions is full
    contribution.read_only         503  This site takes no contributions
    rate.limited                   429  Too many requests from this address
    catalog.read_time_limit        503  The question took too long and was stopped
    catalog.stale                  503  The catalog is not of the version that answers
    catalog.unavailable            503  The catalog cannot answer now
    unexpected                     500  This is a bug
"""


def _parse(line: str) -> Code:
    code, status, title = line.split(maxsplit=2)
    return Code(code, int(status), title)


CODES: dict[str, Code] = {
    entry.code: entry for entry in map(_parse, filter(None, map(str.strip, _TABLE.splitlines())))
}


def code_of(name: str, *, otherwise: str = "unexpected") -> Code:
    """The entry of a code; that of ``otherwise`` where the table has none."""
    return CODES.get(name) or CODES[otherwise]
