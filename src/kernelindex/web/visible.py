"""Text from outside made harmless and visible before it enters a page.

Markup is escaped by the templates; this is about what is left: characters that do not
show but change how their neighbours are read (controls, marks of direction, invisible
ones), which become their code points in words.
"""

from __future__ import annotations

import re

from markupsafe import Markup

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_AMP, _LESS, _MORE = ("&amp;", "&lt;", "&gt;")


def visible(text: str) -> str:
    """``text`` with every hidden or reordering character shown as an escape."""
    return _HIDDEN.sub(_escape, text) if _HIDDEN.search(text) else text


def finalize(value: object) -> object:
    """What a template prints for ``value``: hidden characters shown, None as nothing."""
    if value is None:
        return ""
    if type(value) is str and _HIDDEN.search(value):
        return _HIDDEN.sub(_escape, value)
    return value


def verbatim(text: str) -> Markup:
    """Text for the inside of an element, quotes kept as they are, which is much shorter."""
    safe = visible(text).replace("&", _AMP).replace("<", _LESS).replace(">", _MORE)
    return Markup(safe)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
