"""Questions for cohorts by any of their conditions, each form of one composed once.

Composing and compiling a statement took two thirds of the time of a resolved question.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, func, or_, select

from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection

COHORTS, HEADS = derived.cohorts, derived.cohort_heads
ESCAPE = "/"
FORMS_KEPT = 256


class Form(NamedTuple):
    """Which conditions a question for cohorts has; their values are bound.

    ``equal``    columns that equal a value
    ``indexed``  whether rows come in the order of an index, not those of a few shapes
    ``device``   ``any_of`` families and hardware ids, one ``family`` or ``hardware``, or None
    ``axes``     None, ``exact``, or how many texts a shape's axes hold one of two each of
    """

    equal: tuple[str, ...]
    operation: bool
    indexed: bool
    passes: bool
    dtypes: int
    empty: bool
    limit: int
    device: str | None = None
    axes: str | int | None = None


def on_devices(form: Form, devices: dict[str, list[str]]) -> Iterator[tuple[Form, dict[str, Any]]]:
    """The question of all devices at once, or of each, which is read in order from an index.

    A product's id is also its hardware id.
    """
    if not any(devices.values()):
        yield form, {}
    elif form.operation or not form.indexed:
        yield form._replace(device="any_of"), devices
    else:
        for column, wanted in devices.items():
            for one in wanted:
                yield form._replace(device=column), {column: one}


def read_form(
    conn: Connection, form: Form, values: dict[str, Any], axes: dict[str, int]
) -> Sequence[Any]:
    """Rows whose shape has exactly these axes, by index; only else those that have more."""
    if not axes:
        return _cohorts_query(form).rows(conn, **values)
    exact = _cohorts_query(form._replace(axes="exact"))
    rows = exact.rows(conn, **values, axes=json_text(axes))
    if rows:
        return rows
    pairs = [f'"{name}":{value}' for name, value in sorted(axes.items())]
    ends = held_texts("axes", [f"{pair}{end}" for pair in pairs for end in ",}"])
    return _cohorts_query(form._replace(axes=len(pairs))).rows(conn, **values, **ends)


@lru_cache(maxsize=FORMS_KEPT)
def _cohorts_query(form: Form) -> Prepared:
    """Cohorts by conditions of a form; composing a statement costs more than asking it."""
    conditions = [COHORTS.c[name] == bindparam(name) for name in form.equal]
    if form.device is not None:
        conditions.append(_on_device(form))
    if form.passes:
        conditions.append(COHORTS.c.timed_pass.in_(bindparam("passes", expanding=True)))
    if not form.empty:
        conditions.append(COHORTS.c.entry_count > 0)
    if form.dtypes:
        has_each = [_holds(derived.shapes.c.dtypes, "dtypes", n) for n in range(form.dtypes)]
        conditions.append(_of_shapes(form, *has_each))
    if form.axes is not None:
        conditions.append(_of_shapes(form, *_has_axes(form.axes)))
    return Prepared(
        current_cohorts(COHORTS.c.key, COHORTS.c.doc, derived.operations.c.title)
        .where(*conditions)
        .order_by(_most_entries(indexed=form.indexed), COHORTS.c.key)
        .limit(form.limit)
    )


def _on_device(form: Form) -> Any:
    """The condition on the device; it uses an index only where rows come in its order."""
    columns = {"family": COHORTS.c.device_family, "hardware": COHORTS.c.hardware}
    if form.device in columns:
        return columns[form.device] == bindparam(form.device)
    return or_(
        *(
            (column if form.indexed else func.coalesce(column, "")).in_(
                bindparam(name, expanding=True)
            )
            for name, column in columns.items()
        )
    )


def _of_shapes(form: Form, *conditions: Any) -> Any:
    """The condition that a cohort's shape meets some, looked at in the operation's shapes."""
    shapes = derived.shapes
    query = select(shapes.c.shape_key).where(*conditions)
    if form.operation:
        query = query.where(shapes.c.operation == bindparam("operation"))
    return COHORTS.c.shape_key.in_(query)


def _has_axes(axes: str | int) -> list[Any]:
    """The conditions that a shape has exactly the bound axes, or all of so many."""
    column = derived.shapes.c.axes
    if isinstance(axes, str):
        return [column == bindparam("axes")]
    return [_holds(column, "axes", 2 * n) | _holds(column, "axes", 2 * n + 1) for n in range(axes)]


def _holds(column: Any, name: str, number: int) -> Any:
    """The condition that stored JSON text (sorted, compact) holds a bound one; none is parsed."""
    return column.like(bindparam(f"{name}_{number}"), escape=ESCAPE)


def held_texts(name: str, texts: Iterable[str]) -> dict[str, str]:
    """Texts as values of ``_holds``."""
    escaped = (re.sub(r"[/%_]", rf"{ESCAPE}\g<0>", one) for one in texts)
    return {f"{name}_{number}": f"%{one}%" for number, one in enumerate(escaped)}


def _most_entries(*, indexed: bool) -> Any:
    """The order of lists; without an index it is sorted, as a shape's few cohorts are.

    Left a choice, SQLite walks a device's or an operation's index in this order instead
    of looking up one shape: 60 ms for 2 at 100,000 runs.
    """
    return (COHORTS.c.entry_count if indexed else COHORTS.c.entry_count + 0).desc()


def current_cohorts(*columns: Any) -> Any:
    """Columns of the current versions of cohorts."""
    operations = derived.operations
    joined = COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    ).join(operations, operations.c.slug == COHORTS.c.operation, isouter=True)
    return select(*columns).select_from(joined)
