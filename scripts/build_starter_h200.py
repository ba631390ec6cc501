"""Make sources/starter/h200.json from the measurement file of 2026-11-30.

    python scripts/build_starter_h200.py h200-2026-11-30.json [--check]

For each public candidate and pass it takes the sustained medians where the candidate was
measured interleaved with others, else the quantiles of the plain loop. Prototypes of ours
(first_cut…) are left out. Numbers are copied, never computed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "src/kernelindex/sources/starter/h200.json"
PASSES = ("forward", "backward", "full")
PROTOTYPES = "first_cut"
OUTPUTS = {
    "out": "y",
    "dx": "grad_x",
    "dgate_up": "grad_gate_up_proj",
    "ddown": "grad_down_proj",
    "dw": "grad_top_k_weights",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("measured", type=Path)
    parser.add_argument("--check", action="store_true", help="fail where the file would change")
    arguments = parser.parse_args()
    text = written(extracted(json.loads(arguments.measured.read_text())))
    if arguments.check:
        return int(text != DATA.read_text())
    DATA.write_text(text)
    return 0


def extracted(measured: dict[str, Any]) -> dict[str, Any]:
    """What the starter needs of the file."""
    device = re.fullmatch(
        r"(?P<product>.+) \((?P<mib>\d+) MiB, driver (?P<driver>\S+), CUDA (?P<cuda>\S+)\)",
        measured["gpu"],
    )
    assert device is not None, measured["gpu"]
    software = measured["software"]
    return {
        "measured": measured["measured"],
        "device": {"product": device["product"], "memory_mib": int(device["mib"])},
        "software": {"driver": device["driver"], "cuda": device["cuda"], **software},
        "workload": {
            axis: measured["workload"][axis]
            for axis in ("tokens", "hidden", "intermediate", "experts", "k")
        },
        "candidates": {
            name: candidate(name, results, measured["interleaved"])
            for name, results in measured["results"].items()
        },
    }


def candidate(name: str, results: dict[str, Any], interleaved: dict[str, Any]) -> dict[str, Any]:
    """The numbers of one candidate: errors by output, and one entry a pass."""
    groups = [group for group in interleaved.values() if isinstance(group, dict) and name in group]
    assert not name.startswith(PROTOTYPES)
    assert len(groups) <= 1, name
    passes = {
        timed: {"rounds_ms": groups[0][name][timed]["sustained"]}
        if groups
        else dict(
            zip(("p20_ms", "p50_ms", "p80_ms", "samples"), results[timed]["loop"], strict=True)
        )
        for timed in PASSES
    }
    errors = {OUTPUTS[tensor]: error for tensor, error in results["err_full"].items()}
    return {"peak_mib": results["peak_MB"], "errors": errors, "passes": passes}


def written(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
