"""Reading pages as a person would: rows of tables as texts, links by their words."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = {
    "markup": "<script>alert(1)</script>\"'&amp;",
    "formula": '=HYPERLINK("https://x")|*bold*`code`',
    "bidi": "safe\u202egnp.exe\u2066",
    "long": "x" * 200,
    "script": "名前 Ünïcode",
}
"""Names of implementations (as slugs) and titles that should do no harm."""

LIGER, LOOP = "a1db5a53e467", "f8a2de273433"
"""Runs of the record: Liger's, and the loop copied into its benchmark."""


class _Rows(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self._unseen = False

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
            self._inside = False
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._inside = True
        self._unseen = tag == "i"  # pads a number so that its column aligns

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tbody", "table"):
            self._inside = False
        self._unseen = False

    def handle_data(self, data: str) -> None:
        if self._inside and not self._unseen:
            self.rows[-1][-1] += data


def read_rows(page: str) -> list[list[str]]:
    """The rows of every table of a page, each a list of its cells' texts."""
    parser = _Rows()
    parser.feed(page)
    return [[" ".join(cell.split()) for cell in row] for row in parser.rows]


def row_of(page: str, first: str) -> list[str]:
    """The first row whose first cell begins so."""
    return next(row for row in read_rows(page) if row and row[0].startswith(first))


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self._href = ""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._href, self._text = dict(attrs).get("href") or "", ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self.links.setdefault(" ".join(self._text.split()), self._href)


def links_of(page: str) -> dict[str, str]:
    """Links of a page by their words; of several with the same words, the first."""
    parser = _Links()
    parser.feed(page)
    return parser.links
