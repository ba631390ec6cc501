"""What every page knows; each page adds its own fields, and each field says what it means.

A page is one frozen dataclass, one template and one handler of the same name. A test fails
for a field without its meaning, so that a template can be written from the class alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


def told(meaning: str) -> dict[str, str]:
    """The metadata of a field: its meaning in one sentence."""
    return {"meaning": meaning}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the frame around every page shows."""

    template: ClassVar[str] = ""

    title: str = field(metadata=told("title of the document, without the name of the site"))
    description: str = field(
        metadata=told("one sentence for link previews and searches"), default=""
    )
    path: str = field(metadata=told("canonical path of the page, without the host"), default="")
    section: str = field(metadata=told("the entry of the navigation that is current"), default="")
    question: str = field(metadata=told("what the question box holds"), default="")
    json_path: str = field(
        metadata=told("path of the same facts as JSON, where there are any"), default=""
    )
    card: str = field(
        metadata=told("path of the social card's image, where there is one"), default=""
    )
    indexed: bool = field(metadata=told("whether search engines may keep the page"), default=True)
