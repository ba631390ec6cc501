"""Changes of leaders as an Atom feed (RFC 4287)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from kernelindex.api.feeds.markup import add, to_bytes
from kernelindex.resolve.numbers import half_of, ratio_text, scale_for

if TYPE_CHECKING:
    from kernelindex.resolve.dossier import RecordLine, RecordList

MEDIA_TYPE = "application/atom+xml"
NAMESPACE = "http://www.w3.org/2005/Atom"
AUTHORITY = "tag:kernelindex.dev,2026"
"""Ids are the same on every deployment, as digests are."""
UNDATED = "1970-01-01"
LINK_DIGITS = 12


def build_feed(records: RecordList, *, base: str, own: str) -> bytes:
    """The feed of some record events, newest first; ``own`` is its address below ``base``."""
    root = ET.Element("feed", {"xmlns": NAMESPACE})
    add(root, "title", "KernelIndex: changes of the fastest kernel")
    add(root, "subtitle", "Each change of a group's leader, with its cause")
    add(root, "id", f"{AUTHORITY}:{own}")
    add(root, "link", attributes={"rel": "self", "href": base + own, "type": MEDIA_TYPE})
    add(root, "link", attributes={"rel": "alternate", "href": f"{base}/records"})
    dates = [line.date for line in records.records if line.date]
    add(root, "updated", _instant(max(dates, default=UNDATED)))
    add(add(root, "author"), "name", "KernelIndex")
    for line in records.records:
        _add_entry(root, line, base)
    return to_bytes(root)


def title_of(line: RecordLine) -> str:
    """Who leads, and the group: operation, pass, device and how it was timed."""
    who = f"{line.leader} leads" if line.leader else "Several lead"
    timed = "" if line.timed_pass == "unstated" else f" {line.timed_pass}"
    regime = f" ({line.regime})" if line.regime else ""
    return f"{who} {line.operation_title or line.operation}{timed} on {line.hardware}{regime}"


def summary_of(line: RecordLine) -> str:
    """Values before and after, the sizes, and the cause."""
    parts = [_change(line), " ".join(f"{name}={size}" for name, size in line.axes.items())]
    parts.append(f"cause: {line.cause.replace('_', ' ')}")
    if line.same_day:
        parts.append("others that day; their order is not known")
    return "; ".join(part for part in parts if part)


def _change(line: RecordLine) -> str:
    if line.value is None or line.unit is None:
        return ""
    scale = scale_for([line.value, line.previous_value or line.value], line.unit)
    value = scale.with_unit(line.value, half_of(line.interval))
    if line.previous is None or line.previous_value is None:
        return value
    before = f"{scale.with_unit(line.previous_value)} of {line.previous}"
    ratio = f", {ratio_text(line.ratio)}" if line.ratio else ""
    return f"{value} after {before}{ratio}"


def _add_entry(root: ET.Element, line: RecordLine, base: str) -> None:
    cohort, run = line.cohort.removeprefix("sha256:"), line.run.removeprefix("sha256:")
    related = (line.leader_run or line.run).removeprefix("sha256:")
    entry = add(root, "entry")
    add(entry, "title", title_of(line))
    add(entry, "id", f"{AUTHORITY}:record:{cohort}:{run}:{line.date or 'undated'}:{line.cause}")
    href = f"{base}/cohorts/{cohort[:LINK_DIGITS]}"
    add(entry, "link", attributes={"rel": "alternate", "href": href})
    add(
        entry,
        "link",
        attributes={
            "rel": "related",
            "href": f"{base}/runs/{related[:LINK_DIGITS]}",
            "title": "run",
        },
    )
    add(entry, "updated", _instant(line.date or UNDATED))
    add(entry, "summary", summary_of(line))
    add(entry, "category", attributes={"term": line.operation})


def _instant(date: str) -> str:
    return f"{date}T00:00:00Z"
