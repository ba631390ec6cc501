"""What a request means here: names read exactly, and everything assumed said aloud."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.hardware import find_family, find_gpu, fold_name, gpu_names
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.metrics import find_metric, load_metrics
from kernelindex.registry.sources_info import load_sources
from kernelindex.resolve.answer import Assumption, Reading, Suggestion
from kernelindex.resolve.name_notes import framework_notes, source_notes
from kernelindex.resolve.operations import OperationReading, read_operation
from kernelindex.resolve.problems import Problem, closest

if TYPE_CHECKING:
    from kernelindex.resolve.reads import Reads
    from kernelindex.resolve.request import Request


SEVERAL = re.compile(r"[0-9]+ ?x ?(?P<name>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Hardware as asked: the products it means, or a label kept as typed.

    ``whole_family`` accepts devices of the family whose form factor nobody stated;
    ``hardware_ids`` are devices no table knows but the catalog has.
    """

    asked: str
    product_ids: tuple[str, ...] = ()
    family: str | None = None
    whole_family: bool = False
    hardware_ids: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the name is in the table of GPU names, or is a label that has runs."""
        return bool(self.product_ids or self.hardware_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A request under our names; ``dtypes`` holds the accepted ids of each wish."""

    request: Request
    operation: OperationReading
    axes: dict[str, int] = field(default_factory=dict)
    dtypes: tuple[tuple[str, ...], ...] = ()
    device: Device | None = None
    source: str | None = None
    assumptions: tuple[Assumption, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    problems: tuple[Problem, ...] = ()


def interpret(catalog: Reads, request: Request) -> Meaning:
    """Read every name of a request by exact tables; what is not exact is said.

    Costs no read of the catalog where the operation and the GPU are in our tables.
    """
    operation = read_operation(catalog, request.operation)
    axes, axis_problems = _axes(operation, request)
    dtypes, dtype_notes, dtype_problems = _dtypes(request.dtypes)
    device = _device(catalog, request.hardware)
    return Meaning(
        request=request,
        operation=operation,
        axes=axes,
        dtypes=dtypes,
        device=device,
        source=(source := _source(request.source)),
        assumptions=(
            *operation.assumptions,
            *dtype_notes,
            *source_notes(catalog, source),
            *framework_notes(catalog, request.framework),
        ),
        suggestions=operation.suggestions,
        problems=(
            *operation.problems,
            *axis_problems,
            *dtype_problems,
            *_device_problems(device),
            *_metric_problems(request.metric),
            *_licence_problems(request.policy.licenses),
        ),
    )


def view_reading(meaning: Meaning) -> Reading:
    """The meaning as a part of the answer."""
    device = meaning.device
    return Reading(
        operations=meaning.operation.slugs,
        axes=meaning.axes,
        dtypes=meaning.dtypes,
        products=(*device.product_ids, *device.hardware_ids) if device else (),
        family=device.family if device else None,
        timed_pass=meaning.request.timed_pass,
        source=meaning.source,
        metric=meaning.request.metric,
    )


def _axes(
    operation: OperationReading, request: Request
) -> tuple[dict[str, int], tuple[Problem, ...]]:
    """Axes under our names; an operation of ours knows which axes it has."""
    if not operation.axis_names:
        return dict(request.axes), ()
    axes: dict[str, int] = {}
    problems: list[Problem] = []
    for name, value in request.axes.items():
        ours = operation.axis_names.get(name) or operation.axis_names.get(name.casefold())
        if ours is None:
            problems.append(_unknown_axis(operation, name))
        elif axes.setdefault(ours, value) != value:
            wanted = f"one value; {ours} is also given as {axes[ours]}"
            problems.append(Problem.of("request.axis_repeated", name, str(value), wanted))
    return axes, tuple(problems)


def _unknown_axis(operation: OperationReading, name: str) -> Problem:
    axes = sorted(set(operation.axis_names.values()))
    wanted = f"an axis of {operation.slugs[0]}: " + ", ".join(axes)
    correction = closest(name, operation.axis_names)
    ours = operation.axis_names[correction] if correction else None
    return Problem.of("request.axis_unknown", "/axes", name, wanted, ours)


def _dtypes(
    asked: tuple[str, ...],
) -> tuple[tuple[tuple[str, ...], ...], tuple[Assumption, ...], tuple[Problem, ...]]:
    """Accepted ids for each dtype asked; an ambiguous one accepts its variants, said aloud."""
    wishes: list[tuple[str, ...]] = []
    notes: list[Assumption] = []
    problems: list[Problem] = []
    for text in asked:
        match = resolve_dtype(text)
        if match.key:
            wishes.append((match.key,))
        elif match.ambiguous:
            wishes.append(match.ambiguous)
            notes.append(_ambiguous_dtype(text, match.ambiguous))
        else:
            problems.append(_unknown_dtype(text))
    return tuple(wishes), tuple(notes), tuple(problems)


def _ambiguous_dtype(text: str, variants: tuple[str, ...]) -> Assumption:
    sentence = f"{text} is not one dtype; any of {', '.join(variants)} is accepted."
    return Assumption(code="dtype_ambiguous", text=sentence, asked=text, taken=variants)


def _unknown_dtype(text: str) -> Problem:
    from kernelindex.registry.dtypes import DTYPES

    wanted = "a dtype such as bf16, fp16, fp32 or fp8_e4m3fn"
    return Problem.of("request.dtype_unknown", "/dtypes", text, wanted, closest(text, DTYPES))


def _device(catalog: Reads, asked: str | None) -> Device | None:
    if asked is None:
        return None
    products = find_gpu(asked)
    family = find_family(asked)
    if family is None:
        name = fold_name(asked)
        rows = [] if SEVERAL.fullmatch(name) else catalog.hardware()
        ids = tuple(row.id for row in rows if name in (fold_name(row.label), fold_name(row.id)))
        return Device(asked=asked, hardware_ids=ids)
    return Device(
        asked=asked,
        product_ids=tuple(product.id for product in products),
        family=family,
        whole_family=fold_name(asked) == fold_name(family),
    )


def _device_problems(device: Device | None) -> tuple[Problem, ...]:
    """A name no table knows; the closest that one does."""
    if device is None or device.known:
        return ()
    several = SEVERAL.fullmatch(fold_name(device.asked))
    if several and find_family(several["name"]):
        wanted = "one GPU: several together are not measured here"
        one = several["name"]
        return (Problem.of("request.several_gpus", "/hardware", device.asked, wanted, one),)
    near = closest(fold_name(device.asked), gpu_names())
    wanted = "a GPU such as H100, H200, B200, MI300X or RTX 4090"
    return (Problem.of("request.hardware_unknown", "/hardware", device.asked, wanted, near),)


def _metric_problems(asked: str | None) -> tuple[Problem, ...]:
    if asked is None or find_metric(asked) is not None:
        return ()
    known = load_metrics()
    wanted = "a metric such as latency or peak_memory"
    return (Problem.of("request.metric_unknown", "/metric", asked, wanted, closest(asked, known)),)


def _licence_problems(asked: tuple[str, ...]) -> tuple[Problem, ...]:
    wanted = "an SPDX licence such as Apache-2.0, MIT or BSD-3-Clause"
    return tuple(
        Problem.of("request.licence_unknown", "/policy/licenses", text, wanted)
        for text in asked
        if resolve_licence(text).expression is None
    )


def _source(asked: str | None) -> str | None:
    """A source by its slug, or by the one slug that starts with the word asked."""
    if asked is None:
        return None
    starts = [slug for slug in load_sources() if slug.split("-")[0] == asked.casefold()]
    return starts[0] if len(starts) == 1 else asked
