"""A run or an object on the terminal, in the order of its page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kernelindex.cli.render.doubts import doubt_words
from kernelindex.cli.render.lists import print_run_lines
from kernelindex.cli.render.pairs import mapping_words, print_list, print_pairs
from kernelindex.cli.render.tables import Column, build_table
from kernelindex.cli.terminal import clean
from kernelindex.ids import short
from kernelindex.resolve.numbers import half_of, memory_text, scale_for, significant

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.resolve.dossier import Ladder, ObjectDossier, RunDossier


MAX_SPEC_LINES = 40


def print_run(console: Console, run: RunDossier) -> None:
    """The first screen of a run's page, then its parts."""
    console.print(clean(run.title), style="bold")
    console.print(clean(run.summary))
    console.print()
    print_pairs(console, _first_screen(run))
    _print_doubts(console, run)
    print_pairs(console, _workload(run), "Workload")
    print_pairs(console, _identity(run), "Identity")
    print_pairs(console, _correctness(run), "Correctness")
    _print_measurements(console, run)
    _print_siblings(console, run)
    print_list(console, "Rerun", [one.text for one in run.reruns])
    print_list(console, "By axis", [gap.text for gap in run.gaps])
    print_pairs(console, _protocol(run), "Protocol and environment")
    print_pairs(console, _source(run), "Source")
    artifacts = [f"{a.name}  {a.digest}  {a.uri}" for a in run.artifacts]
    print_list(console, "Artifacts", artifacts or ["none: no samples or logs were handed over"])
    print_list(console, "Notes", [run.attestations])
    print_list(console, "Cite", [run.citation])
    console.print(f"\nall results: ki resolve {clean(run.more)}", style="dim")
    leader = run.standing.leader_run
    if leader and leader != run.identity.run:
        pair = f"{short(leader)} {short(run.identity.run)}"
        console.print(f"with the first: ki compare {pair}", style="dim")


def print_object(console: Console, found: ObjectDossier) -> None:
    """An object's names, counts, links, groups and runs."""
    console.print(clean(found.title or found.slug or found.kind), style="bold")
    head = [("kind", found.kind), ("slug", found.slug), ("digest", found.digest)]
    head += [("aliases", ", ".join(found.aliases)), ("sources", ", ".join(found.sources))]
    print_pairs(console, [*head, *found.facts.items()])
    print_pairs(console, [(f"{item.kind}", item.digest) for item in found.links], "Names")
    if found.cohorts:
        console.print("\nGroups", style="bold")
        columns = (Column("shape", flexible=True), Column("on"), Column("leads", flexible=True))
        rows = [
            (mapping_words(c.shape.axes), f"{clean(c.hardware.label)} {c.timed_pass}", c.leader)
            for c in found.cohorts
        ]
        console.print(build_table(columns, [tuple(map(clean, row)) for row in rows]))
    if found.manifest is not None:
        print_pairs(console, spec_lines(found.manifest["spec"]), "Manifest")
    if found.runs:
        console.print("\nRuns", style="bold")
        print_run_lines(console, found.runs)


def spec_lines(spec: dict[str, Any]) -> list[tuple[str, object]]:
    """A spec as one line a field; what lies deeper than one level stays compact JSON."""
    lines: list[tuple[str, object]] = []
    for name, value in spec.items():
        if isinstance(value, dict) and value and len(lines) < MAX_SPEC_LINES:
            lines += [(f"{name}.{inner}", _plain(below)) for inner, below in value.items()]
        else:
            lines.append((name, _plain(value)))
    return lines[:MAX_SPEC_LINES]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _compact(value)


def _first_screen(run: RunDossier) -> list[tuple[str, object]]:
    limit = run.limit
    rows: list[tuple[str, object]] = [
        ("standing", run.standing.text),
        ("first", run.standing.leader),
        ("level", ladder_words(run.ladder)),
        ("next level lacks", "; ".join(run.ladder.missing)),
    ]
    if limit is not None:
        percents = (("nominal", limit.percent_nominal), ("attainable", limit.percent_attainable))
        said = [f"{significant(p, 2)} % of {name}" for name, p in percents if p is not None]
        rate = f"{significant(limit.tflops)} TFLOP/s" if limit.tflops else ""
        traffic = f"{significant(limit.tbps)} TB/s" if limit.tbps else ""
        rows.append(("limit", ", ".join(filter(None, [rate, traffic, *said]))))
    if run.peak_memory_bytes:
        rows.append(("peak memory", memory_text(run.peak_memory_bytes)))
    rows += [("retracted", run.retracted), ("superseded by", run.superseded_by)]
    return rows


def ladder_words(ladder: Ladder) -> str:
    """The four levels in order, the one reached in brackets."""
    return " < ".join(f"[{name}]" if name == ladder.reached else name for name in ladder.levels)


def _print_doubts(console: Console, run: RunDossier) -> None:
    rows = [(d.effect, doubt_words(d), clean(d.text)) for d in run.doubts]
    if rows:
        console.print("\nDoubts", style="bold")
        columns = (Column("class"), Column("doubt", flexible=True), Column("why", flexible=True))
        console.print(build_table(columns, rows))


def _workload(run: RunDossier) -> list[tuple[str, object]]:
    return [
        ("operation", f"{run.operation_title} ({run.operation})"),
        ("axes", mapping_words(run.shape.axes)),
        ("dtypes", mapping_words(run.shape.dtypes)),
        ("distribution", run.shape.distribution),
        ("pass", run.timed_pass),
    ]


def _identity(run: RunDossier) -> list[tuple[str, object]]:
    ran, ids = run.implementation, run.identity
    where = " · ".join(part for part in (ran.project, ran.entry_point, run.revision) if part)
    return [
        ("what ran", where),
        ("implementation", f"{ran.slug}  {ids.implementation}"),
        ("run", ids.run),
        ("workload", ids.workload),
        ("comparison key", ids.comparison_key),
        ("cohort", ids.cohort_key),
        ("external id", ids.external_id),
        ("aliases", ", ".join(ids.aliases)),
    ]


def _correctness(run: RunDossier) -> list[tuple[str, object]]:
    policy, result = run.correctness.get("policy"), run.correctness.get("result")
    return [
        ("policy", _compact(policy) if policy else "not stated"),
        ("result", _compact(result) if result else "the run says nothing of its correctness"),
    ]


def _print_measurements(console: Console, run: RunDossier) -> None:
    rows = [
        (clean(m.get("metric", "")), clean(m.get("statistic", "")), _value(m))
        for m in run.measurements
    ]
    if rows:
        console.print("\nMeasurements", style="bold")
        columns = (Column("metric"), Column("statistic"), Column("value", "right"))
        console.print(build_table(columns, rows))


def _value(measurement: dict[str, Any]) -> str:
    value, unit = measurement.get("value"), str(measurement.get("unit", ""))
    if not isinstance(value, int | float):
        return clean(f"{_compact(value)} {unit}")
    return clean(f"{value:,} {unit}")


def _print_siblings(console: Console, run: RunDossier) -> None:
    if not run.siblings:
        return
    scale = scale_for([s.value for s in run.siblings], run.siblings[0].unit)
    lines = [
        f"{s.timed_pass}, {s.regime}: {scale.with_unit(s.value, half_of(s.interval))}"
        f"  {short(s.run)}"
        for s in run.siblings
    ]
    print_list(console, "Other passes", lines)


def _protocol(run: RunDossier) -> list[tuple[str, object]]:
    return [
        ("protocol", " ".join(filter(None, [run.protocol.name, run.protocol.version]))),
        ("profile", run.profile),
        ("rules", mapping_words(run.protocol.rules)),
        ("device", run.hardware.label),
        ("device class", mapping_words(run.hardware.device_class)),
        ("stack", mapping_words(run.stack) or "no software versions stated"),
        ("observed", f"{run.observed.get('text')} ({run.observed.get('zone')} zone)"),
    ]


def _source(run: RunDossier) -> list[tuple[str, object]]:
    native = run.source_native.get("metrics", {})
    return [
        ("source", " ".join(filter(None, [run.source.title, f"({run.source.slug})"]))),
        ("licence", run.source.licence),
        ("published", run.source.published_at),
        ("its own metrics", mapping_words(native)),
        ("supplied by our table", ", ".join(run.source.bound)),
        *((f"row {place}", _compact(row)) for place, row in enumerate(run.source.rows, start=1)),
    ]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
