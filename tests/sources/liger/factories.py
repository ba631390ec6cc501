"""Small Liger files of our own."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.sources.liger import read
from kernelindex.sources.liger.rows import COLUMNS

MOE_CONFIG = {
    "sweep_dim": "T",
    "T": None,
    "E": 128,
    "H": 2048,
    "intermediate_dim": 768,
    "K": 8,
    "dtype": "torch.bfloat16",
}
RMS_CONFIG = {"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06}

ROW = {
    "kernel_name": "rms_norm",
    "kernel_provider": "liger",
    "kernel_operation_mode": "forward",
    "metric_name": "speed",
    "metric_unit": "ms",
    "x_name": "H",
    "x_label": "hidden size",
    "x_value": "4096",
    "y_value_50": "0.5",
    "y_value_20": "0.49",
    "y_value_80": "0.51",
    "extra_benchmark_config_str": json.dumps(RMS_CONFIG),
    "gpu_name": "NVIDIA H100 80GB HBM3",
    "timestamp": "2026-04-02 23:57:51",
    "liger_version": "0.7.0",
}


def make_row(*, config: Any = None, **changes: str) -> dict[str, str]:
    """One row's texts; ``config`` replaces the JSON config."""
    row = {**ROW, **changes}
    if config is not None:
        row["extra_benchmark_config_str"] = json.dumps(config)
    return row


def moe_row(*, config: dict[str, Any] | None = None, **changes: str) -> dict[str, str]:
    """One fused MoE row: 8192 tokens, 128 experts unless changed."""
    base = {"kernel_name": "fused_moe", "x_name": "T", "x_value": "8192"}
    return make_row(config={**MOE_CONFIG, **(config or {})}, **{**base, **changes})


def write_csv(*rows: dict[str, str], end: str = "\r\n") -> bytes:
    """A file as upstream writes it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def outcomes(data: bytes) -> list[Row | Skipped]:
    """What every row of a file became."""
    return list(read(data)[1])


def only(data: bytes) -> Row:
    """The one row of a file, which must have become something."""
    (found,) = outcomes(data)
    assert isinstance(found, Row), found
    return found


def reason(row: dict[str, str]) -> str:
    """Why a row was skipped."""
    (found,) = outcomes(write_csv(row))
    assert isinstance(found, Skipped), found
    return found.reason


def spec_of(row: Row, kind: str) -> dict[str, Any]:
    """The spec of the row's manifest of that kind."""
    (found,) = [manifest for manifest in row.manifests if manifest.kind == kind]
    spec: dict[str, Any] = found.document["spec"]
    return spec
