"""Synthetic benchmark rows with the skew of real catalogs, as a stream.

Runs are spread over operations, shapes, implementations and machines by Zipf's law with
exponents read off the public export (its most measured operation has a tenth of all runs,
half of the cohorts have one or two entries). One operation after another is emitted, as
sources do, so only one operation's manifests are held. The same arguments give the same
rows on every machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.intake import Observation, ProjectLink, Row, Snapshot
from kernelindex.manifests import Manifest, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

API = "kernelindex.dev/v1alpha1"
SOURCE = "synthetic"
PRODUCTS = (
    ("NVIDIA H100 80GB HBM3", "sm_90", 1.0),
    ("NVIDIA B200", "sm_100", 0.5),
    ("NVIDIA H200", "sm_90", 0.85),
    ("NVIDIA A100-SXM4-80GB", "sm_80", 2.1),
    ("NVIDIA L4", "sm_89", 9.0),
    ("NVIDIA GeForce RTX 4090", "sm_89", 2.6),
    ("NVIDIA L40S", "sm_89", 3.0),
    ("AMD Instinct MI300X", "gfx942", 0.9),
    ("NVIDIA H100 PCIe", "sm_90", 1.4),
    ("NVIDIA GB200", "sm_100", 0.48),
    ("NVIDIA GeForce RTX 3090", "sm_86", 4.2),
    ("Experimental Accelerator 7", "unknown", 1.1),
)
DTYPES = ("bf16", "fp16", "fp8_e4m3fn", "fp32")
FAMILIES = ("gemm", "norm", "attention", "activation", "moe", "loss", "conv", "quantize")
DRIVERS = ("550.54", "560.35", "570.12")


@dataclass(frozen=True)
class Size:
    """How much of everything a catalog of ``runs`` runs holds."""

    runs: int

    @property
    def operations(self) -> int:
        """450 at 8,000 runs, growing slower than the runs."""
        return max(20, int(450 * (self.runs / 8_000) ** 0.4))


def make_snapshot(size: int) -> Snapshot:
    """The snapshot all synthetic rows of one size come from."""
    return Snapshot(
        source=SOURCE,
        name=f"synthetic-{size}",
        digest=f"sha256:{size:064x}",
        size_bytes=size,
        fetched_at="2026-11-01T00:00:00Z",
        parser_version=1,
    )


def make_rows(runs: int, seed: int = 1) -> Iterator[Row]:
    """Rows of ``runs`` runs, operation by operation."""
    size = Size(runs)
    weights = [1.0 / rank**0.8 for rank in range(1, size.operations + 1)]
    total, emitted = sum(weights), 0
    shared = [(make_protocol(index), index) for index in range(6)]
    for index, share in enumerate(accumulate(weights)):
        upto = round(runs * share / total)
        if upto > emitted:
            source = _Operation(index, upto - emitted, random.Random(f"{seed}/{index}"), shared)
            yield from source.rows(emitted)
            emitted = upto


class _Operation:
    """One operation's shapes and implementations, made when first drawn."""

    def __init__(
        self, index: int, runs: int, rng: random.Random, protocols: list[tuple[Manifest, int]]
    ) -> None:
        self.index = index
        self.runs = runs
        self.rng = rng
        self.manifest = make_operation(index)
        self.protocol = protocols[index % len(protocols)][0]
        self.shapes = max(2, int(runs**0.55))
        self.lines = max(2, int(runs**0.45))
        self.base_ns = rng.lognormvariate(11.0, 2.0)
        self._made: dict[tuple[str, int], Manifest] = {}

    def rows(self, start: int) -> Iterator[Row]:
        """One row a run; a manifest comes with the first row that needs it."""
        known: set[str] = set()
        for number in range(start, start + self.runs):
            shape, line = self._draw(self.shapes, 1.1), self._draw(self.lines, 0.9)
            machine = self._draw(len(PRODUCTS) * len(DRIVERS), 1.3)
            parts = (
                self.manifest,
                self.protocol,
                self._make("shape", shape),
                self._make("line", line),
                self._make("machine", machine),
            )
            run = self._run(number, shape, line, machine, parts)
            new = tuple(part for part in parts if part.digest not in known)
            known.update(part.digest for part in new)
            yield self._row(number, run, new, line)

    def _draw(self, count: int, exponent: float) -> int:
        """An index below ``count``, about Zipf: by inverse transform of a power law."""
        position = 1.0 - self.rng.random() * (1.0 - (count + 1.0) ** (1.0 - exponent))
        return min(count - 1, int(position ** (1.0 / (1.0 - exponent))) - 1)

    def _make(self, what: str, index: int) -> Manifest:
        made = self._made.get((what, index))
        if made is None:
            makers = {
                "shape": lambda: make_workload(self.manifest, self.index, index),
                "line": lambda: make_implementation(self.manifest, self.index, index),
                "machine": lambda: make_environment(index),
            }
            made = self._made[what, index] = makers[what]()
        return made

    def _run(
        self, number: int, shape: int, line: int, machine: int, parts: tuple[Manifest, ...]
    ) -> Manifest:
        speed = 1.0 + 3.0 * random.Random(f"{self.index}/{line}").random() ** 2
        product = PRODUCTS[machine % len(PRODUCTS)][2]
        size = (1 + shape) ** 0.7
        noise = self.rng.lognormvariate(0.0, 0.03)
        median_ns = max(1_000, int(self.base_ns * speed * product * size * noise))
        passed = self.rng.random() < 0.989
        spec: dict[str, Any] = {
            "implementationDigest": parts[3].digest,
            "workloadDigest": parts[2].digest,
            "protocolDigest": parts[1].digest,
            "environmentDigest": parts[4].digest,
            "status": "passed" if passed else "runtime_error",
            "observedAt": _instant(self.rng.randrange(600), number),
            "sourceNative": {"source": SOURCE, "externalId": f"run/{number}"},
        }
        if passed:
            latency = {"median": median_ns, "p05": int(median_ns * 0.98), "p95": median_ns * 2}
            spec["timing"] = {"primaryStatistic": "median", "samples": 50, "latencyNs": latency}
            spec["correctness"] = {"comparator": "allclose", "maximumAbsoluteError": 0.001}
        return _manifest("BenchmarkRun", f"synthetic-run-{number}", spec)

    def _row(self, number: int, run: Manifest, new: tuple[Manifest, ...], line: int) -> Row:
        observation = Observation(
            run_digest=run.digest,
            source=SOURCE,
            row={"id": number, "line": line},
            published_at="2026-11-01",
        )
        links = tuple(
            ProjectLink(
                implementation_digest=one.digest, project=f"project-{line % 97}", source=SOURCE
            )
            for one in new
            if one.kind == "ImplementationRevision"
        )
        return Row(where=str(number), manifests=(*new, run), observation=observation, links=links)


def make_operation(index: int) -> Manifest:
    """An operation over rows and columns."""
    family = FAMILIES[index % len(FAMILIES)]
    tensor = {"dtype": "bf16", "shape": ["rows", "cols"]}
    axis = {"role": "variable", "type": "integer"}
    spec = {
        "family": family,
        "axes": {"rows": axis, "cols": axis},
        "inputs": [{"name": "x", "tensor": tensor}, {"name": "w", "tensor": tensor}],
        "outputs": [{"name": "y", "tensor": tensor}],
        "semantics": {
            "expression": f"y = f{index}(x, w)",
            "mutation": "none",
            "determinism": "unspecified",
        },
    }
    return _manifest("OperationSpec", f"synthetic-{family}-{index}", spec)


def make_workload(operation: Manifest, index: int, shape: int) -> Manifest:
    """One shape of an operation."""
    rows, cols = 64 * (1 + shape // 8), 128 * (1 + shape % 8)
    dtype = DTYPES[(shape + index) % len(DTYPES)]
    tensor = {"dtype": dtype, "shape": [rows, cols]}
    spec = {
        "operationSpecDigest": operation.digest,
        "axes": {"rows": rows, "cols": cols},
        "tensors": {"x": tensor, "w": tensor},
        "correctness": {"comparator": "allclose", "maxAbsoluteError": 0.01},
    }
    return _manifest("WorkloadCase", f"{operation.name}-{rows}x{cols}-{dtype}", spec)


def make_implementation(operation: Manifest, index: int, line: int) -> Manifest:
    """One implementation of an operation."""
    spec = {
        "projectRevision": {
            "repository": f"https://example.org/project-{line % 97}",
            "commit": f"{index * 100_003 + line:040x}",
        },
        "operation": {"specDigest": operation.digest},
        "callable": {"language": ("triton", "cuda", "python")[line % 3], "symbol": f"f{line}"},
        "support": {"hardwareArchitectures": ["sm_90", "sm_100"], "dtypes": ["bf16"]},
        "licensing": {"declared": "Apache-2.0"},
    }
    return _manifest("ImplementationRevision", f"{operation.name}-by-{line}", spec)


def make_protocol(index: int) -> Manifest:
    """One of a few harnesses."""
    spec = {
        "harness": {"name": f"harness-{index}", "version": "1"},
        "measurement": {"timer": "cuda_event", "primaryStatistic": "median"},
    }
    return _manifest("BenchmarkProtocol", f"harness-{index}", spec)


def make_environment(index: int) -> Manifest:
    """One GPU product with one driver."""
    product, architecture, _ = PRODUCTS[index % len(PRODUCTS)]
    vendor = "amd" if product.startswith("AMD") else "nvidia"
    spec = {
        "hardware": {"vendor": vendor, "product": product, "architecture": architecture},
        "software": {"driver": DRIVERS[index // len(PRODUCTS)]},
    }
    return _manifest("ExecutionEnvironment", f"machine-{index}", spec)


def _instant(day: int, second: int) -> str:
    month, rest = divmod(day, 28)
    clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{2025 + month // 12}-{1 + month % 12:02}-{1 + rest:02}T{clock}Z"


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> Manifest:
    document = {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}
    return parse(document)
