"""Text that comes from outside, made safe and measured before it is drawn."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from kernelindex.text import show_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "…"
MAX_LABEL = 200
MAX_COMBINING = 2
"""Combining marks kept on one letter; stacks of them draw over their neighbours."""

_PLAIN = re.compile("[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027]*")
"""Text of which every character shows and none combines: nearly all there is."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_WIDE = frozenset({"W", "F"})
_EM_OTHER = 600
_EM_WIDE = 1000

# Advance widths in 1/1000 em of Arial and of the fonts metric-compatible with it, measured
# on Liberation Sans as vl-convert draws it.
_REGULAR = (
    (191, "'"),
    (222, "ijl"),
    (260, "|"),
    (278, " !,./:;\\[]Itfìíîïĩīĭı"),
    (333, "`()-r·"),
    (334, "{}"),
    (355, '"'),
    (389, "*"),
    (400, "°"),
    (469, "^"),
    (500, "ckvxyzsJ"),
    (549, "±≤≥"),
    (556, "#$0123456789?_abdeghnopquL–"),
    (576, "µ"),
    (584, "+<=>~×"),
    (611, "FTZ"),
    (667, "&ABEKPSVXY"),
    (722, "CDHNRUw"),
    (778, "GOQ"),
    (833, "Mm"),
    (889, "%"),
    (944, "W"),
    (1000, "…—"),
    (1015, "@"),
)
_BOLD = (
    (238, "'"),
    (278, " ,./Iijlìíîïĩīĭı\\"),
    (280, "|"),
    (333, "!()-:;[]`ft·"),
    (389, "*r{}"),
    (400, "°"),
    (474, '"'),
    (500, "z"),
    (549, "±≤≥"),
    (556, "#$0123456789J_aceksvxy–"),
    (576, "µ"),
    (584, "+<=>^~×"),
    (611, "?FLTZbdghnopqu"),
    (667, "EPSVXY"),
    (722, "&ABCDHKNRU"),
    (778, "GOQw"),
    (833, "M"),
    (889, "%m"),
    (944, "W"),
    (975, "@"),
    (1000, "…—"),
)
FALLBACK, FALLBACK_BOLD = 1.17, 1.25
"""How much wider texts of charts are in DejaVu Sans, the widest of usual fallbacks.

Measured in Chromium over titles, settings, names and notes: 1.04 to 1.17, bold 1.18 to 1.25.
"""

_WIDTHS = {character: width for width, characters in _REGULAR for character in characters}
_BOLD_WIDTHS = {character: width for width, characters in _BOLD for character in characters}


def clean_text(text: str, limit: int = MAX_LABEL) -> str:
    """``text`` on one line, visible as it is and unable to change what stands around it.

    Controls, bidi marks, zero-width characters and lone surrogates become the escapes that
    pages show too, private and unassigned ones U+FFFD, blank runs one space; stacked
    combining marks are cut, and the whole is at most ``limit`` characters.
    """
    if len(text) <= limit and "  " not in text and _PLAIN.fullmatch(text):
        return text.strip()
    kept: list[str] = []
    stacked = 0
    for character in text[: 4 * limit]:
        stacked = stacked + 1 if unicodedata.combining(character) else 0
        if stacked <= MAX_COMBINING:
            kept.append(_visible(character))
    joined = " ".join("".join(kept).split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + ELLIPSIS


def _visible(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if unicodedata.category(character) not in _HIDDEN:
        return character
    shown = show_hidden(character)
    return REPLACEMENT if shown == character else shown


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Width in pixels of ``text`` at ``size`` pixels, from a fixed table of advances."""
    table = _BOLD_WIDTHS if bold else _WIDTHS
    return sum(_advance(character, table) for character in text) * size / 1000.0


def has_known_width(text: str) -> bool:
    """Whether the width of every character is known and not merely estimated."""
    return all(known_advance(character, _WIDTHS) is not None for character in text)


def narrowest_room(width: float, *, bold: bool = False) -> float:
    """The room that a text may take by the table and not outgrow ``width`` in a fallback font.

    For lines that end at the edge of a picture: browsers keep to a text's stated length, but
    other viewers of SVG do not, and would cut it.
    """
    return width / (FALLBACK_BOLD if bold else FALLBACK)


def _advance(character: str, table: Mapping[str, int]) -> int:
    known = known_advance(character, table)
    return _EM_OTHER if known is None else known


def known_advance(character: str, table: Mapping[str, int]) -> int | None:
    """A letter with marks is as wide as without; an East Asian wide one fills its em."""
    width = table.get(character)
    if width is not None:
        return width
    if unicodedata.combining(character):
        return 0
    if unicodedata.east_asian_width(character) in _WIDE:
        return _EM_WIDE
    return table.get(unicodedata.normalize("NFD", character)[0])


def fit_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """``text`` cleaned, and cut with an ellipsis where it would be wider than ``width``."""
    return cut_text(text, lambda said: text_width(said, size, bold=bold) <= width)


def cut_text(text: str, fits: Callable[[str], bool]) -> str:
    """``text`` cleaned, and cut with an ellipsis to what ``fits``; a shorter text fits too."""
    cleaned = clean_text(text)
    if fits(cleaned):
        return cleaned
    low, high = 0, len(cleaned)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(cleaned[:middle] + ELLIPSIS):
            low = middle
        else:
            high = middle - 1
    return cleaned[:low].rstrip() + ELLIPSIS


def wrap_text(
    text: str, width: float, size: float, lines: int, *, bold: bool = False
) -> tuple[str, ...]:
    """``text`` cleaned and broken at spaces into at most ``lines`` lines of ``width``."""
    found: list[str] = []
    words = clean_text(text, limit=600).split(" ")
    while words and len(found) < lines - 1:
        count = _words_that_fit(words, width, size, bold=bold)
        found.append(fit_text(" ".join(words[:count]), width, size, bold=bold))
        words = words[count:]
    if words:
        found.append(fit_text(" ".join(words), width, size, bold=bold))
    return tuple(found)


def _words_that_fit(words: list[str], width: float, size: float, *, bold: bool) -> int:
    count = 1
    while count < len(words) and text_width(" ".join(words[: count + 1]), size, bold=bold) <= width:
        count += 1
    return count
