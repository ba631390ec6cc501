"""XML documents whose text holds nothing that XML cannot, or that a reader cannot see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def plain(text: str) -> str:
    """``text`` with what XML forbids, or what hides or reorders text, as its code point."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def add(
    parent: ET.Element, tag: str, text: str | None = None, attributes: Mapping[str, str] = {}
) -> ET.Element:
    """A child with text and attributes."""
    child = ET.SubElement(parent, tag, {name: plain(value) for name, value in attributes.items()})
    child.text = None if text is None else plain(text)
    return child


def to_bytes(root: ET.Element) -> bytes:
    """The document as UTF-8 with its declaration."""
    found: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return found
