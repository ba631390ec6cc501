"""Derive each source's repeat dispersion from its real data.

    python scripts/derive_dispersion.py ../shared/data [--write]

Prints the content of ``src/kernelindex/registry/data/dispersion.json``; ``--write`` stores
it there. What counts as a repeat:

- Liger CSV: speed rows of one kernel, provider, mode, GPU and release whose shape is equal
  once the swept axis is put beside the fixed ones (a point that two sweeps share).
- Export: passed runs of equal workload, environment and protocol, whose implementation has
  one digest, or one digest of source text (KernelBot gives every submission its own
  implementation, and people submit one file several times).

The difference within an entry is its largest value over its smallest, minus one.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MEASURED_ON = "2026-11-30"
TARGET = Path(__file__).resolve().parents[1] / "src/kernelindex/registry/data/dispersion.json"
LIGER_FILES = ("liger/all_benchmark_data.csv", "liger/all_benchmark_data_cutile.csv")
SWEPT_NAMES = {kernel: {"H": "hidden_size", "T": "seq_len"} for kernel in ("rope", "llama4_rope")}
"""Sweeps whose swept axis has another name than the same axis held fixed."""
EXPORT_FILE = "kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"

Entries = dict[tuple[str, ...], list[float]]


def percentile(values: Iterable[float], share: float) -> float:
    """The value at position ``share * (n + 1)``, interpolated, at most the largest."""
    ordered = sorted(values)
    position = min(max(share * (len(ordered) + 1), 1.0), float(len(ordered)))
    below = int(position)
    above = min(below, len(ordered) - 1)
    low, high = ordered[below - 1], ordered[above]
    return low + (high - low) * (position - below)


def read_liger(path: Path) -> Entries:
    """Medians in ms by entry; ``path`` is one of the benchmark CSVs."""
    entries: Entries = defaultdict(list)
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric_name"] != "speed" or row["x_name"] == "model_config":
                continue
            entries[_liger_key(row)].append(float(row["y_value_50"]))
    return entries


def _liger_key(row: dict[str, str]) -> tuple[str, ...]:
    fixed = json.loads(row["extra_benchmark_config_str"])
    fixed.pop("sweep_dim", None)
    shape = {name: str(value) for name, value in fixed.items() if value is not None}
    swept = SWEPT_NAMES.get(row["kernel_name"], {}).get(row["x_name"], row["x_name"])
    shape[swept] = row["x_value"]
    names = ("kernel_name", "kernel_provider", "kernel_operation_mode", "gpu_name", "liger_version")
    return (*(row[name] for name in names), json.dumps(shape, sort_keys=True))


def read_export(path: Path) -> dict[str, Entries]:
    """Primary values by source and entry."""
    sources: dict[str, Entries] = defaultdict(lambda: defaultdict(list))
    texts: dict[str, str] = {}
    runs: list[dict[str, Any]] = []
    for table, row in _export_rows(path):
        if table == "implementations":
            content = row["manifest"]["spec"].get("source", {}).get("contentDigest")
            texts[row["implementationDigest"]] = content or row["implementationDigest"]
        elif table == "benchmark_runs" and row["status"] == "passed":
            runs.append({"spec": row["manifest"]["run"]["spec"], "value": row["primaryValue"]})
    for run in runs:
        spec = run["spec"]
        key = (
            texts[spec["implementationDigest"]],
            spec["workloadDigest"],
            spec["environmentDigest"],
            spec["protocolDigest"],
        )
        sources[spec["sourceNative"]["source"]][key].append(run["value"])
    return sources


def _export_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            if line.startswith(('{"table":"implementations"', '{"table":"benchmark_runs"')):
                record = json.loads(line)
                yield record["table"], record["row"]


def summarise(entries: Entries, repeats: str) -> dict[str, Any] | None:
    """Percentiles over the entries measured more than once, or ``None`` without any."""
    repeated = [values for values in entries.values() if len(values) > 1]
    if not repeated:
        return None
    ranges = [max(values) / min(values) - 1 for values in repeated]
    pairs = [
        max(pair) / min(pair) - 1
        for values in repeated
        for pair in itertools.combinations(values, 2)
    ]
    return {
        "p90_relative": round(percentile(ranges, 0.90), 6),
        "p95_pair_relative": round(percentile(pairs, 0.95), 6),
        "entries": len(repeated),
        "pairs": len(pairs),
        "derivation": repeats,
        "measured_on": MEASURED_ON,
    }


def derive(data: Path) -> dict[str, Any]:
    """The whole content of dispersion.json from the folder of real data."""
    liger: Entries = {}
    for name in LIGER_FILES:
        for key, values in read_liger(data / name).items():
            liger[(name, *key)] = values
    found = {
        "liger-kernel-bench": summarise(
            liger, "points that two sweeps of one file share, same card and release"
        )
    }
    for source, entries in sorted(read_export(data / EXPORT_FILE).items()):
        found[source] = summarise(
            entries,
            "runs of one source text or implementation with equal workload, environment, protocol",
        )
    return {"sources": {slug: row for slug, row in sorted(found.items()) if row}}


def main() -> int:
    """Print or write the derived data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="folder that holds liger/ and kernelindex-export/")
    parser.add_argument("--write", action="store_true", help=f"store the result in {TARGET.name}")
    options = parser.parse_args()
    text = json.dumps(derive(options.data), indent=1) + "\n"
    if options.write:
        TARGET.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
