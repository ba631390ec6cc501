"""How a chart names a setting, a code path and a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.registry.operations import load_operations
from kernelindex.registry.sources_info import find_source
from kernelindex.resolve.row_words import path_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.resolve.answer import CohortHead, ImplementationRef, ShapeRef

KEY_DIGITS = 12


def path_name(implementation: ImplementationRef) -> str:
    """``title · path``, as the rows of a page name what ran."""
    return " · ".join(path_words(implementation, ""))


def version_words(implementation: ImplementationRef, revision: str) -> str:
    """``path · version``, after ``a copy`` where the code is another project's."""
    copy = ("a copy",) if implementation.restated else ()
    return " · ".join((*copy, *path_words(implementation, revision)[1:]))


def head_title(head: CohortHead, *, left_out: str = "") -> str:
    """``Fused MoE expert MLP, backward, on H100 SXM``."""
    timed = "" if head.timed_pass == "unstated" else f", {head.timed_pass}"
    return f"{head.operation_title or head.operation}{timed}, on {head.hardware.label}{left_out}"


def axes_words(operation: str, axes: Mapping[str, int], *, without: str = "") -> str:
    """``tokens=8192 hidden=2048`` in the operation's own order, the swept axis left out."""
    known = load_operations().get(operation)
    order = [axis.name for axis in known.axes] if known else []
    names = sorted(axes, key=lambda name: order.index(name) if name in order else len(order))
    return " ".join(f"{name}={axes[name]}" for name in names if name != without)


def shape_words(operation: str, shape: ShapeRef, *, without: str = "") -> str:
    """Axes and the dtypes of floating point tensors, as one line."""
    dtypes = dict.fromkeys(shape.dtypes.values())
    floats = [name for name in dtypes if not name.startswith(("int", "uint", "bool"))]
    parts = (axes_words(operation, shape.axes, without=without), ", ".join(floats or dtypes))
    return " · ".join(part for part in parts if part)


def rest_words(left_out: int, unbeaten: int) -> str:
    """``and 82 more, 16 of them unbeaten too``: who is not shown need not be behind."""
    if not unbeaten:
        return f"and {left_out:,} more, behind these"
    many = "" if unbeaten == left_out else f" {unbeaten:,} of them"
    return f"and {left_out:,} more,{many} unbeaten too"


def setting_words(*parts: str) -> str:
    """What a title leaves open, the regime last, in the words of every page: ``resolve.regime``."""
    return " · ".join(part for part in parts if part)


def source_note(slug: str, *, date: str | None = None, key: str = "", kind: str = "group") -> str:
    """Whom the numbers are from, as of when, and the object that shows them all."""
    info = find_source(slug)
    title = info.title if info else slug
    licence = f" ({info.licence})" if info and info.licence else ""
    when = f", newest {date}" if date else ""
    named = f" KernelIndex {kind} {key.removeprefix('sha256:')[:KEY_DIGITS]}." if key else ""
    return f"Source: {title}{licence}{when}.{named}"
