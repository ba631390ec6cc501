"""Contributions and the audit log as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.pairs import mapping_words, print_list, print_pairs
from kernelindex.cli.render.tables import Column, build_table
from kernelindex.cli.terminal import clean
from kernelindex.ids import is_digest, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kernelindex.community import AuditEntry, Contribution

EXCERPT = 160
NAMED = ("value", "unit", "text")
"""Parts of the content that have a place of their own."""


def print_contributions(console: Console, items: Sequence[Contribution]) -> None:
    """Contributions one a row, their text shortened."""
    columns = (
        Column("item"),
        Column("sent"),
        Column("state"),
        Column("kind"),
        Column("run"),
        Column("by", flexible=True),
        Column("says", flexible=True),
    )
    rows = [
        (
            short(one.id),
            _moment(one.created_at),
            one.state,
            one.kind,
            short(one.run),
            clean(one.by),
            clean(_excerpt(one)),
        )
        for one in items
    ]
    console.print(build_table(columns, rows))


def print_contribution(
    console: Console, item: Contribution, decisions: Sequence[AuditEntry]
) -> None:
    """One contribution in full, then its decisions."""
    said = {name: value for name, value in item.content.items() if name not in NAMED}
    pairs = [
        ("item", item.id),
        ("kind", item.kind),
        ("state", item.state),
        ("run", item.run),
        ("by", item.by),
        ("sent", _moment(item.created_at)),
        *said.items(),
        ("value", measured(item)),
    ]
    print_pairs(console, pairs)
    print_list(console, "Text", str(item.content.get("text", "")).splitlines())
    if decisions:
        console.print("\nDecisions", style="bold")
        print_audit(console, decisions)


def print_audit(console: Console, entries: Sequence[AuditEntry]) -> None:
    """Who did what, one entry a row."""
    columns = (
        Column("when"),
        Column("who", flexible=True),
        Column("did"),
        Column("about"),
        Column("why", flexible=True),
        Column("more", flexible=True),
    )
    rows = [
        (
            _moment(entry.at),
            clean(entry.actor),
            entry.action,
            short(entry.subject) if is_digest(entry.subject) else clean(entry.subject),
            clean(entry.reason),
            clean(mapping_words({name: _brief(one) for name, one in entry.detail.items()})),
        )
        for entry in entries
    ]
    console.print(build_table(columns, rows))


def measured(item: Contribution) -> str:
    """``5.76 ms`` of a reproduction that has a value."""
    value, unit = item.content.get("value"), item.content.get("unit")
    return "" if value is None else f"{value:g} {unit}"


def _excerpt(item: Contribution) -> str:
    parts = [
        str(item.content.get(name, "")).replace("_", " ")
        for name in ("outcome", "reason", "hardware")
    ]
    parts[1:1] = [measured(item)]
    said = "; ".join(part for part in (*parts, str(item.content.get("text", ""))) if part)
    return said if len(said) <= EXCERPT else said[: EXCERPT - 1] + "…"


def _moment(at: str) -> str:
    return f"{at[:10]} {at[11:16]}"


def _brief(value: object) -> object:
    return short(value) if isinstance(value, str) and is_digest(value) else value
