"""Text from outside made harmless and visible before it enters a page.

Markup is escaped by the templates; this is about what is left: characters that do not
show but change how their neighbours are read (controls, marks of direction, invisible
ones), which become their code points in words.
"""

from __future__ import annotations

from markupsafe import Markup

from kernelindex.text import HIDDEN, show_hidden

_AMP, _LESS, _MORE = ("&amp;", "&lt;", "&gt;")


def finalize(value: object) -> object:
    """What a template prints for ``value``: hidden characters shown, None as nothing."""
    if value is None:
        return ""
    if type(value) is str and HIDDEN.search(value):
        return show_hidden(value)
    return value


def verbatim(text: str) -> Markup:
    """Text for the inside of an element, quotes kept as they are, which is much shorter."""
    safe = show_hidden(text).replace("&", _AMP).replace("<", _LESS).replace(">", _MORE)
    return Markup(safe)
