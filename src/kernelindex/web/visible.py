"""Text from outside made harmless and visible before it enters a page.

Markup is escaped by the templates; this is about what is left: characters that do not
show but change how their neighbours are read (controls, marks of direction, invisible
ones), which become their code points in words, and piles of marks, which are counted.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from kernelindex.text import HIDDEN, show_hidden

MOST_MARKS = 4
"""Marks kept on one letter; no language stacks more of these, and a pile covers other rows."""
_MARK = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_PILE = re.compile(f"({_MARK}{{{MOST_MARKS}}})({_MARK}+)")
_AMP, _LESS, _MORE = ("&amp;", "&lt;", "&gt;")


def finalize(value: object) -> object:
    """What a template prints for ``value``: hidden characters shown, None as nothing."""
    if value is None:
        return ""
    if type(value) is not str or (value.isascii() and not HIDDEN.search(value)):
        return value
    return _PILE.sub(_counted, show_hidden(value))


def _counted(match: re.Match[str]) -> str:
    return f"{match[1]}(+{len(match[2])} marks)"


def verbatim(text: str) -> Markup:
    """Text for the inside of an element, quotes kept as they are, which is much shorter."""
    safe = show_hidden(text).replace("&", _AMP).replace("<", _LESS).replace(">", _MORE)
    return Markup(safe)
