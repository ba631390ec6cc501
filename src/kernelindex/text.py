"""Text from outside made visible before it is shown, on a terminal or on a page."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Characters that do not show but change how their neighbours are read, or what a terminal does:
controls (tab and line feed aside), marks of direction, invisible ones, lone surrogates."""


def show_hidden(text: str) -> str:
    """``text`` with every hidden or reordering character shown as its escape."""
    return HIDDEN.sub(_escape, text) if HIDDEN.search(text) else text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
