"""The Liger source: bytes of a CSV -> a snapshot and one outcome for every row.

Upstream overwrites rows in place, so each observation carries upstream's own key and the
row's timestamp: a later text supersedes, the old row stays.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.catalog.intake import Observation, ProjectLink, Row, Skipped
from kernelindex.errors import ManifestError
from kernelindex.manifests import digest_of
from kernelindex.registry.hardware import resolve_gpu
from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.liger.building import (
    build_environment,
    build_implementation,
    build_project,
    build_workload,
)
from kernelindex.sources.liger.matching import Matched, Refused, match_row
from kernelindex.sources.liger.measuring import SOURCE, build_protocol, build_run, read_quantiles
from kernelindex.sources.liger.rows import BadRecord, read_records
from kernelindex.sources.liger.table import load_lines
from kernelindex.sources.snapshots import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.catalog.intake import Snapshot
    from kernelindex.sources.liger.measuring import Quantiles

__all__ = ["PARSER_VERSION", "SOURCE", "read"]

PARSER_VERSION = 1
UNITS = {"speed": "ms", "memory": "MB"}
KEY = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "x_name",
    "x_value",
    "extra_benchmark_config_str",
    "gpu_name",
)
_TABLE = re.compile(r"all_benchmark_data_([a-z0-9]{1,40})\.csv")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}", re.ASCII)
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,60}")


def read(
    source: Path | bytes | str, *, name: str | None = None
) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of a Liger CSV and, as a stream, what each row became.

    Raises ``SourceError`` (``source.unreadable``, and while iterating ``source.header``,
    ``source.too_large``); a bad row is a ``Skipped``, never an error.
    """
    opened = Path(source) if isinstance(source, str) else source
    snapshot = snapshot_of(opened, SOURCE, PARSER_VERSION)
    if name is not None:
        snapshot = replace(snapshot, name=name)
    return snapshot, _outcomes(opened, _table_of(snapshot.name))


def _table_of(name: str) -> str:
    """Which of upstream's files it is: each overwrites only its own rows."""
    match = _TABLE.fullmatch(name)
    return match[1] if match else ""


def _outcomes(source: Path | bytes, table: str) -> Iterator[Row | Skipped]:
    for record in read_records(source):
        where = f"line {record.line}"
        if isinstance(record, BadRecord):
            yield Skipped(where=where, reason=record.reason, detail=record.detail)
        else:
            yield _outcome(where, table, record.fields)


def _outcome(where: str, table: str, fields: Mapping[str, str]) -> Row | Skipped:
    found = _check(fields) or _measured(where, table, fields)
    if isinstance(found, Refused):
        return Skipped(where=where, reason=found.reason, detail=found.detail)
    return found


def _measured(where: str, table: str, fields: Mapping[str, str]) -> Row | Refused:
    values = read_quantiles(fields)
    if isinstance(values, str):
        return Refused(values, f"y_value_50 {fields['y_value_50'][:60]!r}")
    matched = match_row(fields)
    if isinstance(matched, Refused):
        return matched
    try:
        return _row(where, table, fields, matched, values)
    except ManifestError as problem:  # sizes that no manifest can hold
        return Refused("not_expressible", problem.message[:200])


def _check(fields: Mapping[str, str]) -> Refused | None:
    """What a row needs besides its numbers."""
    metric, unit = fields["metric_name"], fields["metric_unit"]
    if UNITS.get(metric) != unit:
        return Refused("metric_unknown", f"{metric} in {unit}"[:100])
    if not _is_timestamp(fields["timestamp"]):
        return Refused("bad_timestamp", fields["timestamp"][:60])
    if not _VERSION.fullmatch(fields["liger_version"]):
        return Refused("bad_version", fields["liger_version"][:60])
    gpu = fields["gpu_name"]
    if not gpu.strip() or len(gpu) > 200 or _is_no_name(gpu):
        return Refused("gpu_not_named", gpu[:60])
    return None


def _is_timestamp(text: str) -> bool:
    """Whether it is a moment that exists, written as upstream writes it."""
    if not _TIMESTAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_no_name(gpu_name: str) -> bool:
    """Whether the text is known to name no device, such as ``cuda:0``."""
    match = resolve_gpu(gpu_name)
    return match.family is None and match.reason != "not in the table of GPU names"


def _row(where: str, table: str, fields: Mapping[str, str], row: Matched, values: Quantiles) -> Row:
    operation = build_operation(row.operation.slug)
    workload = build_workload(row)
    implementation = build_implementation(
        row.provider.line, row.operation.slug, fields["liger_version"]
    )
    protocol = build_protocol(
        row.entry.kernel, row.entry.id, fields["kernel_operation_mode"], fields["metric_name"]
    )
    environment = build_environment(fields["gpu_name"])
    digests = {
        "workloadDigest": workload.digest,
        "implementationDigest": implementation.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
    }
    run = build_run(row, fields, values, digests)
    project = load_lines()[row.provider.line].project
    return Row(
        where=where,
        manifests=(
            build_project(project),
            operation,
            workload,
            implementation,
            protocol,
            environment,
            run,
        ),
        observation=Observation(
            run_digest=run.digest,
            source=SOURCE,
            row=dict(fields),
            row_key=digest_of([*(fields[name] for name in KEY), *([table] if table else [])]),
            row_stamp=fields["timestamp"],
            bound=row.bound,
        ),
        links=(
            ProjectLink(
                implementation_digest=implementation.digest, project=project, source=SOURCE
            ),
        ),
    )
