"""A chart: what is drawn, the numbers behind it, and the words that replace it."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import orjson

from kernelindex.web.charts.text import clean_text

Kind = Literal["cohort", "sweep", "samples", "ecdf", "limit", "roofline", "records"]
Cell = str | float | int | None
Spec = Mapping[str, Any]

KINDS: tuple[Kind, ...] = ("cohort", "sweep", "samples", "ecdf", "limit", "roofline", "records")
ENCODING_VERSION = 2
"""Raised when the same specification is to be drawn differently."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Frame:
    """The room a chart is drawn in, in pixels at its natural size."""

    name: Literal["wide", "narrow"]
    width: int

    @property
    def is_narrow(self) -> bool:
        """Whether labels stand above their rows instead of beside them."""
        return self.name == "narrow"


WIDE = Frame("wide", 720)
NARROW = Frame("narrow", 358)


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart, unrounded; a column name carries its unit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> Table:
        """A table whose texts are made safe to show."""
        return cls(
            tuple(clean_text(name) for name in columns),
            tuple(tuple(map(_clean_cell, row)) for row in rows),
        )

    def to_csv(self) -> str:
        """RFC 4180 text; a text that a spreadsheet would run as a formula is quoted by ``'``."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow([_as_text(name) for name in self.columns])
        writer.writerows([_as_text(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def _clean_cell(cell: Cell) -> Cell:
    return clean_text(cell) if isinstance(cell, str) else cell


def _as_text(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return "'" + cell
    return cell


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One drawing with its data.

    ``spec``    Vega-Lite without colours: a theme is added when it is rendered
    ``alt``     what the drawing says, in one or two sentences
    ``source``  where the numbers come from
    """

    kind: Kind
    title: str
    alt: str
    source: str
    table: Table
    spec: Spec
    width: int
    height: int

    @cached_property
    def digest(self) -> str:
        """32 hex digits that change with anything that is drawn, said or tabulated."""
        content = {"v": ENCODING_VERSION, **self.to_dict()}
        data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(data).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data that ``chart_from_dict`` reads again."""
        return {
            "kind": self.kind,
            "title": self.title,
            "alt": self.alt,
            "source": self.source,
            "table": {"columns": self.table.columns, "rows": self.table.rows},
            "spec": self.spec,
            "width": self.width,
            "height": self.height,
        }


def chart_from_dict(data: Mapping[str, Any]) -> Chart:
    """The chart that ``Chart.to_dict`` wrote; KeyError or TypeError where it did not."""
    table = data["table"]
    rows = tuple(tuple(row) for row in table["rows"])
    known = {name: data[name] for name in ("kind", "title", "alt", "source", "spec")}
    return Chart(
        **known,
        table=Table(tuple(table["columns"]), rows),
        width=int(data["width"]),
        height=int(data["height"]),
    )


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """There is nothing honest to draw; ``reason`` is the sentence to show instead."""

    kind: Kind
    reason: str
