"""The catalogue as plans for the worker: cheats and their twins side by side, a few at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.runner.cheats.catalogue import FIXTURES, Entry
from kernelindex.runner.plan import Candidate, Limits, Plan, Point, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

CHEATS_A_POINT = 5
PATIENCE_S = 30.0
_ROUNDS = 6
_AXES = {
    ("rms-norm", "cpu"): {"tokens": 256, "hidden": 512},
    ("rms-norm", "cuda"): {"tokens": 4096, "hidden": 4096},
    ("moe-mlp", "cpu"): {"tokens": 32, "hidden": 256, "intermediate": 256, "experts": 8, "k": 2},
    ("moe-mlp", "cuda"): {
        # Weights large enough that laying them out anew costs what can be told from launches.
        "tokens": 256,
        "hidden": 4096,
        "intermediate": 4096,
        "experts": 4,
        "k": 2,
    },
}
_DTYPES = {"cpu": "fp32", "cuda": "bf16"}
_DRAWS = {
    "rms-norm": ("own", "stress", "uneven"),
    "moe-mlp": ("own", "stress", "uneven", "empty", "overfull"),
}
_LARGEST_BYTES_PER_S = 4.8e12  # an H200's memory; other devices are slower, so the floor holds


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan, and which candidate of which point stands for which entry and its twin."""

    plan: Plan
    cheats: dict[str, tuple[str, str]]
    twins: dict[str, tuple[str, str]]


def plan_catalogue(
    entries: Sequence[Entry], device: str, *, quick: bool = True, patience_s: float = PATIENCE_S
) -> Planned:
    """One batch of the entries; a point holds a few cheats and every twin of theirs.

    ``patience_s`` is how long a command may take: a dozen processes load torch at once.

    Entries of one operation and its passes are together, ``alone`` ones by themselves.
    ``cheats`` and ``twins`` map an entry's id to point and candidate.
    """
    groups: dict[tuple[object, ...], list[list[Entry]]] = {}
    for entry in entries:
        alike = entry.operation, entry.passes, str(entry.axes), entry.buffers
        chunks = groups.setdefault(alike, [])
        room = bool(chunks) and len(chunks[-1]) < CHEATS_A_POINT and not chunks[-1][0].alone
        if entry.alone or not room:
            chunks.append([])
        chunks[-1].append(entry)
    points: list[Point] = []
    cheats: dict[str, tuple[str, str]] = {}
    twins: dict[str, tuple[str, str]] = {}
    for chunk in (one for chunks in groups.values() for one in chunks):
        name = f"{len(points):02}-{chunk[0].operation}"
        candidates = {f"cheat/{one.id}": _candidate(one, cheat=True) for one in chunk}
        candidates |= {f"twin/{one.honest}": _candidate(one, cheat=False) for one in chunk}
        points.append(_point(name, chunk[0], device, tuple(candidates.values())))
        cheats |= {one.id: (name, f"cheat/{one.id}") for one in chunk}
        twins |= {one.id: (name, f"twin/{one.honest}") for one in chunk}
    plan = Plan(
        number=0,
        runner="cheats",
        device=device,
        purpose="study",
        time_budget_seconds=7200.0,
        rules=_rules(quick, device, patience_s),
        points=tuple(points),
    )
    return Planned(plan, cheats, twins)


def _candidate(entry: Entry, *, cheat: bool) -> Candidate:
    function, prepare = (
        (entry.entry, entry.prepare) if cheat else (entry.honest, entry.honest_prepare)
    )
    return Candidate(
        id=f"cheat/{entry.id}" if cheat else f"twin/{entry.honest}",
        entry=FIXTURES + function,
        passes=entry.passes,
        prepare=FIXTURES + prepare if prepare else None,
    )


def _point(name: str, entry: Entry, device: str, candidates: tuple[Candidate, ...]) -> Point:
    kind = device.partition(":")[0]
    return Point(
        id=name,
        operation=entry.operation,
        axes=(entry.axes if kind == "cpu" else None) or _AXES[entry.operation, kind],
        dtypes={"x": _DTYPES[kind], "weight": _DTYPES[kind]}
        if entry.operation == "rms-norm"
        else {"x": _DTYPES[kind]},
        passes=entry.passes,
        candidates=candidates,
        draws=_DRAWS[entry.operation],
        gradient_buffers=entry.buffers,
        limits=Limits(floor_ns=_floor_ns(entry, kind)),
    )


def _floor_ns(entry: Entry, kind: str) -> dict[str, float]:
    """Reading x and writing y once at the fastest memory there is; a device only."""
    if kind != "cuda" or entry.operation != "rms-norm":
        return {}
    axes = _AXES[entry.operation, kind]
    nbytes = 2 * 2 * axes["tokens"] * axes["hidden"]
    return {"inference": 1e9 * nbytes / _LARGEST_BYTES_PER_S}


def _rules(quick: bool, device: str, patience_s: float) -> Rules:
    """Enough to check, audit and time a few rounds; not enough for a record.

    One call of each round is judged, drawn among 10 to 40: a cheat that is honest in one of them
    is spared by all six draws once in a million runs at the most.
    """
    return Rules(
        generations=1,
        max_generations=1,
        rounds=_ROUNDS,
        round_seconds=0.03 if quick else 0.1,
        min_samples=10,
        max_samples=40,
        warmup_seconds=0.05,
        warmup_calls=5,
        switch_warmup_calls=2,
        switch_warmup_seconds=0.0,
        rotation_sets=3,
        # A flush of a host's large cache takes longer than all calls; floors are held cold.
        cache=("hot",) if device == "cpu" else ("cold",),
        load=("sustained",),
        command_timeout_seconds=patience_s,
        checks_per_generation=_ROUNDS,
        pad_bytes=1 << 20,
        gaps="worked",  # as records are measured
    )
