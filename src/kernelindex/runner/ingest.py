"""A batch folder signed, packed and chained: what the worker measured becomes evidence."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.evidence import bundle, ledger
from kernelindex.evidence.statement import BatchRecord, RunnerIdentity
from kernelindex.evidence.verify import verify
from kernelindex.runner import batch_files, bound_files
from kernelindex.runner.recording import BatchError, RunnerFacts, read_batch, record_batch
from kernelindex.runner.recording.protocol import NAME, VERSION
from kernelindex.runner.regimes import regimes_of
from kernelindex.runner.regular_file import read_regular
from kernelindex.runner.standings import judge_batch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kernelindex.evidence.keys import Signer
    from kernelindex.manifests import Manifest
    from kernelindex.runner.recording import Batch, RecordedRun
    from kernelindex.runner.standings import Judged

FILES = (
    *bound_files.SINGLE,
    batch_files.JOURNAL,
    batch_files.OUTCOME,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Who signs: the runner's name, owner and host, its key, and its ledger."""

    name: str
    owner: str
    host: str
    signer: Signer
    ledger: Path
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """A batch read, recorded, judged on its own, and sealed; ``said`` are sentences for people."""

    batch: Batch
    recorded: tuple[RecordedRun, ...]
    judged: tuple[Judged, ...]
    sealed: bundle.Sealed
    name: str
    said: tuple[str, ...] = ()


def read_and_judge(
    folder: Path, runner: RunnerFacts
) -> tuple[Batch, tuple[RecordedRun, ...], tuple[Judged, ...]]:
    """A batch folder as runs and their standing among each other; nothing is signed.

    Raises BatchError as ``read_batch`` does.
    """
    batch = read_batch(folder)
    recorded = record_batch(batch, runner)
    return batch, recorded, judge_batch(batch, recorded)


def ingest(folder: Path, signing: Signing, target: Path) -> Ingested:
    """Sign a batch folder and write its bundle below ``target``; its ledger line is closed.

    The plan must be the one the runner's ledger has under its number, and the folder whole:
    a number is closed once. Done twice, it gives the same bundle. Raises BatchError, and
    EvidenceError where the ledger or the statement refuses, or another bundle is in the place
    of this one; nothing is written then.
    """
    batch = read_batch(folder)
    _require_planned(batch, signing.ledger)
    _require_whole(batch)
    said = _require_unchanged(batch)
    previous = ledger.previous_digest(signing.ledger, batch.plan.number)
    identity = RunnerIdentity(
        name=signing.name,
        owner=signing.owner,
        host=signing.host,
        device=device_name(batch),
        public_key=signing.signer.public.text,
        version=signing.version,
    )
    recorded = record_batch(batch, runner_facts(identity, signing.signer), previous)
    sealed = bundle.seal(
        files=batch_bytes(folder),
        manifests=_each_once(recorded),
        signer=signing.signer,
        runner=identity,
        batch=_record(batch, previous),
        protocol={
            "name": NAME,
            "version": VERSION,
            "emulates": batch.plan.material.get("emulates"),
        },
        isolation=dict(batch.facts.get("isolation") or {}),
        calibration={"withinLimits": batch.calibration.get("withinLimits") is True},
        toolchain=_toolchain(batch),
        links={one.implementation.digest: one.project.name for one in recorded},
    )
    _require_sound(batch, sealed, signing)
    name = bundle.bundle_name(signing.name, batch.plan.number)
    bundle.write_and_close(
        target / name, sealed, signing.ledger, batch.plan.number, _outcome(batch)
    )
    return Ingested(
        batch=batch,
        recorded=recorded,
        judged=judge_batch(batch, recorded),
        sealed=sealed,
        name=name,
        said=said,
    )


def _require_planned(batch: Batch, path: Path) -> None:
    """The ledger holds this very plan under its number; a plan made later does not count."""
    seen = batch_files.file_digest(batch.folder / batch_files.PLAN)
    planned = {one.number: one for one in ledger.read(path) if one.event == ledger.PLANNED}
    entry = planned.get(batch.plan.number)
    if entry is None or entry.subject != seen:
        held = entry.subject if entry else "no such number"
        raise BatchError(
            f"{batch.folder}: its plan is {seen}, the ledger {path} has {held} for batch"
            f" {batch.plan.number}; a batch is planned here before it runs: ki bench plan",
            code="batch.not_planned",
        )


def _require_whole(batch: Batch) -> None:
    """Refuse a folder without an outcome, or that lacks what the worker had written by then.

    A worker that was killed leaves no outcome, and neither does a copy that was cut off: what
    either lacks can still come, so the number stays open.
    """
    outcome = batch.folder / batch_files.OUTCOME
    last = _last_entry(batch)
    if not outcome.exists() and last.get("event") != bound_files.ENDED:
        raise BatchError(
            f"{batch.folder}: has no {outcome.name}, so its worker was killed or still runs, or"
            " the folder was copied in part; nothing was signed. Run the worker again with the"
            " same plan and --out, which takes it up, or copy the folder again; to give it up:"
            f" ki evidence abort {batch.plan.number}",
            code="batch.not_ended",
        )
    wanted = [outcome, batch.folder / batch_files.FACTS, batch.folder / batch_files.CALIBRATION]
    wanted += [batch.folder / batch_files.SEED] if batch.outcome == "complete" else []
    lacking = [path.name for path in wanted if not path.exists()]
    if outcome.exists():
        lacking += _lacking_series(batch)
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise BatchError(
            f"{batch.folder}: lacks {', '.join(lacking[:3])}{more}, which the worker wrote; copy"
            " the folder again, for what is signed stays so",
            code="batch.partial",
        )


def _last_entry(batch: Batch) -> Mapping[str, Any]:
    return list(batch_files.read_journal(batch.folder))[-1]


def _require_unchanged(batch: Batch) -> tuple[str, ...]:
    """Refuse files that are not those which the journal's last line names; what is to be said.

    Of a folder whose worker named none it is said, and only the journal is held to its chain.
    """
    ended = _last_entry(batch)
    if not bound_files.is_bound(ended):
        return (
            f"batch {batch.id} was measured by an older worker: its journal names no files, so"
            " nothing shows whether they were changed before they were signed",
        )
    try:
        found = next(bound_files.changes(batch.folder, ended), None)
    except (OSError, ValueError) as error:
        raise BatchError(f"{batch.folder}: {error}", code="batch.changed") from error
    found = found or _outcome_change(batch, ended)
    if found is not None:
        name, why = found
        raise BatchError(
            f"{batch.folder / name}: {why}; it was changed after the worker wrote it, so nothing"
            " was signed. Copy the folder again, or measure again",
            code="batch.changed",
        )
    return ()


def _outcome_change(batch: Batch, ended: Mapping[str, Any]) -> tuple[str, str] | None:
    """The outcome where it is not the one that follows from the journal."""
    lines = batch_files.check_journal(batch.folder).lines
    wanted = bound_files.outcome_of(ended, lines, batch.journal_head)
    seen = batch_files.read_json(batch.folder / batch_files.OUTCOME)
    if seen == wanted:
        return None
    parts = [name for name in sorted({*seen, *wanted}) if seen.get(name) != wanted.get(name)]
    name = parts[0]
    return batch_files.OUTCOME, (
        f"{name} is {seen.get(name)!r:.80}, the journal says {wanted.get(name)!r:.80}"
    )


def _lacking_series(batch: Batch) -> list[str]:
    """Series of the plan that are not there, in words."""
    there = {(one.point.id, one.candidate.id, one.regime) for one in batch.series}
    return [
        f"the series of {candidate.id} ({regime.key()})"
        for point in batch.plan.points
        for candidate in point.candidates
        for timed_pass in point.passes
        if timed_pass in candidate.passes
        for regime in regimes_of(timed_pass, batch.plan.rules)
        if (point.id, candidate.id, regime) not in there
    ]


def _require_sound(batch: Batch, sealed: bundle.Sealed, signing: Signing) -> None:
    """Refuse to close a number with a bundle that nobody could verify."""
    faults = verify(sealed.data, [signing.signer.public]).faults
    if faults:
        raise BatchError(
            f"{batch.folder}: {faults[0].where}: {faults[0].text}; nothing was signed, as nobody"
            " could verify it. Copy the folder again, or declare the batch aborted:"
            f" ki evidence abort {batch.plan.number}",
            code="batch.unsound",
        )


def runner_facts(identity: RunnerIdentity, signer: Signer) -> RunnerFacts:
    """The identity as a run names it."""
    return RunnerFacts(
        id=identity.name,
        owner=identity.owner,
        host=identity.host,
        device=identity.device,
        key_digest=signer.public.digest,
        version=identity.version,
    )


def device_name(batch: Batch) -> str:
    """The device by its hashed serial identity, or the processor by its model."""
    gpu, cpu = batch.facts.get("gpu") or {}, batch.facts.get("cpu") or {}
    stated = gpu.get("uuid_hash") if batch.on_device else cpu.get("model")
    return str(stated or batch.plan.device)[:200]


def batch_bytes(folder: Path) -> dict[str, bytes]:
    """The files of a batch folder that its statement covers, byte for byte.

    Raises BatchError for a link in a file's place: what it leads to was not measured.
    """
    paths = {name: folder / name for name in FILES if os.path.lexists(folder / name)}
    series = batch_files.series_files(folder)
    paths |= {f"{batch_files.SERIES}/{path.name}": path for path in series}
    try:
        return {name: read_regular(path) for name, path in paths.items()}
    except OSError as error:
        raise BatchError(
            f"{error.filename}: {error.strerror}; wanted the files that the worker wrote"
        ) from error


def _record(batch: Batch, previous: str | None) -> BatchRecord:
    return BatchRecord(
        number=batch.plan.number,
        previous_digest=previous,
        plan_digest=str(batch_files.file_digest(batch.folder / batch_files.PLAN)),
        outcome=_outcome(batch),
        seed_commitment=batch.seed_commitment,
        seed=batch.seed,
        journal_head=batch.journal_head,
    )


def _outcome(batch: Batch) -> ledger.Outcome:
    """The outcome as a ledger has it; refuses one that no worker writes."""
    for outcome in ledger.OUTCOMES:
        if batch.outcome == outcome:
            return outcome
    raise BatchError(
        f"{batch.folder / batch_files.OUTCOME}: ended {batch.outcome!r}; wanted one of"
        f" {', '.join(ledger.OUTCOMES)}",
        code="batch.outcome",
    )


def _each_once(recorded: tuple[RecordedRun, ...]) -> list[Manifest]:
    found = {manifest.digest: manifest for one in recorded for manifest in one.manifests}
    return list(found.values())


def _toolchain(batch: Batch) -> dict[str, Any]:
    names = ("python", "torch", "cuda", "triton", "driver")
    return {name: str(batch.facts[name]) for name in names if batch.facts.get(name)}
