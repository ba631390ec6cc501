"""Pages as text and elements, read by the standard library's parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "input", "br", "img", "hr", "source", "rect", "line"})
APART = frozenset({"td", "th", "dt", "dd", "li", "p", "h1", "h2", "h3", "tr", "span"})
_CELLS, _PAIRS = ("td", "th"), ("dt", "dd")
CLOSED_BY = {
    **dict.fromkeys(_CELLS, _CELLS),
    **dict.fromkeys(_PAIRS, _PAIRS),
    "tr": (*_CELLS, "tr"),
}
QUIET = frozenset({"script", "style", "i"})


@dataclass
class Element:
    """One element: its attributes, and all text inside it."""

    tag: str
    attrs: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)


class Document(HTMLParser):
    """A parsed page; ``i`` elements, which only align numbers, have no text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.all: list[Element] = []
        self._open: list[Element] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._close_implied(tag)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.all.append(element)
        if self._open:
            self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def _close_implied(self, tag: str) -> None:
        """End what HTML lets a page leave open: cells before a cell or row, pairs before a pair."""
        while self._open and self._open[-1].tag in CLOSED_BY.get(tag, ()):
            self.handle_endtag(self._open[-1].tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in APART:
            for element in self._open[:-1]:
                element.text += " "
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1].tag not in QUIET:
            for element in self._open:
                element.text += data

    def find(self, tag: str, **attrs: str) -> list[Element]:
        """Elements of a tag with these attributes; ``class_`` is one of several classes."""
        return [one for one in self.all if one.tag == tag and _has(one, attrs)]

    def text_of(self, ident: str) -> str:
        """The text of the element with an id, blanks folded."""
        (element,) = [one for one in self.all if one.attrs.get("id") == ident]
        return fold(element.text)

    @property
    def text(self) -> str:
        """All text of the page, blanks folded."""
        return fold(self.find("html")[0].text)

    def links(self) -> list[str]:
        """Every address that the page leads to."""
        return [one.attrs["href"] for one in self.find("a") if "href" in one.attrs]

    def pairs(self) -> dict[str, str]:
        """The first value of each label of the description lists."""
        found: dict[str, str] = {}
        label = ""
        for element in self.all:
            if element.tag == "dt":
                label = fold(element.text)
            elif element.tag == "dd":
                found.setdefault(label, fold(element.text))
        return found


def fold(text: str) -> str:
    return " ".join(text.split())


def _has(element: Element, attrs: dict[str, str]) -> bool:
    for name, value in attrs.items():
        if name == "class_":
            if value not in element.attrs.get("class", "").split():
                return False
        elif element.attrs.get(name) != value:
            return False
    return True
