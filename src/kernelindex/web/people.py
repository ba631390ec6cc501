"""What people wrote, prepared for a page: plain text, a link only where it is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.community import Contribution, State, accepted_on
from kernelindex.community.checks import is_link
from kernelindex.ids import is_digest, short
from kernelindex.web import paths
from kernelindex.web.context import told
from kernelindex.web.show import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.community import AuditEntry

ON_A_PAGE = 20
KINDS = {"reproduction": "Reproduction", "note": "Note", "report": "Reported issue"}
OUTCOMES = {
    "confirmed": "came out the same",
    "differs": "came out different",
    "failed": "could not be run",
}
UNITS = {"us": "µs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One contribution as a page prints it."""

    id: str = field(metadata=told("digest of the contribution"))
    kind: str = field(metadata=told("what it is, in words"))
    says: str = field(metadata=told("outcome or reason, in words"))
    value: str = field(metadata=told("the value with its unit, where one was given"))
    by: str = field(metadata=told("who sent it"))
    day: str = field(metadata=told("the day it was sent"))
    state: str = field(metadata=told("pending, accepted or refused"))
    run: str = field(metadata=told("path of the run it is about"))
    digest: str = field(metadata=told("digest of that run"))
    hardware: str = field(metadata=told("the machine, in the sender's words"))
    software: str = field(metadata=told("the versions, in the sender's words"))
    lines: tuple[str, ...] = field(metadata=told("the text, line by line"))
    link: str = field(metadata=told("an https address to follow; empty where there is none"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What stands beside a run."""

    items: tuple[Remark, ...] = field(metadata=told("accepted ones, newest first"))
    more: str = field(metadata=told("path of the JSON list of all, where there are more"))


def remarks_on(catalog: Catalog, run: str) -> Remarks:
    """The accepted contributions on a run of this digest; one read by an index."""
    found = accepted_on(catalog, run, limit=ON_A_PAGE)
    more = f"/api/v1/attestations?run={paths.prefix(run)}" if found.cursor else ""
    return Remarks(items=tuple(map(build_remark, found.items)), more=more)


def build_remark(item: Contribution) -> Remark:
    """A contribution as a page prints it."""
    said = item.content
    link = str(said.get("link", ""))
    return Remark(
        id=item.id,
        kind=KINDS.get(item.kind, item.kind),
        says=OUTCOMES.get(str(said.get("outcome")), words(str(said.get("reason", "")))),
        value=_value(item),
        by=item.by,
        day=item.created_at[:10],
        state=State(item.state).value,
        run=paths.run(item.run),
        digest=item.run,
        hardware=str(said.get("hardware", "")),
        software=str(said.get("software", "")),
        lines=tuple(line for line in str(said.get("text", "")).splitlines() if line.strip()),
        link=link if is_link(link) else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One entry of the audit log as a page prints it."""

    at: str = field(metadata=told("moment, UTC"))
    actor: str = field(metadata=told("who"))
    action: str = field(metadata=told("did what"))
    about: str = field(metadata=told("short id of the contribution or key"))
    item: str = field(metadata=told("path of the contribution; empty where it is a key"))
    reason: str = field(metadata=told("why"))
    more: str = field(metadata=told("the rest in words"))


def build_line(entry: AuditEntry) -> AuditLine:
    """An entry as a page prints it."""
    about = is_digest(entry.subject)
    return AuditLine(
        at=entry.at[:19].replace("T", " "),
        actor=entry.actor,
        action=entry.action.replace(".", " "),
        about=short(entry.subject) if about else entry.subject,
        item=f"/admin/queue/{paths.prefix(entry.subject)}" if about else "",
        reason=entry.reason,
        more=_more(entry.detail),
    )


def _more(detail: Mapping[str, Any]) -> str:
    """``pending to accepted; run f20ab668`` of an entry's detail."""
    rest = {name: value for name, value in detail.items() if value is not None}
    said = [f"{rest.pop('from')} to {rest.pop('to')}"] if {"from", "to"} <= rest.keys() else []
    said += [f"{words(name)} {_brief(value)}" for name, value in rest.items()]
    return "; ".join(said)


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    text = "yes" if value is True else "no" if value is False else str(value)
    return short(text) if is_digest(text) else text


def _value(item: Contribution) -> str:
    value, unit = item.content.get("value"), str(item.content.get("unit", ""))
    return "" if value is None else f"{value:g} {UNITS.get(unit, unit)}"
