"""Whether what fits is one thing or several, and what that takes for granted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.answer import Assumption, Match
from kernelindex.resolve.shapes import several_shapes, shape_words
from kernelindex.resolve.wording import at_least, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.catalog.rows import CohortRow
    from kernelindex.resolve.findings import Findings
    from kernelindex.resolve.interpret import Meaning


@dataclass(frozen=True, slots=True)
class Settled:
    """The match and the assumptions it rests on; ``open_fields`` are what is ambiguous."""

    match: Match
    assumptions: tuple[Assumption, ...] = ()
    open_fields: tuple[str, ...] = ()


def settle(findings: Findings, meaning: Meaning) -> Settled:
    """Exact when one operation, one shape and (of a family) one product fit."""
    if not findings.fits:
        return Settled("nearest" if findings.near else "none")
    notes: list[Assumption] = []
    open_fields: list[str] = []
    for check in (_operations, _axes, _dtypes, _products):
        note, is_open = check(findings, meaning)
        open_fields += [check.__name__.strip("_")] if is_open else []
        is_said = "operations" in open_fields and check in (_axes, _dtypes)
        notes += [note] if note and not is_said else []
    notes += _notes(findings, meaning)
    return Settled("ambiguous" if open_fields else "exact", tuple(notes), tuple(open_fields))


Check = tuple[Assumption | None, bool]


def _operations(findings: Findings, meaning: Meaning) -> Check:
    fits = findings.fits
    slugs = _distinct(row.operation for row in fits)
    if len(slugs) < 2:
        return None, False
    titles = _distinct(row.operation_title or row.operation for row in fits)
    count = at_least(f"{len(slugs)} operations", findings.read_all)
    text = f"{count} fit: {listed(titles)}; each is answered on its own."
    return Assumption(code="operation_open", text=text, taken=tuple(slugs)), True


def _axes(findings: Findings, meaning: Meaning) -> Check:
    """Axes left out are filled where only one size was measured, else they are open."""
    fits = findings.fits
    free: dict[str, set[int]] = {}
    for row in fits:
        for name, value in row.axes.items():
            if name not in meaning.axes:
                free.setdefault(name, set()).add(value)
    if several_shapes(fits):
        names = sorted(name for name, values in free.items() if len(values) > 1)
        said = f"{', '.join(names)} not given: " if names else ""
        count = at_least(shape_words(fits), findings.read_all, begins=not said)
        text = f"{said}{count} fit; each is answered on its own."
        return Assumption(code="axes_open", text=text, taken=tuple(names)), True
    if not free or not fits[0].axes:
        return None, False
    filled = tuple(f"{name}={min(values)}" for name, values in sorted(free.items()))
    fits_only = "Only one measured shape fits" if findings.read_all else "One shape was read"
    text = f"{fits_only}: {', '.join(filled)}."
    return Assumption(code="axes_filled", text=text, taken=filled), False


def _dtypes(findings: Findings, meaning: Meaning) -> Check:
    """Dtypes left out, or ambiguous ones, of which several variants were measured."""
    variants = _distinct(" + ".join(sorted(set(row.dtypes.values()))) for row in findings.fits)
    wide = not meaning.dtypes or any(len(wish) > 1 for wish in meaning.dtypes)
    if len(variants) < 2 or not wide:
        return None, False
    text = f"Several dtypes were measured: {listed(variants)}; each is answered on its own."
    return Assumption(code="dtype_open", text=text, taken=tuple(variants)), True


def _products(findings: Findings, meaning: Meaning) -> Check:
    """A family with evidence on one product is that product, said; with more it is open."""
    device = meaning.device
    if device is None or not device.whole_family or len(device.product_ids) < 2:
        return None, False
    labels = _distinct(str(row.device.get("label", "")) for row in findings.fits)
    if len(labels) > 1:
        text = f"{device.asked} may be {listed(labels, 'or')}; each is answered on its own."
        return Assumption(code="hardware_open", text=text, taken=tuple(labels)), True
    text = f"{device.asked} was read as {labels[0]}, its only product with evidence here."
    note = Assumption(code="hardware_family", text=text, asked=device.asked, taken=tuple(labels))
    return note, False


def _notes(findings: Findings, meaning: Meaning) -> list[Assumption]:
    """What a question left open without making it ambiguous."""
    fits, notes = findings.fits, []
    if meaning.request.timed_pass is None:
        passes = _distinct(row.timed_pass for row in fits)
        text = f"No pass was asked for; {_passes(passes, findings.read_all)}."
        notes.append(Assumption(code="pass_open", text=text, taken=tuple(passes)))
    if meaning.device is None:
        labels = _distinct(str(row.device.get("label", "")) for row in fits)
        text = f"No GPU was asked for; each is answered on its own ({listed(labels)})."
        notes.append(Assumption(code="hardware_any", text=text, taken=tuple(labels)))
    if apart := _protocols_apart(fits):
        text = f"Protocols are not compared with each other: they differ in {listed(apart)}."
        notes.append(Assumption(code="protocols_apart", text=text, taken=tuple(apart)))
    sources = _distinct(row.source for row in fits)
    if len(sources) > 1 and meaning.source is None:
        text = f"Sources are not compared with each other: {listed(sources)}."
        notes.append(Assumption(code="sources_apart", text=text, taken=tuple(sources)))
    return notes


def _passes(passes: Sequence[str], read_all: bool) -> str:
    known = [name for name in passes if name != "unstated"]
    if not known:
        return "the source does not say which pass it timed"
    if len(passes) == 1:
        return f"only {known[0]} was {'measured' if read_all else 'read of what was measured'}"
    unsaid = " and one that a source does not state" if len(known) < len(passes) else ""
    return f"each is answered on its own ({', '.join(known)}{unsaid})"


def _protocols_apart(fits: Sequence[CohortRow]) -> list[str]:
    """The name or the rules in which protocols of one source, pass and device differ."""
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in fits:
        setting = (row.source, row.timed_pass, str(row.device.get("label")))
        rules = {"name": str(row.protocol.get("name")), **(row.protocol.get("rules") or {})}
        groups.setdefault(setting, []).append(rules)
    return sorted(
        {
            name
            for several in groups.values()
            for name in set().union(*several)
            if len({rules.get(name) for rules in several}) > 1
        }
    )


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
