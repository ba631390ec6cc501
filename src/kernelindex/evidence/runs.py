"""The runs of a bundle: whether each speaks of this batch, and what it lacks.

A mismatch is a fault of the bundle. What is merely missing (a trace, a generation, the
forward pass beside a backward one) keeps a run from being verified, and is said in words.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.evidence import bundle
from kernelindex.evidence.report import Fault, RunReport
from kernelindex.evidence.samples import sample_problems
from kernelindex.policy.reading import read_protocol
from kernelindex.policy.samples import MIN_GENERATIONS, MIN_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.evidence.statement import Statement
    from kernelindex.manifests import Manifest

GRADIENT_PASSES = frozenset({"backward", "full"})
COMPANIONS = {"backward": ("forward", "full")}
GPU_ARCHITECTURES = ("sm_", "gfx")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a bundle holds, after its signature and every file's digest were found right."""

    statement: Statement
    files: Mapping[str, bytes]
    by_digest: Mapping[str, str]
    manifests: Mapping[str, Manifest]

    def runs(self) -> list[Manifest]:
        """The benchmark runs in order of digest."""
        return [one for _, one in sorted(self.manifests.items()) if one.kind == "BenchmarkRun"]

    def spec(self, digest: str) -> Mapping[str, Any]:
        """The ``spec`` of a manifest of the bundle."""
        found: Mapping[str, Any] = self.manifests[digest].document["spec"]
        return found


def run_faults(contents: Contents) -> Iterator[Fault]:
    """Everything that a run says otherwise than the statement or its own samples."""
    for run in contents.runs():
        spec = run.document["spec"]
        for code, text in (
            *_identity(contents.statement, spec),
            *_batch(contents, spec),
            *_samples(contents, spec),
        ):
            yield Fault(code=code, where=run.digest, text=text)


def run_reports(contents: Contents) -> tuple[RunReport, ...]:
    """What each run of a bundle without faults is worth."""
    measured = _passes_measured(contents)
    return tuple(_report(contents, run, measured) for run in contents.runs())


def _identity(statement: Statement, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    runner, stated = statement.runner, spec.get("runner") or {}
    wanted = {
        "id": runner.name,
        "keyDigest": runner.key.digest,
        "owner": runner.owner,
        "host": runner.host,
        "device": runner.device,
    }
    for name, value in wanted.items():
        if stated.get(name) != value:
            yield "identity", f"runner.{name} is {stated.get(name)!r}, signed is {value!r}"


def _batch(contents: Contents, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    batch, stated = contents.statement.batch, spec.get("batch") or {}
    wanted = {
        "number": batch.number,
        "previousDigest": batch.previous_digest,
        "seedCommitment": batch.seed_commitment,
        "seed": batch.seed,
    }
    for name, value in wanted.items():
        if stated.get(name) != value:
            yield "batch", f"batch.{name} is {stated.get(name)!r}, signed is {value!r}"
    named = (stated.get("calibration") or {}).get("digest")
    body = contents.files.get(bundle.CALIBRATION)
    if named is not None and (body is None or named != bundle.sha256(body)):
        yield "batch", f"batch.calibration {named} is not the bundle's {bundle.CALIBRATION}"


def _samples(contents: Contents, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named = (spec.get("samples") or {}).get("digest")
    if named is None:
        return
    if not contents.by_digest.get(named, "").startswith(bundle.SERIES):
        yield "samples", f"the samples {named} are no series of the bundle"
        return
    data = contents.files[contents.by_digest[named]]
    for text in sample_problems(spec, data):
        yield "samples", text


def _report(
    contents: Contents, run: Manifest, measured: Mapping[tuple[str, ...], set[str]]
) -> RunReport:
    spec = run.document["spec"]
    timed_pass = _timed_pass(contents, spec)
    correct = spec["status"] == "passed" and _outputs_passed(spec, timed_pass)
    lacks = (
        *_lacks_protocol(contents, spec),
        *_lacks_samples(spec),
        *_lacks_observation(contents, spec),
        *_lacks_passes(measured.get(_revision(contents, spec), set()), timed_pass),
    )
    return RunReport(
        digest=run.digest,
        status=spec["status"],
        timed_pass=timed_pass,
        correct=correct,
        lacks=lacks if spec["status"] == "passed" else (),
    )


def _timed_pass(contents: Contents, spec: Mapping[str, Any]) -> str:
    return str(contents.spec(spec["protocolDigest"]).get("timedPass") or "unstated")


def _outputs_passed(spec: Mapping[str, Any], timed_pass: str) -> bool:
    """Every output was compared and passed; where gradients are timed, gradients too."""
    outputs = (spec.get("correctness") or {}).get("outputs") or {}
    if timed_pass in GRADIENT_PASSES and not any(name.startswith("grad_") for name in outputs):
        return False
    good = (one["passed"] and one.get("finite", True) for one in outputs.values())
    return bool(outputs) and all(good)


def _lacks_protocol(contents: Contents, spec: Mapping[str, Any]) -> Iterator[str]:
    facts = read_protocol(contents.manifests[spec["protocolDigest"]])
    if facts.semantics.profile != "controlled":
        yield "the controlled protocol"
    if (spec.get("correctness") or {}).get("timedCallsChecked", 0) < 1:
        yield "a timed call that was checked"


def _lacks_samples(spec: Mapping[str, Any]) -> Iterator[str]:
    if not (spec.get("samples") or {}).get("digest"):
        yield "its raw samples"
    rounds = (spec.get("timing") or {}).get("roundMediansNs") or []
    whole = sum(1 for one in rounds if len(one) >= MIN_ROUNDS)
    if whole < MIN_GENERATIONS:
        yield (
            f"{MIN_GENERATIONS} process generations of {MIN_ROUNDS} rounds (it has {whole} of "
            f"{len(rounds)})"
        )
    if not (spec.get("batch") or {}).get("calibration"):
        yield "the batch's calibration"


def _lacks_observation(contents: Contents, spec: Mapping[str, Any]) -> Iterator[str]:
    """Readings and a trace, where the device is a GPU."""
    hardware = contents.spec(spec["environmentDigest"])["hardware"]
    if not hardware["architecture"].startswith(GPU_ARCHITECTURES):
        return
    if not spec.get("telemetry"):
        yield "readings of the device's clocks and power"
    if not spec.get("executed"):
        yield "a trace of what ran"


def _lacks_passes(there: set[str], timed_pass: str) -> Iterator[str]:
    """A backward result needs forward and full of the same revision in the same batch."""
    for companion in COMPANIONS.get(timed_pass, ()):
        if companion not in there:
            yield f"the {companion} pass of the same revision in the same batch"


def _passes_measured(contents: Contents) -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for run in contents.runs():
        spec = run.document["spec"]
        if spec["status"] == "passed" and spec.get("timing"):
            found[_revision(contents, spec)].add(_timed_pass(contents, spec))
    return found


def _revision(contents: Contents, spec: Mapping[str, Any]) -> tuple[str, ...]:
    """What the passes of one candidate have in common: code, workload, machine, regime."""
    protocol = contents.spec(spec["protocolDigest"])
    regime = (
        (protocol.get("cache") or {}).get("regime"),
        (protocol.get("load") or {}).get("regime"),
        protocol.get("execution"),
    )
    parts = (spec["implementationDigest"], spec["workloadDigest"], spec["environmentDigest"])
    return *parts, *(str(one) for one in regime)
