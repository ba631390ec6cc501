"""Our H200 measurements of one workload as runs: reported, unsigned, samples not kept.

Two protocols, because they ask different questions (see the ADR on the starter's regimes):
``interleaved`` takes 250 samples back to back, when the card has reached its power cap, of
candidates that take turns in one process; ``loop`` takes 40 after three calls, one candidate
after the other. Each is stated for each pass, and cohorts keep them apart.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.intake import Observation, ProjectLink, Row
from kernelindex.manifests import Manifest, parse
from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.liger.building import build_implementation, build_project
from kernelindex.sources.starter.data import load_json
from kernelindex.sources.starter.protocols import build_protocol
from kernelindex.sources.starter.workload import TOLERANCE, build_environment, build_workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["SOURCE", "h200_rows"]

SOURCE = "kernelindex-h200-2026-11"
V1 = "kernelindex.dev/v1alpha1"
V2 = "kernelindex.dev/v1alpha2"
OPERATION = "moe-mlp"
LIGER_LINE = "liger-kernel/LigerFusedMoEFunction"
SUSTAINED_SAMPLES = 250

# The outputs that each pass makes; a forward says nothing of gradients, nor they of it.
_CHECKED = {
    "forward": ("y",),
    "backward": (
        "grad_x",
        "grad_gate_up_proj",
        "grad_down_proj",
        "grad_top_k_weights",
    ),
}
_CHECKED["full"] = _CHECKED["forward"] + _CHECKED["backward"]


def h200_rows() -> Iterator[Row]:
    """One row for each public candidate and pass."""
    data = load_json("h200.json")
    for name, measured in data["candidates"].items():
        project, implementation = _implementation(name, data["software"])
        for timed_pass, numbers in measured["passes"].items():
            yield _row(name, timed_pass, numbers, measured, (project, implementation))


def _row(
    name: str,
    timed_pass: str,
    numbers: Mapping[str, Any],
    measured: Mapping[str, Any],
    what: tuple[Manifest, Manifest],
) -> Row:
    project, implementation = what
    method = "interleaved" if "rounds_ms" in numbers else "loop"
    operation, workload = build_operation(OPERATION), build_workload()
    protocol, environment = build_protocol(method, timed_pass), build_environment()
    digests = {
        "implementationDigest": implementation.digest,
        "workloadDigest": workload.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
    }
    run = _run(name, timed_pass, method, numbers, measured, digests)
    return Row(
        where=f"h200.json: {name}/{timed_pass}",
        manifests=(project, operation, workload, implementation, protocol, environment, run),
        observation=Observation(
            run_digest=run.digest,
            source=SOURCE,
            row={"candidate": name, "pass": timed_pass, "method": method, **numbers},
        ),
        links=(
            ProjectLink(
                implementation_digest=implementation.digest, project=project.name, source=SOURCE
            ),
        ),
    )


def _run(
    name: str,
    timed_pass: str,
    method: str,
    numbers: Mapping[str, Any],
    measured: Mapping[str, Any],
    digests: Mapping[str, str],
) -> Manifest:
    data = load_json("h200.json")
    spec: dict[str, Any] = {
        **digests,
        "status": "passed",
        "correctness": _correctness(timed_pass, measured["errors"]),
        "timing": _timing(numbers),
        "sourceNative": {
            "source": SOURCE,
            "benchmark": f"{OPERATION}/{timed_pass}",
            "externalId": f"{data['measured']}/{method}/{name}/{timed_pass}",
            "metrics": _native(numbers) | {"peak_mib_of_all_passes": measured["peak_mib"]},
        },
        "observedLocal": {"text": data["measured"], "zone": "unstated"},
    }
    doubts = _doubts(name, method)
    if doubts:
        spec["doubts"] = doubts
    title = f"{_title(name)} · {timed_pass} · H200, {method}"
    metadata = {
        "name": f"h200-2026-11-30-{name.replace('_', '-')}-{timed_pass}-{method}",
        "title": title,
    }
    return parse({"apiVersion": V2, "kind": "BenchmarkRun", "metadata": metadata, "spec": spec})


def _timing(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The median of the rounds' medians, or the loop's median with its p20 and p80."""
    if "rounds_ms" in numbers:
        rounds = [Decimal(str(value)) for value in numbers["rounds_ms"]]
        samples = SUSTAINED_SAMPLES * len(rounds)
        latency = {"median": _ns(median(rounds))}
    else:
        samples = numbers["samples"]
        latency = {
            statistic: _ns(Decimal(str(numbers[field])))
            for statistic, field in (("median", "p50_ms"), ("p20", "p20_ms"), ("p80", "p80_ms"))
        }
    return {"primaryStatistic": "median", "samples": samples, "latencyNs": latency}


def _ns(milliseconds: Decimal) -> int:
    return round(milliseconds * 1_000_000)


def _native(numbers: Mapping[str, Any]) -> dict[str, float]:
    rounds = numbers.get("rounds_ms", ())
    found = {f"round_{place}_ms": value for place, value in enumerate(rounds, start=1)}
    return found | {key: value for key, value in numbers.items() if key.endswith("0_ms")}


def _correctness(timed_pass: str, errors: Mapping[str, float]) -> dict[str, Any]:
    checked = {output: errors[output] for output in _CHECKED[timed_pass]}
    return {
        "comparator": "relative_frobenius",
        "outputs": {
            output: {"passed": error <= TOLERANCE, "finite": True, "frobeniusError": error}
            for output, error in checked.items()
        },
    }


def _doubts(name: str, method: str) -> list[dict[str, str]]:
    known = load_json("candidates.json")["candidates"].get(name, {})
    found = list(known.get("doubts", ()))
    if method == "interleaved":
        found.append(
            {
                "code": "POWER_CAP_REACHED",
                "effect": "note",
                "text": "in long loops the card reaches its 700 W cap: the SM clock falls from "
                "1980 MHz to 1440-1710, more for faster code",
            }
        )
    return found


def _title(name: str) -> str:
    known = load_json("candidates.json")["candidates"].get(name)
    return known["title"] if known else "Liger fused MoE"


@cache
def _project(slug: str) -> Manifest:
    spec = load_json("candidates.json")["projects"][slug]
    metadata = {"name": slug, "title": spec["name"]}
    return parse({"apiVersion": V1, "kind": "SoftwareProject", "metadata": metadata, "spec": spec})


def _implementation(name: str, software: Mapping[str, str]) -> tuple[Manifest, Manifest]:
    """The project and what ran; Liger's are the very manifests of its own source."""
    if name == "liger":
        version = software["liger-kernel"]
        return build_project("liger-kernel"), build_implementation(LIGER_LINE, OPERATION, version)
    data = load_json("candidates.json")
    known = data["candidates"][name]
    project = _project(known["project"])
    revision: dict[str, Any] = {"repository": project.document["spec"]["repository"]}
    spec: dict[str, Any] = {
        "projectRevision": revision,
        "operation": {"specDigest": build_operation(OPERATION).digest},
        "callable": known["callable"],
        "support": {
            "hardwareArchitectures": ["sm_90"],
            "productsTested": ["NVIDIA H200"],
            "dtypes": ["bf16"],
        },
        "licensing": {"declared": known["licence"]},
    }
    if "package" in known:
        revision["version"] = software[known["package"]]
        install = {"kind": "pip", "package": known["package"], "version": revision["version"]}
        spec["buildVariants"] = [{"name": "pip", "install": install}]
    else:
        spec["source"] = data["script"]
    metadata = {"name": known["name"], "title": known["title"]}
    document = {
        "apiVersion": V1,
        "kind": "ImplementationRevision",
        "metadata": metadata,
        "spec": spec,
    }
    return project, parse(document)
