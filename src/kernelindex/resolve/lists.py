"""Pages of runs and of record events, with filters under the names people use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kernelindex.errors import RequestError
from kernelindex.registry.hardware import find_family, find_gpu, fold_name, gpu_names
from kernelindex.resolve.dossier import RecordList, RunList, StatusCount
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.operations import read_operation
from kernelindex.resolve.problems import Problem, closest
from kernelindex.resolve.run_lines import view_record, view_run_line
from kernelindex.resolve.withdrawn import SHOWN_STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import HardwareRow, Page, RunRow
    from kernelindex.resolve.reads import Reads


class HardwareReads(Protocol):
    """What the catalog is asked for names of GPUs."""

    def hardware(self) -> Sequence[HardwareRow]: ...


OBJECTS = ("implementation", "workload")
ANY = "any"
"""Asks for runs of every status."""
ASKED_STATUSES = (*SHOWN_STATUSES, ANY)


def list_runs(
    catalog: Reads,
    *,
    cursor: str | None = None,
    limit: int = 50,
    oldest_first: bool = False,
    **filters: str | None,
) -> RunList:
    """A page of runs, newest first.

    Filters: operation, gpu, source, project, implementation, workload, status (as shown, or
    ``any``), and any other of the catalog's under its name there. Without a status, what was
    aborted or withdrawn tells nothing of what ran: it is left out, and counted on the first page.
    Raises RequestError where a name is unknown, NotFoundError where an id names nothing.
    """
    page, left_out = read_runs(
        catalog, filters, cursor=cursor, limit=limit, oldest_first=oldest_first
    )
    lines = tuple(map(view_run_line, page.rows))
    return RunList(runs=lines, cursor=page.cursor, left_out=left_out)


def read_runs(
    catalog: Reads,
    filters: dict[str, str | None],
    *,
    cursor: str | None,
    limit: int,
    oldest_first: bool = False,
) -> tuple[Page[RunRow], tuple[StatusCount, ...]]:
    """The rows of ``list_runs``, and how many runs of which status are left out of them."""
    order = {"oldest_first": True} if oldest_first else {}
    chosen = _filters(catalog, filters)
    usual = filters.get("status") is None
    counts = catalog.left_out_runs(chosen) if usual and cursor is None else ()
    if usual:
        chosen["listed"] = "always"
    page = catalog.runs(chosen, cursor=cursor, limit=limit, **order)
    return page, tuple(StatusCount(status=one.value, runs=one.count) for one in counts)


def list_records(
    catalog: Reads,
    *,
    cursor: str | None = None,
    limit: int = 50,
    oldest_first: bool = False,
    **filters: str | None,
) -> RecordList:
    """A page of changes of leader, newest first; filters: operation, gpu, cohort_key.

    Raises as ``list_runs`` does.
    """
    order = {"oldest_first": True} if oldest_first else {}
    page = catalog.records(_filters(catalog, filters), cursor=cursor, limit=limit, **order)
    return RecordList(records=tuple(map(view_record, page.rows)), cursor=page.cursor)


def _filters(catalog: Reads, asked: dict[str, str | None]) -> dict[str, str]:
    """Filters under the catalog's names; what is not asked is left out."""
    found: dict[str, str] = {}
    for name, value in asked.items():
        if value is None:
            continue
        if name == "operation":
            found[name] = operation_slug(catalog, value)
        elif name == "gpu":
            found |= gpu_filter(catalog, value)
        elif name == "status":
            status = _status(value)
            found |= {} if status == ANY else {name: status}
        elif name in OBJECTS:
            found[name] = locate(catalog, name, value).digest
        else:
            found[name] = value
    return found


def operation_slug(catalog: Reads, value: str) -> str:
    """The one operation that a name, alias or digest means.

    Raises RequestError ``request.operation_unknown`` with what it may mean.
    """
    reading = read_operation(catalog, value)
    if len(reading.slugs) == 1 and not reading.assumptions:
        return reading.slugs[0]
    options = reading.slugs or tuple(item.query for item in reading.suggestions)
    wanted = "one operation" + (f": {', '.join(options)}" if options else "")
    raise _refused(Problem.of("request.operation_unknown", "operation", value, wanted))


def gpu_filter(catalog: HardwareReads, value: str) -> dict[str, str]:
    """What a GPU's name filters by: one product, a whole family, or a label nothing is known of.

    Raises RequestError ``request.hardware_unknown``, and ``request.several_gpus`` where only
    some GPUs of a family are meant and more than one of them was measured.
    """
    measured = catalog.hardware()
    if any(row.id == value for row in measured):
        return {"hardware": value}
    products, family = find_gpu(value), find_family(value)
    if family is not None and fold_name(family) == fold_name(value):
        return {"family": family}
    if products:
        return _of_products(measured, value, [product.id for product in products])
    near = closest(fold_name(value), gpu_names())
    wanted = "a GPU such as H100, H200 or MI300X"
    raise _refused(Problem.of("request.hardware_unknown", "gpu", value, wanted, near))


def _of_products(measured: Sequence[HardwareRow], value: str, ids: Sequence[str]) -> dict[str, str]:
    """The one of these products that was measured; or their family, where it has no other."""
    meant = [row for row in measured if row.id in ids]
    if len(meant) < 2:
        return {"hardware": meant[0].id if meant else ids[0]}
    if meant == [row for row in measured if row.family == meant[0].family]:
        return {"family": str(meant[0].family)}
    wanted = f"one of the GPUs that this may mean: {', '.join(row.id for row in meant)}"
    problem = Problem.of("request.several_gpus", "gpu", value, wanted)
    raise _refused(problem, gpus=[{"id": row.id, "label": row.label} for row in meant])


def _status(value: str) -> str:
    """A status as runs are shown by it, or any; a blank is as good as an underscore."""
    status = value.strip().casefold().replace(" ", "_")
    if status in ASKED_STATUSES:
        return status
    wanted = f"one of {', '.join(ASKED_STATUSES)}"
    near = closest(status, ASKED_STATUSES)
    raise _refused(Problem.of("request.parameter_invalid", "status", value, wanted, near))


def _refused(problem: Problem, **details: object) -> RequestError:
    problems = [problem.model_dump()]
    return RequestError(problem.text, code=problem.code, problems=problems, **details)
