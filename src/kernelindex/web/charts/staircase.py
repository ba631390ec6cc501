"""Records: the leader's value over time, its evidence as line style, retractions struck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import Scale, scale_for
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.layers import KeyItem, Sheet
from kernelindex.web.charts.staircase_drawing import MAX_LISTED, Drawing, Span
from kernelindex.web.charts.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

MAX_STEPS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordStep:
    """One change of leader, in order.

    ``leader``     who leads from here; None where several are unbeaten
    ``level``      evidence level of the leader's run, empty where it is not known
    ``retracts``   the change is a retraction: the step before it is struck through
    """

    date: date | None
    leader: str | None
    value: float | None
    level: str = ""
    retracts: bool = False
    same_day: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInput:
    """The changes of one cohort's leader, oldest first; ``until`` is the last day known."""

    title: str
    setting: str
    source: str
    metric: str
    unit: str
    direction: str | None
    steps: tuple[RecordStep, ...]
    until: date | None = None


def records_chart(data: RecordsInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """The staircase of the last 24 dated changes."""
    dated = [step for step in data.steps if step.date is not None]
    if not any(step.value is not None for step in dated):
        return NotDrawn("records", "No change of leader with a date is known here.")
    kept = dated[-MAX_STEPS:]
    scale = scale_for([step.value for step in kept if step.value is not None], data.unit)
    spans = spans_of(kept, data.until)
    drawing = Drawing(frame, spans, scale, data.metric)
    sheet = Sheet(
        frame=frame,
        left=drawing.left,
        right=drawing.right,
        plot_height=drawing.height,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=drawing.layers(),
        key=_key(spans, len(dated) - len(kept), len(data.steps) - len(dated)),
        axis_room=drawing.axis_room,
        head_room=34,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="records",
        title=clean_text(data.title),
        alt=_alt(data, spans, scale),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def spans_of(steps: Sequence[RecordStep], until: date | None) -> list[Span]:
    """Each leader's time at the top; it ends where the next change begins."""
    found: list[Span] = []
    for index, step in enumerate(steps):
        following = steps[index + 1] if index + 1 < len(steps) else None
        if step.date is None or step.value is None or step.leader is None:
            continue
        end = following.date if following and following.date else None
        found.append(
            Span(
                start=step.date,
                end=end or max(until or step.date, step.date),
                is_open=following is None,
                name=step.leader,
                value=step.value,
                level=step.level,
                struck=bool(following and following.retracts),
            )
        )
    return found


def _key(spans: Sequence[Span], cut: int, undated: int) -> list[KeyItem]:
    levels = ("reported", "reproducible", "verified", "replicated")
    present = {span.drawn_level for span in spans}
    found = [KeyItem("line", f"step-{name}", name) for name in levels if name in present]
    if any(span.struck for span in spans):
        found.append(KeyItem("line", "strike", "through a dot or a name: retracted"))
    if len(spans) > MAX_LISTED:
        found.append(KeyItem("line", "hairline", f"and {len(spans) - MAX_LISTED} more in the data"))
    if cut:
        found.append(KeyItem("line", "hairline", f"{cut:,} earlier changes are not drawn"))
    if undated:
        found.append(KeyItem("line", "hairline", f"{undated:,} changes without a date"))
    return found


def _alt(data: RecordsInput, spans: Sequence[Span], scale: Scale) -> str:
    last = spans[-1]
    name = clean_text(last.name, limit=80)
    value = scale.with_unit(last.value)
    if not last.is_open:
        now = f"Nobody leads alone now; {name} did last, at {value}"
    else:
        now = f"{name} leads since {last.start.isoformat()} at {value}"
    many = f"; the first of {len(spans)} leaders stood at {scale.with_unit(spans[0].value)}"
    struck = sum(span.struck for span in spans)
    more = f" {struck} of them was retracted." if struck == 1 else ""
    more = f" {struck} of them were retracted." if struck > 1 else more
    return f"{now}{many if len(spans) > 1 else ', the only leader so far'}.{more}"


def _table(data: RecordsInput) -> Table:
    columns = ("date", "same day as another", "leader", f"value ({data.unit})", "level", "change")
    rows: list[tuple[Cell, ...]] = [
        (
            step.date.isoformat() if step.date else None,
            "yes" if step.same_day else "no",
            clean_text(step.leader) if step.leader else "several are unbeaten",
            step.value,
            clean_text(step.level, limit=40) or None,
            "retraction" if step.retracts else "new leader",
        )
        for step in data.steps
    ]
    return Table.of(columns, rows)
