"""Social cards: one answer or one run at 1200 x 630, for link previews."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from kernelindex.resolve.numbers import half_of, scale_for
from kernelindex.resolve.row_words import cells_of, rank_words
from kernelindex.web.charts.looks import LIGHT
from kernelindex.web.charts.scales import value_extent
from kernelindex.web.charts.text import clean_text, fit_text, text_width, wrap_text
from kernelindex.web.charts.words import head_title, rest_words, shape_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Cohort, Entry
    from kernelindex.resolve.dossier import RunDossier

WIDTH, HEIGHT = 1200, 630
MARGIN = 72
ROOM = WIDTH - 2 * MARGIN
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
MAX_ROWS = 4
ROW = 60


@dataclass(frozen=True, slots=True)
class CardRow:
    """One entry: ``share`` of the track is where its dot stands, 0 to 1."""

    rank: str
    name: str
    value: str
    ratio: str
    share: float
    leads: bool
    filled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The words and rows of a card; ``figure`` is the one large number, where there is one."""

    heading: str
    setting: str
    figure: str = ""
    sentence: str = ""
    rows: tuple[CardRow, ...] = ()
    axis: str = ""
    level: str = ""
    levels: tuple[str, ...] = ()
    reached: str = ""
    foot: str = ""

    @property
    def alt(self) -> str:
        """The card in one or two sentences."""
        said = f"{self.heading}. {self.figure + '. ' if self.figure else ''}{self.sentence}"
        return clean_text(said, 300)

    @property
    def digest(self) -> str:
        """40 hex digits of what is drawn."""
        return hashlib.sha256(self.to_svg().encode()).hexdigest()[:40]

    def to_svg(self) -> str:
        """The card as SVG, in the light look."""
        parts = [
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{LIGHT.ground}"/>',
            f'<rect width="{WIDTH}" height="10" fill="{LIGHT.accent}"/>',
            *_heading(self),
            *_body(self),
            _text("KernelIndex", MARGIN, 578, 26, LIGHT.ink, bold=True),
            _text(
                fit_text(self.foot, ROOM - 220, 22), WIDTH - MARGIN, 578, 22, LIGHT.muted, end=True
            ),
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t">'
            f'<title id="t">{escape(self.alt)}</title>{"".join(parts)}</svg>'
        )


def cohort_card(cohort: Cohort) -> Card:
    """The leaders of a group as a dot plot of at most four rows."""
    shown = cohort.entries[:MAX_ROWS]
    values = [entry.run.primary.value for entry in shown]
    scale = scale_for(values, cohort.metric.unit)
    extent = value_extent([value / scale.divisor for value in values]) if values else None
    cells = cells_of(shown, scale)
    rows = [
        CardRow(
            rank=rank_words(entry, cohort.entries),
            name=entry.implementation.title,
            value=f"{text} {scale.unit}".rstrip(),
            ratio=ratio,
            share=extent.position(value / scale.divisor, 1.0) if extent else 0.0,
            leads=entry.rank is not None and entry.rank.low == 1,
            filled=_is_filled(entry),
        )
        for entry, value, text, ratio in zip(shown, values, cells.values, cells.ratios, strict=True)
    ]
    left_out = cohort.entry_count - len(shown)
    kind = "log scale" if extent and extent.is_log else "from zero"
    unbeaten = max(0, len(cohort.unbeaten) - sum(row.leads for row in rows))
    more = f"; {rest_words(left_out, unbeaten).removeprefix('and ')}" if left_out > 0 else ""
    return Card(
        heading=head_title(cohort),
        setting=shape_words(cohort.operation, cohort.shape),
        sentence=cohort.summary,
        rows=tuple(rows),
        axis=f"{cohort.metric.statistic} {cohort.metric.metric}, {kind}{more}" if rows else "",
        level=" and ".join(sorted({entry.evidence for entry in shown})),
        foot=cohort.regime,
    )


def run_card(dossier: RunDossier) -> Card:
    """A run's number, where it stands, and the ladder of evidence."""
    primary = dossier.primary
    figure = ""
    if primary is not None:
        scale = scale_for([primary.value], primary.unit)
        figure = scale.with_unit(primary.value, half_of(dossier.interval))
    shape = shape_words(dossier.operation, dossier.shape)
    return Card(
        heading=dossier.title,
        setting=shape,
        figure=figure,
        sentence=dossier.summary,
        levels=dossier.ladder.levels,
        reached=dossier.ladder.reached,
        foot=f"run {dossier.identity.run.removeprefix('sha256:')[:12]}",
    )


def _is_filled(entry: Entry) -> bool:
    return entry.run.interval is not None and entry.evidence in {"verified", "replicated"}


def _head_lines(card: Card) -> tuple[int, tuple[str, ...]]:
    """Size and lines of the heading: as large as one line allows, else two lines."""
    cleaned = clean_text(card.heading)
    size = next((size for size in (44, 38) if text_width(cleaned, size, bold=True) <= ROOM), 40)
    return size, wrap_text(cleaned, ROOM, size, 2, bold=True)


def _heading(card: Card) -> list[str]:
    size, lines = _head_lines(card)
    found = [
        _text(line, MARGIN, 96 + 50 * index, size, LIGHT.ink, bold=True)
        for index, line in enumerate(lines)
    ]
    y = 96 + 50 * len(lines)
    return [*found, _text(fit_text(card.setting, ROOM, 26), MARGIN, y - 6, 26, LIGHT.muted)]


def _body(card: Card) -> list[str]:
    top = 96 + 50 * len(_head_lines(card)[1]) + 34
    if card.rows:
        return _rows(card, top)
    found = []
    if card.figure:
        found.append(_text(card.figure, MARGIN, top + 84, 92, LIGHT.accent, bold=True))
        top += 128
    for line in wrap_text(card.sentence, ROOM, 29, 3):
        found.append(_text(line, MARGIN, top + 10, 29, LIGHT.ink))
        top += 40
    return [*found, *_ladder(card)]


def _ladder(card: Card) -> list[str]:
    """The evidence levels in words, the reached one bold and underlined."""
    x, found = float(MARGIN), []
    for level in card.levels:
        reached = level == card.reached
        colour = LIGHT.ink if reached else LIGHT.muted
        found.append(_text(level, x, 520, 26, colour, bold=reached))
        width = text_width(level, 26, bold=reached)
        if reached:
            found.append(
                f'<rect x="{x:g}" y="530" width="{width:.1f}" height="4" fill="{colour}"/>'
            )
        x += width + 40
    return found


def _rows(card: Card, top: float) -> list[str]:
    """Rank, name, dot on its track, value and ratio of each row."""
    start, end = MARGIN + 470, WIDTH - MARGIN - 250
    found = []
    for index, row in enumerate(card.rows):
        y = top + 26 + ROW * index
        colour = LIGHT.accent if row.leads else LIGHT.ink
        x = start + (end - start) * min(max(row.share, 0.0), 1.0)
        fill = colour if row.filled else LIGHT.ground
        name = fit_text(row.name, 390, 26, bold=row.leads)
        found += [
            _line(MARGIN, y - 38, WIDTH - MARGIN),
            _text(fit_text(row.rank, 56, 22), MARGIN, y, 22, LIGHT.muted),
            _text(name, MARGIN + 62, y, 26, LIGHT.ink, bold=row.leads),
            f'<path d="M{start} {y - 8:g}H{end}" stroke="{LIGHT.line}" stroke-width="2"/>',
            f'<circle cx="{x:.1f}" cy="{y - 8:g}" r="10" fill="{fill}" stroke="{colour}" '
            'stroke-width="4"/>',
            _text(row.value, WIDTH - MARGIN - 100, y, 26, LIGHT.ink, end=True),
            _text(row.ratio, WIDTH - MARGIN, y, 24, LIGHT.muted, end=True),
        ]
    bottom = top + 26 + ROW * len(card.rows) - 38
    found.append(_line(MARGIN, bottom, WIDTH - MARGIN))
    return [*found, *_under(card, bottom)]


def _under(card: Card, bottom: float) -> list[str]:
    """What the dots are, then as much of the sentence as there is room for."""
    start = MARGIN + 470
    found = [
        _text(fit_text(card.level, 440, 20), MARGIN, bottom + 30, 20, LIGHT.ink, bold=True),
        _text(fit_text(card.axis, 560, 20), start, bottom + 30, 20, LIGHT.muted),
    ]
    lines = min(3, int((536 - bottom - 44) // 34))
    if lines > 0:
        said: Sequence[str] = wrap_text(card.sentence, ROOM, 25, lines)
        found += [
            _text(line, MARGIN, bottom + 72 + 34 * index, 25, LIGHT.ink)
            for index, line in enumerate(said)
        ]
    return found


def _line(x: float, y: float, end: float) -> str:
    return f'<path d="M{x:g} {y:g}H{end:g}" stroke="{LIGHT.line}" stroke-width="1.5"/>'


def _text(
    text: str, x: float, y: float, size: float, fill: str, *, bold: bool = False, end: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    anchor = ' text-anchor="end"' if end else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="{FONT}" font-size="{size:g}" fill="{fill}"'
        f"{weight}{anchor}>{escape(clean_text(text))}</text>"
    )
