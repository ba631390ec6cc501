"""Hand-made controlled batches: samples, manifests, journal, calibration, a signed bundle."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from kernelindex.evidence import archive, bundle, dsse
from kernelindex.evidence.keys import Signer
from kernelindex.evidence.samples import summarize
from kernelindex.evidence.statement import BatchRecord, RunnerIdentity
from kernelindex.manifests import V1ALPHA1, V1ALPHA2, Manifest, parse
from kernelindex.stats import Random
from tests.support.selfchecks import make_selfcheck

ALICE = Signer.from_seed(b"a" * 32)
BOB = Signer.from_seed(b"b" * 32)
GENERATIONS, ROUNDS, SAMPLES = 3, 8, 5
NO_LINE = "sha256:" + "0" * 64
PASSES = {"forward": 1.0, "backward": 2.0, "full": 3.0}


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def dump(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode() + b"\n"


def make_identity(signer: Signer = ALICE, **changes: str) -> RunnerIdentity:
    who = "alice" if signer is ALICE else "bob"
    stated = {
        "name": f"{who}-runner",
        "owner": who,
        "host": f"{who}-box",
        "device": f"GPU-{who}",
        "version": "0.1.0",
    }
    return RunnerIdentity(**{**stated, **changes}, public_key=signer.public.text)


def make(kind: str, spec: dict[str, Any], name: str, version: str = V1ALPHA2) -> Manifest:
    return parse({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})


def make_operation() -> Manifest:
    tensor = {"dtype": "fp32", "shape": ["n"]}
    spec = {
        "family": "scale",
        "axes": {"n": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x", "tensor": tensor}],
        "outputs": [{"name": "y", "tensor": tensor}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    }
    return make("OperationSpec", spec, "scale", V1ALPHA1)


def make_workload(n: int = 1024) -> Manifest:
    data = {"generator": "normal", "parameters": {"scale": 1.0}}
    spec = {
        "operationSpecDigest": make_operation().digest,
        "axes": {"n": n},
        "tensors": {"x": {"dtype": "fp32", "shape": [n], "data": data, "role": "per_call"}},
        "correctness": {"comparator": "relative_frobenius"},
    }
    return make("WorkloadCase", spec, f"scale-{n}")


def make_protocol(timed_pass: str = "forward", **changes: Any) -> Manifest:
    spec = {
        "harness": {"name": "kernelindex-runner", "version": "1"},
        "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
        "timedPass": timed_pass,
        "controlled": {"name": "kernelindex", "version": 1},
        "warmup": {"until": "steady"},
        "stopping": {"rule": "interval_width"},
    }
    return make("BenchmarkProtocol", spec | changes, f"controlled-{timed_pass}")


def make_environment(**hardware: Any) -> Manifest:
    product = {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"}
    software = {
        "driver": "570.1",
        "cudaToolkit": "12.8",
        "framework": {"name": "pytorch", "version": "2.8"},
    }
    spec = {"hardware": product | hardware, "software": software}
    return make("ExecutionEnvironment", spec, "machine")


def make_implementation(name: str) -> Manifest:
    spec = {
        "projectRevision": {"version": "1.0", "treeDigest": sha256(name.encode())},
        "operation": {"specDigest": make_operation().digest},
        "callable": {"language": "triton", "path": f"{name}.py", "symbol": name},
        "support": {"hardwareArchitectures": ["sm_90"], "dtypes": ["fp32"]},
        "licensing": {},
    }
    return make("ImplementationRevision", spec, name)


@dataclass(frozen=True)
class Batch:
    """What a batch is like; ``candidates`` maps names to times in ns, ``checks`` to values."""

    signer: Signer = ALICE
    number: int = 1
    previous: str | None = None
    candidates: dict[str, float] = field(default_factory=lambda: {"fast": 1e5, "slow": 1.2e5})
    passes: tuple[str, ...] = ("forward",)
    noise: float = 0.001
    outcome: str = "complete"
    within_limits: bool = True
    checks: dict[str, float] = field(default_factory=dict)
    identity: dict[str, str] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    full_ratio: float = 1.0
    anchor_ns: float = 5e5
    seed: int = 7
    hardware: dict[str, Any] = field(default_factory=dict)
    protocol: dict[str, Any] = field(default_factory=dict)
    generations: int = GENERATIONS
    project: Manifest | None = None

    def but(self, **changes: Any) -> Batch:
        return replace(self, **changes)

    @property
    def runner(self) -> RunnerIdentity:
        return make_identity(self.signer, **self.identity)

    def seal(self) -> bundle.Sealed:
        return seal(self)


def seal(batch: Batch) -> bundle.Sealed:
    """The bundle of a batch: every candidate in every pass on one workload."""
    files, record = make_files(batch)
    manifests: dict[str, Manifest] = {}
    number = 0
    for candidate in batch.candidates:
        for timed_pass in batch.passes:
            name = f"series/{number}.json.gz"
            files[name], run, parts = make_run(batch, record, files, candidate, timed_pass, number)
            manifests |= {one.digest: one for one in (*parts, run)}
            number += 1
    links = {}
    if batch.project is not None:
        links = {make_implementation(one).digest: batch.project.name for one in batch.candidates}
        manifests[batch.project.digest] = batch.project
    return bundle.seal(
        files=files,
        manifests=manifests.values(),
        signer=batch.signer,
        runner=batch.runner,
        batch=record,
        protocol={"name": "kernelindex", "version": 1},
        isolation={"kind": "namespaces"},
        calibration={"withinLimits": batch.within_limits},
        toolchain={"python": "3.12"},
        links=links,
    )


def seal_aborted(batch: Batch) -> bundle.Sealed:
    """The record of a batch that was planned and never ran."""
    plan = dump({"number": batch.number})
    record = BatchRecord(
        number=batch.number,
        previous_digest=batch.previous,
        plan_digest=sha256(plan),
        outcome="aborted",
    )
    return bundle.seal(
        files={bundle.PLAN: plan},
        manifests=(),
        signer=batch.signer,
        runner=batch.runner,
        batch=record,
        protocol={},
        isolation={},
        calibration={"withinLimits": False},
        toolchain={},
    )


def make_files(batch: Batch) -> tuple[dict[str, bytes], BatchRecord]:
    """The files of the batch folder beside its series, and the batch's record."""
    seed = f"seed-{batch.seed}-{batch.number}"
    commitment = sha256(seed.encode())
    journal, head = make_journal("started", f"seed {commitment}", "ended")
    files = {
        bundle.PLAN: dump({"number": batch.number, "device": "cuda:0"}),
        bundle.JOURNAL: journal,
        bundle.SEED: dump({"seed": seed, "commitment": commitment}),
        bundle.FACTS: dump({"python": "3.12"}),
        bundle.CALIBRATION: dump(make_calibration(batch)),
        bundle.OUTCOME: dump({"status": batch.outcome, "missing": []}),
        bundle.TELEMETRY: gzip.compress(dump({"smClockMhz": [1980]}), mtime=0),
    }
    record = BatchRecord(
        number=batch.number,
        previous_digest=batch.previous,
        plan_digest=sha256(files[bundle.PLAN]),
        outcome=batch.outcome,
        seed_commitment=commitment,
        seed=seed,
        journal_head=head,
    )
    return files, record


def make_journal(*events: str) -> tuple[bytes, str]:
    lines, head = [], NO_LINE
    for at, event in enumerate(events, start=1):
        line = json.dumps({"line": at, "previous": head, "event": event}).encode()
        lines.append(line + b"\n")
        head = sha256(line)
    return b"".join(lines), head


def make_calibration(batch: Batch) -> dict[str, Any]:
    random = Random(batch.seed)
    rounds = [
        [batch.anchor_ns * (1 + batch.noise * random.normal()) for _ in range(ROUNDS)]
        for _ in range(GENERATIONS)
    ]
    usual = {} if batch.within_limits else {"twice_the_spin": 1.926}
    return {
        "withinLimits": batch.within_limits,
        "selfchecks": [make_selfcheck(**(batch.checks or usual))],
        "floor": [[5e3, 0.02], [5e4, 0.005], [5e5, 0.003]],
        "tickNs": 32.0,
        "anchor": {
            "id": "kernelindex/anchor-matmul",
            "medians": [*rounds, *rounds],
            "points": {"scale/1024": rounds},
        },
        "betweenBatch": {"sd": 0.002, "degrees": 9},
        "secondsPerGeneration": 12.5,
    }


def make_samples(
    base_ns: float, noise: float, seed: int, generations: int
) -> tuple[tuple[tuple[float, ...], ...], ...]:
    random = Random(seed)
    return tuple(
        tuple(
            tuple(base_ns * (1 + noise * random.normal()) for _ in range(SAMPLES))
            for _ in range(ROUNDS)
        )
        for _ in range(generations)
    )


def make_run(
    batch: Batch,
    record: BatchRecord,
    files: dict[str, bytes],
    candidate: str,
    timed_pass: str,
    number: int,
) -> tuple[bytes, Manifest, tuple[Manifest, ...]]:
    """A series file, the run that follows from it, and what the run names."""
    base = batch.candidates[candidate] * PASSES[timed_pass]
    if timed_pass == "full":
        base *= batch.full_ratio
    samples = make_samples(base, batch.noise, 1000 * batch.seed + number, batch.generations)
    stated = {"point": "scale/1024", "candidate": candidate, "samplesNs": samples}
    series = gzip.compress(dump(stated), mtime=0)
    found = summarize(samples)
    parts = (
        make_operation(),
        make_workload(),
        make_implementation(candidate),
        make_protocol(timed_pass, **batch.protocol),
        make_environment(**batch.hardware),
    )
    _, workload, implementation, protocol, environment = parts
    outputs = {"y": {"passed": True, "finite": True}}
    if timed_pass != "forward":
        outputs["grad_x"] = {"passed": True, "finite": True}
    spec: dict[str, Any] = {
        "implementationDigest": implementation.digest,
        "workloadDigest": workload.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
        "status": "passed",
        "correctness": {
            "comparator": "relative_frobenius",
            "outputs": outputs,
            "timedCallsChecked": 2,
        },
        "timing": {
            "primaryStatistic": "median",
            "samples": found.count,
            "latencyNs": {"median": round(found.median_ns)},
            "roundMediansNs": [[round(one) for one in rounds] for rounds in found.round_medians_ns],
        },
        "observedAt": "2026-11-30T10:00:00Z",
        "runner": {
            "id": batch.runner.name,
            "keyDigest": batch.signer.public.digest,
            "owner": batch.runner.owner,
            "host": batch.runner.host,
            "device": batch.runner.device,
        },
        "batch": {
            "id": f"{batch.runner.name}-{batch.number}",
            "number": batch.number,
            "seedCommitment": record.seed_commitment,
            "seed": record.seed,
            "calibration": {
                "uri": bundle.CALIBRATION,
                "digest": sha256(files[bundle.CALIBRATION]),
            },
        },
        "telemetry": {"smClockMhz": {"minimum": 1970, "maximum": 1980}},
        "executed": [{"kernel": candidate, "share": 1.0}],
        "samples": {
            "uri": f"series/{number}.json.gz",
            "digest": sha256(series),
            "mediaType": "application/gzip",
            "count": found.count,
        },
    }
    if record.previous_digest is not None:
        spec["batch"]["previousDigest"] = record.previous_digest
    spec = {name: value for name, value in (spec | batch.run).items() if value}
    if spec["status"] != "passed":
        del spec["timing"]
    return series, make("BenchmarkRun", spec, f"run-{candidate}-{timed_pass}"), parts


def resign(data: bytes, signer: Signer, change: Any) -> bytes:
    """The bundle with its statement changed by ``change(document, files)`` and signed again."""
    files = archive.unpack(data)
    document = json.loads(dsse.parse_envelope(files.pop(bundle.STATEMENT)).payload)
    change(document, files)
    from kernelindex.manifests import canonical

    envelope = dsse.seal(canonical.dumps(document), signer).to_json()
    return archive.pack({**files, bundle.STATEMENT: envelope})
