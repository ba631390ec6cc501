"""From a question to a point of a plan: the shape, the passes, the candidates.

What a question leaves open is taken from the operation's own description, and every such
choice is said in ``Choice.notes``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.policy.peaks import accusing_peak
from kernelindex.registry.costs import cost_of
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.runner.offers import find_candidate, obstacle_of, own_candidate, planned
from kernelindex.runner.operations.case import make_case
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.plan import TRAINING, Candidate, Limits, Point, Tolerance
from kernelindex.runner.recording.workload import is_routed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.registry.costs import Work
    from kernelindex.registry.hardware import Product
    from kernelindex.runner.operations.case import Case
    from kernelindex.runner.operations.description import Operation

__all__ = ["Ask", "Choice", "choose_point", "floors"]

CPU_DTYPE = "fp32"
MOST_BYTES = 1 << 40
"""One set of inputs and outputs takes a TiB at most: no device has more, nor any host we know."""
FREE = "free"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is to be measured, as far as the question says it.

    ``candidates`` are ids, lines, titles or last parts of an id; ``files`` are
    ``FILE:FUNCTION`` of code of one's own. Empty ``candidates`` are all that can run.
    ``tensors`` has the dtype of single tensors, where a workload states them.
    """

    operation: str
    axes: Mapping[str, int] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    tensors: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    device: str = "cpu"
    gradients: str = "leaf"
    gradient_buffers: str = "fresh"
    distribution: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    products: tuple[str, ...] = ()
    packages: frozenset[str] | None = None
    """Names of the packages installed where it runs; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One point, and in words what was chosen for the asker and who cannot take part."""

    point: Point
    notes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def choose_point(ask: Ask) -> Choice:
    """The point of a question.

    Raises NotFoundError for an operation or candidate that is not here, RequestError
    ``plan.candidates`` where none can run or one that is named cannot, ``plan.size`` beyond
    ``MOST_BYTES``, and what the case refuses.
    """
    operation = load_operation(ask.operation)
    axes, axis_notes = _axes(operation, ask)
    dtypes, dtype_notes = _dtypes(operation, ask)
    distribution = ask.distribution or _usual_distribution(operation)
    case = make_case(operation, axes, dtypes, distribution=distribution)
    _check_size(case)
    chosen, left_out = _candidates(operation, ask, case.dtype(operation.inputs[0].name))
    if ask.candidates and left_out:
        raise RequestError(
            f"{operation.slug} on {ask.device}: {_why(left_out)}; leave it out, or see what can"
            f" run: ki bench list {operation.slug}",
            code="plan.candidates",
        )
    passes = _passes(ask, chosen)
    kept = tuple(one for one in (_in_passes(one, passes) for one in chosen) if one is not None)
    if not kept:
        raise RequestError(
            f"nobody can be measured at {operation.slug} on {ask.device}: {_why(left_out)}",
            code="plan.candidates",
        )
    point = Point(
        id=_point_id(operation, axes, case.dtypes, ask, distribution),
        operation=operation.slug,
        axes=axes,
        dtypes={one.name: case.dtypes[one.name] for one in operation.inputs if one.dtype == FREE},
        distribution=distribution,
        parameters=dict(ask.parameters),
        passes=passes,
        gradients=ask.gradients,
        gradient_buffers=ask.gradient_buffers,
        draws=("own", *(name for name in operation.draws if name != "own")),
        tolerances={
            name: Tolerance(
                frobenius=one.frobenius,
                worst_row=one.worst_row,
                max_rel=one.max_rel,
                max_abs=one.max_abs,
                error_ratio=one.error_ratio,
            )
            for name, one in operation.tolerances_for(case.dtypes).items()
        },
        trusted=_trusted(operation, ask.device, kept),
        candidates=kept,
        limits=Limits(floor_ns=floors(operation.slug, axes, case.dtypes, passes, ask.products)),
    )
    return Choice(point=point, notes=(*axis_notes, *dtype_notes), left_out=tuple(left_out))


def _check_size(case: Case) -> None:
    """Refuse what no machine could hold; what the one at hand can is asked when it runs."""
    if case.set_bytes > MOST_BYTES:
        raise RequestError(
            f"{case.operation.slug}: one set of inputs and outputs takes {case.set_bytes} bytes at"
            f" these axes; at most {MOST_BYTES} can be planned, so choose smaller ones",
            code="plan.size",
        )


def floors(
    slug: str,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
    passes: Iterable[str],
    products: Sequence[str],
) -> dict[str, float]:
    """The shortest time of each pass, ns, at nominal peaks of any of these products.

    It accuses, so of what depends on the data only what any data need is counted.
    """
    found: dict[str, float] = {}
    for timed_pass in passes:
        work = cost_of(slug, timed_pass, axes, dtypes, surely=True)
        times = [_floor_ns(work, dtypes, PRODUCTS[name]) for name in products if work]
        known = [time for time in times if time]
        if known:
            found[timed_pass] = min(known)
    return found


def _floor_ns(work: Work | None, dtypes: Mapping[str, str], product: Product) -> float:
    """The longer of compute and memory time; zero where neither is known."""
    if work is None:
        return 0.0
    peak = accusing_peak(dtypes.values(), product)
    rates = ((work.flops, peak), (work.bytes, product.bandwidth_bytes_s))
    return max((amount / rate * 1e9 for amount, rate in rates if amount and rate), default=0.0)


def _axes(operation: Operation, ask: Ask) -> tuple[dict[str, int], tuple[str, ...]]:
    """The axes asked for; those left open as the first published shape that agrees has them."""
    unknown = sorted(set(ask.axes) - set(operation.axes))
    if unknown:
        raise RequestError(
            f"{operation.slug} has no axis {', '.join(unknown)}; it has"
            f" {', '.join(operation.axes)}",
            code="plan.axes",
        )
    open_axes = [name for name in operation.axes if name not in ask.axes]
    if not open_axes:
        return {name: ask.axes[name] for name in operation.axes}, ()
    if not operation.published:
        raise RequestError(
            f"{operation.slug} needs {', '.join(open_axes)}; name them, as in {open_axes[0]}=1024",
            code="plan.axes",
        )
    fits = (one for one in operation.published if _agrees(one.axes, ask.axes))
    usual = next(fits, operation.published[0])
    axes = {name: ask.axes.get(name, usual.axes[name]) for name in operation.axes}
    said = ", ".join(f"{name}={axes[name]}" for name in open_axes)
    return axes, (f"{said} taken from a published shape ({usual.source})",)


def _agrees(published: Mapping[str, int], asked: Mapping[str, int]) -> bool:
    return all(published.get(name) == value for name, value in asked.items())


def _dtypes(operation: Operation, ask: Ask) -> tuple[dict[str, str], tuple[str, ...]]:
    """One dtype asked is that of every free tensor; none is the operation's own, fp32 on a CPU."""
    free = [one.name for one in operation.inputs if one.dtype == FREE]
    if len(ask.dtypes) > 1:
        raise RequestError(
            f"one dtype is wanted, got {', '.join(ask.dtypes)}; the other tensors follow it",
            code="plan.dtype",
        )
    if all(name in ask.tensors for name in free):
        return {name: ask.tensors[name] for name in free}, ()
    if ask.dtypes:
        usual = operation.default_dtypes if ask.dtypes[0] == _first_default(operation) else {}
        return {name: usual.get(name, ask.dtypes[0]) for name in free}, ()
    if ask.device == "cpu":
        return dict.fromkeys(free, CPU_DTYPE), (f"{CPU_DTYPE}, as processors compute in it",)
    dtypes = {name: operation.default_dtypes[name] for name in free}
    return dtypes, (f"{', '.join(f'{n} {d}' for n, d in dtypes.items())}: the operation's usual",)


def _first_default(operation: Operation) -> str | None:
    return operation.default_dtypes.get(operation.inputs[0].name)


def _candidates(
    operation: Operation, ask: Ask, dtype: str
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    kind = ask.device.partition(":")[0]
    named = [find_candidate(operation, text) for text in ask.candidates]
    asked = dict.fromkeys(named) if named else operation.candidates if not ask.files else ()
    chosen: list[Candidate] = []
    left_out: list[tuple[str, str]] = []
    for spec in asked:
        obstacle = obstacle_of(spec, kind, ask.packages)
        if obstacle is None and not spec.takes(dtype, kind):
            obstacle = f"takes {', '.join(spec.dtypes_on(kind))}, not {dtype}"
        if obstacle is None:
            chosen.append(planned(spec))
        else:
            left_out.append((spec.id, obstacle))
    return [*map(own_candidate, ask.files), *chosen], left_out


def _passes(ask: Ask, chosen: Sequence[Candidate]) -> tuple[str, ...]:
    """Those asked for; else training, as far as any candidate goes."""
    if ask.passes:
        return ask.passes
    return tuple(one for one in TRAINING if any(one in other.passes for other in chosen))


def _in_passes(candidate: Candidate, passes: Iterable[str]) -> Candidate | None:
    kept = tuple(one for one in passes if one in candidate.passes)
    return replace(candidate, passes=kept) if kept else None


def _usual_distribution(operation: Operation) -> str | None:
    return operation.distributions[0] if is_routed(operation.slug) else None


def _trusted(operation: Operation, device: str, kept: Sequence[Candidate]) -> str | None:
    """The trusted candidate where it takes part; without it the error ratio is not judged."""
    ids = {one.id for one in kept}
    wanted = operation.trusted.get(device.partition(":")[0])
    if wanted in ids:
        return wanted
    other = operation.trusted.get("numpy")
    return other if other in ids else None


def _point_id(
    operation: Operation,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
    ask: Ask,
    distribution: str | None,
) -> str:
    sizes = "-".join(str(axes[name]) for name in operation.axes)
    parts = [operation.slug, f"{sizes}-{dtypes[operation.inputs[0].name]}"]
    if distribution not in (None, "own", "uniform"):
        parts.append(str(distribution))
    parts.append(ask.gradients.replace("_", "-"))
    return "/".join(parts)


def _why(left_out: Sequence[tuple[str, str]]) -> str:
    said = "; ".join(f"{name} {why}" for name, why in left_out)
    return said or "no candidate does what was asked; `ki bench list` has those there are"
