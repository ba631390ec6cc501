"""How wide a text may become where its font is missing and its stated length unheeded.

Browsers keep to the length that a text of a chart states; other viewers of SVG do not, and
draw what they have instead of Arial. What stands before a plot is cut by these widths.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from kernelindex.web.charts.text import cut_text, known_advance

if TYPE_CHECKING:
    from collections.abc import Mapping

# The larger advance in 1/1000 em of Arial and DejaVu Sans, the widest of usual fallbacks,
# read from the fonts' own tables (``hmtx`` of DejaVu 2.37).
_REGULAR = (
    (275, "'"),
    (278, "ijlìíîïĩīĭı"),
    (295, "I"),
    (318, " ,."),
    (333, "·"),
    (337, "|/:;\\"),
    (352, "f"),
    (361, "-"),
    (390, "[]()"),
    (392, "t"),
    (401, "!"),
    (411, "r"),
    (460, '"'),
    (500, "`*°J"),
    (525, "sz"),
    (557, "c?_–L"),
    (592, "kvxy"),
    (615, "FToae"),
    (636, "hnubdgpq{}$0123456789µ"),
    (667, "EKPSY"),
    (686, "AVZXB"),
    (732, "CRU"),
    (770, "NHD"),
    (787, "G&OQ"),
    (838, "w^±≤≥#+<=>~×"),
    (863, "M"),
    (974, "%m"),
    (1015, "W…—@"),
)
_BOLD = (
    (306, "'"),
    (348, "ijlìíîïĩīĭı "),
    (380, "/\\|I,.·"),
    (415, ":;-"),
    (457, "f!()[]"),
    (493, "tr"),
    (523, '`°"*'),
    (556, "J_–"),
    (595, "zcs"),
    (637, "?L"),
    (665, "xvyk"),
    (687, "aeTFEo"),
    (696, "$0123456789"),
    (716, "{}hnubdgpq"),
    (736, "SYZPCµ"),
    (775, "BRXVAK"),
    (837, "UGDHN"),
    (850, "±≤≥#+<=>^~×OQ"),
    (872, "&"),
    (924, "w"),
    (1002, "M@…—%"),
    (1042, "m"),
    (1103, "W"),
)
_OTHER = 1350
"""No letter of DejaVu's Greek and Cyrillic but three is wider, bold ones included."""
_IDEOGRAPH = 1000

_WIDTHS = {character: width for width, characters in _REGULAR for character in characters}
_BOLD_WIDTHS = {character: width for width, characters in _BOLD for character in characters}


@lru_cache(maxsize=4096)
def widest_width(text: str, size: float, *, bold: bool = False) -> float:
    """The most pixels that ``text`` takes at ``size`` pixels in any usual font."""
    table = _BOLD_WIDTHS if bold else _WIDTHS
    return sum(_advance(character, table) for character in text) * size / 1000.0


def fit_widest(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """``text`` cleaned, and cut with an ellipsis where some usual font exceeds ``width``."""
    return cut_text(text, lambda said: widest_width(said, size, bold=bold) <= width)


def _advance(character: str, table: Mapping[str, int]) -> int:
    known = known_advance(character, table)
    if known is None or (known == _IDEOGRAPH and not _is_ideograph(character, table)):
        return _OTHER
    return known


def _is_ideograph(character: str, table: Mapping[str, int]) -> bool:
    """Letters fill their em and no more; pictures such as emoji are wider in some fonts."""
    return character in table or unicodedata.category(character) == "Lo"
