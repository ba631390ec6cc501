"""Parts of manifests as labelled lines, for sections that show what was stated."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.resolve.numbers import significant
from kernelindex.units import format_bytes, format_duration_ns
from kernelindex.web.context import told
from kernelindex.web.show import align, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markupsafe import Markup

    Spec = Mapping[str, Any]

DURATIONS = frozenset(
    {
        "warmupDuration",
        "minimumDuration",
        "maximumDuration",
        "idleBefore",
        "firstCall",
        "setup",
        "anchorMedian",
    }
)
"""Fields in nanoseconds; a test holds them to the schemas of what is shown so."""
SIZES = "Bytes"
"""How the name of a field in bytes ends."""
SUMMARY = frozenset({"minimum", "median", "mean", "maximum", "samples"})
"""What is stated of readings that a runner took many times."""
MOST_LINES = 60
NAME_START, NAME_MIDDLE, NAME_END = 100, 40, 30
"""Letters kept of a kernel's name; those of one call that begin alike end apart, or conversely."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One stated thing."""

    label: str = field(metadata=told("what is stated, as words"))
    text: str = field(metadata=told("what it is, as words"))


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a workload."""

    name: str = field(metadata=told("its name in the operation"))
    shape: str = field(metadata=told("sizes, outermost first"))
    dtype: str = field(metadata=told("element type"))
    role: str = field(metadata=told("static, such as weights, or per call; empty if not stated"))
    data: str = field(metadata=told("how its values are made; empty if not stated"))


@dataclass(frozen=True, slots=True)
class Judged:
    """One output or gradient against the reference; errors with the bound that was set."""

    name: str = field(metadata=told("output, or grad_ and the input"))
    verdict: str = field(metadata=told("within its bounds, beyond one, or not finite"))
    frobenius: str = field(metadata=told("relative Frobenius error, and its bound"))
    worst_row: str = field(metadata=told("the same of the worst row or expert, and its bound"))
    largest: str = field(metadata=told("largest absolute error"))
    ratio: str = field(metadata=told("to a trusted implementation's error, and its bound"))


def judged(result: Spec, tolerances: Spec) -> tuple[Judged, ...]:
    """The outputs of a run's ``correctness``, with the workload's tolerances beside."""
    return tuple(
        Judged(
            name=name,
            verdict=_verdict(one),
            frobenius=_bounded(one, "frobeniusError", bounds, "maxFrobeniusError"),
            worst_row=_bounded(one, "worstRowError", bounds, "maxWorstRowError"),
            largest=_bounded(one, "maximumAbsoluteError", {}, ""),
            ratio=_bounded(one, "errorRatio", bounds, "maxErrorRatio"),
        )
        for name, one in (result.get("outputs") or {}).items()
        for bounds in [tolerances.get(name) or {}]
    )


def _verdict(one: Spec) -> str:
    if one.get("finite") is False:
        return "not finite"
    return "within its bounds" if one.get("passed") else "beyond a bound"


def _bounded(one: Spec, name: str, bounds: Spec, bound: str) -> str:
    value, most = one.get(name), bounds.get(bound)
    if value is None:
        return ""
    return f"{value:.3g}" + (f" of {most:g}" if most is not None else "")


def facts(spec: Spec, *, without: tuple[str, ...] = ()) -> tuple[Fact, ...]:
    """The fields of a spec in stored order, nested names joined; ``without`` leaves some out."""
    found = (
        fact for name, value in spec.items() if name not in without for fact in _of(name, value)
    )
    return tuple(fact for _, fact in zip(range(MOST_LINES), found, strict=False))


def readings(spec: Spec) -> tuple[Fact, ...]:
    """What a runner recorded, a line for all readings of one thing and four digits at most.

    The unrounded numbers are in the run's manifest.
    """
    found: list[Fact] = []
    for name, value in spec.items():
        inner = value if isinstance(value, dict) else {}
        plain = {key: one for key, one in inner.items() if not _is_summary(one)}
        if plain or not inner:
            found += (_rounded(one) for one in facts({name: plain if inner else value}))
        found += (
            Fact(label_of(f"{name} {key}"), _summary_words(one))
            for key, one in inner.items()
            if _is_summary(one)
        )
    return tuple(found)


def _is_summary(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= SUMMARY


def _summary_words(one: Spec) -> str:
    """``230.5 to 563.1, median 272.2, of 96 readings``; a constant once."""
    low, middle, high = (significant(one[name], 4) for name in ("minimum", "median", "maximum"))
    if low == high:
        return f"{low} in all {one['samples']} readings"
    return f"{low} to {high}, median {middle}, of {one['samples']} readings"


def _rounded(fact: Fact) -> Fact:
    try:
        number = float(fact.text)
    except ValueError:
        return fact
    return fact if number.is_integer() else Fact(fact.label, significant(number, 4))


@dataclass(frozen=True, slots=True)
class Executed:
    """One kind of device work in a call."""

    kernel: str = field(metadata=told("name of the kernel, its middle left out where it is long"))
    is_cut: bool = field(metadata=told("whether something of the name is left out"))
    launches: str = field(metadata=told("how often it ran; empty if not stated"))
    share: Markup = field(metadata=told("percent of the call's device time, padded to align"))


def executed(spec: Spec) -> tuple[Executed, ...]:
    """The kernels of a run's one profiled call, the longest first."""
    found = sorted(spec.get("executed") or (), key=lambda one: -(one.get("share") or 0.0))
    shares = align([f"{100 * one['share']:.1f}" if one.get("share") else "" for one in found])
    names = [str(one.get("kernel", "")) for one in found]
    shown = shorten_apart(names)
    return tuple(
        Executed(
            kernel=shown[name],
            is_cut=shown[name] != name,
            launches=f"{one['launches']:,}" if "launches" in one else "",
            share=share,
        )
        for one, name, share in zip(found, names, shares, strict=True)
    )


def shorten_apart(names: Iterable[str]) -> dict[str, str]:
    """Long names without their middle; where that would make two alike, with what differs in it."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(_shortened(name), []).append(name)
    shown: dict[str, str] = {}
    for short, group in alike.items():
        if len(group) == 1:
            shown[group[0]] = short
            continue
        start = _beginning(group)
        end = _beginning([name[::-1] for name in group])
        told = {name: _shortened(name, name[start : len(name) - end]) for name in group}
        shown |= told if len(set(told.values())) == len(group) else {name: name for name in group}
    return shown


def _beginning(names: Sequence[str]) -> int:
    """How many letters all of them begin with."""
    letters = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda these: len(set(these)) == 1, letters))


def _shortened(name: str, middle: str = "") -> str:
    if len(name) <= NAME_START + NAME_END:
        return name
    kept = f"{middle[:NAME_MIDDLE]}…" if middle else ""
    return f"{name[:NAME_START]}…{kept}{name[-NAME_END:]}"


def tensors(workload: Spec) -> tuple[Tensor, ...]:
    """The tensors of a workload case."""
    return tuple(
        Tensor(
            name=name,
            shape=" × ".join(str(size) for size in one.get("shape", ())),
            dtype=str(one.get("dtype", "")),
            role=str(one.get("role", "")).replace("_", " "),
            data=_data(one.get("data", {})),
        )
        for name, one in workload.get("tensors", {}).items()
    )


def label_of(name: str) -> str:
    """``compileIncluded`` as ``compile included``."""
    spaced = "".join(f" {char.lower()}" if char.isupper() else char for char in name)
    return spaced.replace("_", " ").strip()


def _of(name: str, value: Any) -> Iterator[Fact]:
    if isinstance(value, dict):
        for inner, below in value.items():
            yield from _of(f"{name} {inner}" if inner != "name" else name, below)
    elif value and isinstance(value, list) and all(_is_case(one) for one in value):
        for number, one in enumerate(value, start=1):
            yield Fact(label_of(f"{name} {number}"), pairs(one["axes"]))
    else:
        yield Fact(label_of(name), text_of(value, name.rpartition(" ")[2]))


def _is_case(value: Any) -> bool:
    """Whether it is one shape of a suite: its own id says nothing to a reader."""
    return isinstance(value, dict) and isinstance(value.get("axes"), dict) and bool(value["axes"])


def text_of(value: Any, name: str = "") -> str:
    """A stated value as words: durations and sizes with a unit, lists with commas, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in DURATIONS and isinstance(value, int):
        return format_duration_ns(value, 3)
    if name.endswith(SIZES) and isinstance(value, int):
        return format_bytes(value)
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(text_of(one) for one in value) or "none"
    if isinstance(value, list):
        return orjson.dumps(value).decode()
    return str(value)


def _data(data: Spec) -> str:
    parameters = " ".join(f"{name}={value}" for name, value in data.get("parameters", {}).items())
    seed = f"seed {data['seed']}" if "seed" in data else ""
    maker = str(data.get("generator", "")).replace("_", " ")
    return ", ".join(part for part in (maker, parameters, seed) if part)
