"""Our own guides as HTML: the part of Markdown that they use, everything else as text.

Headings, paragraphs, lists, tables, fenced code, and inline code, bold and links. The text
is escaped first, so nothing in a guide is markup of a page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from kernelindex.web.context import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCROLLED = '<div class="wide" tabindex="0" role="group" aria-label="Table">%s</div>'
"""What is wider than a phone scrolls by itself, also by keyboard."""
_INLINE = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)")
_BREAK = re.compile(r"^(?:[-*] |\d+\. |\||```|#)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_NOT_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a guide, under its heading."""

    title: str = field(metadata=told("its heading; empty for what stands before the first"))
    ident: str = field(metadata=told("its name in an address"))
    body: Markup = field(metadata=told("its text as HTML"))


def read_sections(text: str) -> tuple[Section, ...]:
    """A guide cut at its second-level headings; its title is left out."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if line.startswith("## "):
            parts.append((line[3:].strip(), []))
        elif not line.startswith("# "):
            parts[-1][1].append(line)
    return tuple(
        Section(title, anchor(title), Markup("\n").join(_blocks(lines)))
        for title, lines in parts
        if title or any(line.strip() for line in lines)
    )


def anchor(title: str) -> str:
    """The name of a heading in an address."""
    return _NOT_NAME.sub("-", title.casefold()).strip("-")


def inline(text: str) -> Markup:
    """Text with inline code, bold and links; links only to https addresses."""
    parts: list[Markup] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[end : found.start()]), _span(found)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _span(found: re.Match[str]) -> Markup:
    code, strong, label, target = found.groups()
    if code is not None:
        return Markup("<code>%s</code>") % code
    if strong is not None:
        return Markup("<strong>%s</strong>") % inline(strong)
    if target.startswith("https://"):
        return Markup('<a href="%s" rel="noopener">%s</a>') % (target, inline(label))
    return inline(label)


def _blocks(lines: Sequence[str]) -> Iterator[Markup]:
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        end = _end(lines, place)
        yield _block(lines[place:end])
        place = end


def _end(lines: Sequence[str], start: int) -> int:
    """Where the block that begins at ``start`` ends."""
    place = start + 1
    if lines[start].startswith("```"):
        while place < len(lines) and not lines[place].startswith("```"):
            place += 1
        return min(place + 1, len(lines))
    kind = _kind(lines[start])
    while place < len(lines) and lines[place].strip():
        if _BREAK.match(lines[place]) and _kind(lines[place]) != kind:
            break
        place += 1
    return place


def _kind(line: str) -> str:
    if line.startswith("|"):
        return "table"
    if line.startswith("#"):
        return "heading"
    return "list" if _ITEM.match(line) else "text"


def _block(lines: Sequence[str]) -> Markup:
    first = lines[0]
    if first.startswith("```"):
        return Markup("<pre>%s</pre>") % "\n".join(line for line in lines[1:-1])
    if first.startswith("|"):
        return _table([_cells(line) for line in lines])
    if first.startswith("#"):
        return Markup("<h3>%s</h3>") % inline(first.lstrip("# "))
    if _ITEM.match(first):
        return _list(lines)
    return Markup("<p>%s</p>") % inline(" ".join(line.strip() for line in lines))


def _list(lines: Sequence[str]) -> Markup:
    """A list; a line that begins no item goes on with the one before."""
    items: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found:
            items.append(line[found.end() :].strip())
        else:
            items[-1] += f" {line.strip()}"
    tag = "ol" if lines[0][0].isdigit() else "ul"
    inner = Markup("").join(Markup("<li>%s</li>") % inline(item) for item in items)
    return Markup(f"<{tag}>%s</{tag}>") % inner


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _table(rows: Sequence[Sequence[str]]) -> Markup:
    """A table; its second row is the line below the heads."""
    heads = Markup("").join(Markup('<th scope="col">%s</th>') % inline(one) for one in rows[0])
    body = Markup("").join(_row(row) for row in rows[2:])
    table = Markup("<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>") % (heads, body)
    return Markup(SCROLLED) % table


def _row(cells: Sequence[str]) -> Markup:
    first = Markup('<th scope="row">%s</th>') % inline(cells[0])
    return Markup("<tr>%s%s</tr>") % (
        first,
        Markup("").join(Markup("<td>%s</td>") % inline(cell) for cell in cells[1:]),
    )
