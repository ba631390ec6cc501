"""A question on the command line as what is to be measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from itertools import product
from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError, RequestError
from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.equivalence import map_operation
from kernelindex.registry.hardware import find_gpu
from kernelindex.registry.operations import find_operation
from kernelindex.resolve.query import parse_query
from kernelindex.resolve.request import Request
from kernelindex.runner.offers import recordable
from kernelindex.runner.plan import GRADIENTS, PASSES
from kernelindex.runner.planning import Ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kernelindex.catalog import Catalog
    from kernelindex.registry.operations import Operation

_NAMED = re.compile(r"(?:sha256:)?[0-9a-f]{8,64}")
FILE = re.compile(r".+\.py:[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What options of the command line add to a question.

    ``sweeps`` maps an axis to the values it takes in turn; ``gradients`` may name both kinds, and
    ``distributions`` several, None being what the question or the operation says.
    """

    device: str
    passes: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ("leaf",)
    buffers: str = "fresh"
    distributions: tuple[str | None, ...] = (None,)
    sweeps: tuple[tuple[str, tuple[int, ...]], ...] = ()
    gpu: str | None = None


def read_questions(
    words: Sequence[str], options: Options, catalog: Callable[[], Catalog]
) -> list[Ask]:
    """One ask for every shape of a sweep, distribution and kind of gradients, in order.

    ``words`` are a question as for ``ki resolve``, or one digest or slug of a workload, for
    which ``catalog`` is opened; ``pass:``, ``distribution:`` and ``gradients:`` among them take
    the place of those options. Raises RequestError ``request.invalid`` with its problems, or
    ``bench.operation`` where the operation cannot be run here.
    """
    words, options = _own_options(words, options)
    base = _base(words, options, catalog)
    swept = [[(axis, value) for value in values] for axis, values in options.sweeps]
    return [
        replace(
            base,
            axes={**base.axes, **dict(point)},
            gradients=gradients,
            distribution=distribution or base.distribution,
        )
        for gradients, distribution in product(options.gradients, options.distributions)
        for point in product(*swept)
    ]


def _own_options(words: Sequence[str], options: Options) -> tuple[list[str], Options]:
    """The words of a question without those that are options of its own, and these options."""
    left: list[str] = []
    own: dict[str, list[str]] = {"pass": [], "gradients": [], "distribution": []}
    for word in words:
        key, _, value = word.partition(":")
        is_own = key in own and value and (key != "pass" or value in PASSES)
        (own[key] if is_own else left).append(value if is_own else word)
    wrong = [word for word in left if word.partition(":")[0] in ("gradients", "distribution")]
    wrong += [f"gradients:{one}" for one in own["gradients"] if one not in GRADIENTS]
    if wrong:
        raise RequestError(
            f"{wrong[0]!r}: wanted distribution: and a name, or gradients: and"
            f" {' or '.join(GRADIENTS)}",
            code="bench.option",
        )
    return left, replace(
        options,
        passes=tuple(own["pass"]) or options.passes,
        gradients=tuple(own["gradients"]) or options.gradients,
        distributions=tuple(own["distribution"]) or options.distributions,
    )


def _base(words: Sequence[str], options: Options, catalog: Callable[[], Catalog]) -> Ask:
    if len(words) == 1 and names_workload(words[0]):
        return _from_workload(catalog(), words[0], options)
    request = parse_query(" ".join(words))
    if not isinstance(request, Request):
        raise RequestError(
            " ".join(problem.text for problem in request),
            problems=[problem.model_dump() for problem in request],
        )
    operation = _operation(request.operation)
    passes = options.passes or ((request.timed_pass,) if request.timed_pass else ())
    return ask_of(
        operation,
        _axes(operation, request.axes),
        tuple(_dtype(text) for text in request.dtypes),
        replace(options, passes=passes, gpu=options.gpu or request.hardware),
    )


def ask_of(
    operation: Operation, axes: Mapping[str, int], dtypes: tuple[str, ...], options: Options
) -> Ask:
    """What is to be measured of an operation under our names."""
    files = tuple(text for text in options.implementations if FILE.fullmatch(text))
    named = tuple(text for text in options.implementations if text not in files)
    return Ask(
        operation=operation.slug,
        axes=axes,
        dtypes=dtypes,
        passes=options.passes,
        candidates=named,
        files=files,
        device=options.device,
        gradients=options.gradients[0],
        gradient_buffers=options.buffers,
        distribution=options.distributions[0],
        products=_products(options.gpu),
    )


def names_workload(text: str) -> bool:
    """Whether a word is a digest or a slug of a controlled workload, and no question."""
    return bool(_NAMED.fullmatch(text)) or text.endswith("-controlled")


def _from_workload(catalog: Catalog, ident: str, options: Options) -> Ask:
    from kernelindex.resolve.lookup import locate

    digest = locate(catalog, "workload", ident).digest
    document = catalog.documents([digest])[digest]
    return workload_ask(document["spec"], options)


def workload_ask(spec: Mapping[str, Any], options: Options) -> Ask:
    """What is to be measured for a WorkloadCase of any source, under our names.

    Raises RequestError ``bench.operation`` where its operation is none that can be run.
    """
    mapping = map_operation(spec["operationSpecDigest"])
    operation = _operation(mapping.slug if mapping else spec["operationSpecDigest"])
    names = mapping.axes if mapping else {}
    constants = mapping.constants if mapping else {}
    known = {axis.name for axis in operation.axes if not axis.derived}
    axes = {names[name]: value for name, value in spec["axes"].items() if name in names}
    axes = {name: value for name, value in {**constants, **axes}.items() if name in known}
    ours = mapping.tensors if mapping else {}
    tensors = {ours.get(name, name): _dtype(one["dtype"]) for name, one in spec["tensors"].items()}
    routed = (spec.get("routing") or {}).get("distribution")
    ask = ask_of(operation, axes, (), options)
    return replace(ask, tensors=tensors, distribution=ask.distribution or routed)


def installed_packages() -> frozenset[str]:
    """The names of the packages installed beside this program."""
    names = (one.metadata["Name"] for one in distributions())
    return frozenset(re.sub(r"[-_.]+", "-", name).lower() for name in names if name)


def read_sweep(text: str) -> tuple[str, tuple[int, ...]]:
    """``axis=1,2,4`` as the axis and its values; raises RequestError ``bench.sweep``."""
    axis, _, values = text.partition("=")
    parts = [part.replace("_", "") for part in values.split(",")]
    if not axis or not all(part.isdigit() for part in parts):
        raise RequestError(
            f"--sweep {text!r}: wanted an axis and its values, as in tokens=1,16,1024",
            code="bench.sweep",
        )
    return axis, tuple(map(int, parts))


def _operation(name: str | None) -> Operation:
    match = find_operation(name) if name else None
    operation = match.operation if match else None
    if operation is None or operation.slug not in recordable():
        known = [one for one in (match.suggestions if match else ()) if one in recordable()]
        near = " or ".join(known)
        raise NotFoundError(
            f"no operation {name!r} can be run here; there are {', '.join(recordable())}"
            + (f"; did you mean {near}?" if near and operation is None else ""),
            code="bench.operation",
        )
    return operation


def _axes(operation: Operation, asked: Mapping[str, int]) -> dict[str, int]:
    axes: dict[str, int] = {}
    for name, value in asked.items():
        axis = operation.axis(name)
        axes[axis.name if axis else name] = value
    return axes


def _dtype(text: str) -> str:
    match = resolve_dtype(text)
    if match.dtype is None:
        raise RequestError(
            f"{text!r} is not one dtype; name one, such as bf16 or fp32", code="bench.dtype"
        )
    return match.dtype


def _products(gpu: str | None) -> tuple[str, ...]:
    """The products a name means; several where it leaves the form factor open."""
    return tuple(product.id for product in find_gpu(gpu)) if gpu else ()


def published_asks(words: Sequence[str], options: Options) -> Iterable[Ask]:
    """Every published shape of the operation that ``words`` name."""
    from kernelindex.runner.operations.description import load_operation

    words, options = _own_options(words, options)
    operation = _operation(" ".join(words))
    for shape in load_operation(operation.slug).published:
        for gradients, distribution in product(options.gradients, options.distributions):
            one = replace(options, gradients=(gradients,), distributions=(distribution,))
            ask = ask_of(operation, shape.axes, (), one)
            first = operation.inputs[0].name
            yield replace(ask, dtypes=(shape.dtypes[first],) if first in shape.dtypes else ())
