"""Badges for a README: small SVGs that claim no more than the index does.

``best`` is said only of an entry that leads alone among several, where no other group of the
same thing has a better or a verified leader; of how many it is best and its level stand in the
same badge, so that a reported lead of two never looks like a verified one of many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape

from kernelindex.resolve.rivals import TRUSTED
from kernelindex.web.charts.text import clean_text, text_width

if TYPE_CHECKING:
    from kernelindex.resolve.dossier import RunDossier
    from kernelindex.resolve.rivals import Rivals

Tone = Literal["claim", "trust", "plain"]

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
SIZE = 11.0
HEIGHT = 20
PAD = 7
MAX_MESSAGE = 48
GROUNDS: dict[Tone, str] = {"claim": "#1c5cb8", "trust": "#1b6b3a", "plain": "#59616b"}
"""White on each of them has at least 4.5:1."""
LABEL_GROUND = "#32383f"
INK = "#ffffff"
LABEL = "kernelindex"


@dataclass(frozen=True, slots=True)
class Badge:
    """``message`` beside the name of the index; ``meaning`` is the sentence behind it."""

    message: str
    tone: Tone
    meaning: str
    label: str = LABEL

    def to_svg(self) -> str:
        """The badge, 20 pixels high, as wide as its words."""
        label, message = clean_text(self.label, 24), clean_text(self.message, MAX_MESSAGE)
        left, right = _room(label), _room(message)
        said = escape(f"{label}: {message}. {clean_text(self.meaning, 300)}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" '
            f'role="img" aria-labelledby="t"><title id="t">{said}</title>'
            f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{GROUNDS[self.tone]}"/>'
            f'<path d="M3 0h{left - 3}v{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" '
            f'fill="{LABEL_GROUND}"/>'
            f'<g fill="{INK}" font-family="{FONT}" font-size="{SIZE:g}">'
            f"{_words(label, PAD, left)}{_words(message, left + PAD, right)}</g></svg>"
        )


def _room(text: str) -> int:
    return round(text_width(text, SIZE)) + 2 * PAD


def _words(text: str, x: int, room: int) -> str:
    """Text of a fixed length, so that another font of the reader moves nothing."""
    fixed = f'textLength="{room - 2 * PAD}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x}" y="14" {fixed}>{escape(text)}</text>'


def level_badge(dossier: RunDossier) -> Badge:
    """The evidence level a run has reached."""
    level = dossier.ladder.reached
    lacks = "; ".join(dossier.ladder.missing)
    after = f" {dossier.ladder.next} lacks: {lacks}." if dossier.ladder.next and lacks else ""
    tone: Tone = "trust" if level in TRUSTED else "plain"
    return Badge(level, tone, f"{dossier.title} is {level}.{after}")


def best_badge(dossier: RunDossier, rivals: Rivals) -> Badge:
    """Where a run stands in its group, with the level: ``best of …`` only where it may be said.

    ``rivals`` are the other groups of the same thing on the same GPU.
    """
    standing, level = dossier.standing, dossier.ladder.reached
    device = dossier.hardware.family or dossier.hardware.label
    tone: Tone = "plain"
    if dossier.primary is None:
        message = f"no result, {device}"
    elif dossier.retracted:
        message = f"retracted, {device}"
    elif standing.only_result:
        where = " of its group" if rivals.groups else ""
        message = f"only result{where}, {level}, {device}"
    elif standing.rank is None:
        message = f"not ranked, {device}"
    elif standing.represented_by:
        message = f"not its entry's best run, {device}"
    else:
        message = f"{_place(dossier, rivals)}, {level}, {device}"
        if standing.rank.high == 1:
            tone = "trust" if level in TRUSTED else "claim"
    return Badge(message, tone, dossier.summary)


def _place(dossier: RunDossier, rivals: Rivals) -> str:
    standing = dossier.standing
    low, high = (standing.rank.low, standing.rank.high) if standing.rank else (0, 0)
    if low == high == 1:
        said = "leads its group" if rivals.ahead else "best"
        return f"{said} of {standing.entry_count}"
    place = str(low) if low == high else f"{low}-{high}"
    return f"{place} of {standing.entry_count}"


def unknown_badge() -> Badge:
    """What a README shows for a run that is not here."""
    return Badge("not found", "plain", "This index has no such run.")
