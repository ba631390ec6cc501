"""Entries that a request's policy leaves out of the bests; their ranks stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kernelindex.catalog.rows import EntryRow
from kernelindex.policy.licensing import Licensing, describe_terms, read_licensing
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.spdx import is_allowed
from kernelindex.resolve.answer import Excluded, Reason
from kernelindex.resolve.wording import line_name

if TYPE_CHECKING:
    from kernelindex.resolve.reads import Reads
    from kernelindex.resolve.request import Request

FRAMEWORKS = {"torch": "pytorch", "liger": "liger-kernel", "hf": "transformers"}
"""What people call a project, where it is not its slug."""
LEVELS = ("reported", "reproducible", "verified", "replicated")
Check = Callable[[EntryRow], Reason | None]


def policy_checks(catalog: Reads, request: Request) -> tuple[Check, ...]:
    """One check for each thing the request wants of an entry."""
    policy = request.policy
    checks: list[Check] = []
    if policy.minimum_evidence != "reported":
        checks.append(lambda entry: _evidence(entry, policy.minimum_evidence))
    if policy.installable:
        checks.append(_installable)
    if request.framework:
        wanted = FRAMEWORKS.get(request.framework.casefold(), request.framework.casefold())
        checks.append(lambda entry: _framework(entry, wanted))
    if policy.licenses:
        accepted = tuple(_spdx(text) for text in policy.licenses)
        checks.append(_LicenceCheck(catalog, accepted))
    return tuple(checks)


def exclude(
    checks: Sequence[Check], entries: Mapping[str, Sequence[EntryRow]]
) -> tuple[Excluded, ...]:
    """Every entry that fails a check, with all its reasons."""
    if not checks:
        return ()
    found = []
    for key, rows in entries.items():
        for entry in rows:
            reasons = tuple(reason for check in checks if (reason := check(entry)))
            if reasons:
                found.append(
                    Excluded(
                        run=entry.run_digest, title=line_name(entry), cohort=key, reasons=reasons
                    )
                )
    return tuple(found)


def _evidence(entry: EntryRow, wanted: str) -> Reason | None:
    if LEVELS.index(entry.evidence) >= LEVELS.index(wanted):
        return None
    text = f"evidence is {entry.evidence}; {wanted} was asked for"
    return Reason(code="evidence_below_minimum", text=text)


def _installable(entry: EntryRow) -> Reason | None:
    if entry.deployable:
        return None
    return Reason(code="not_installable", text="; ".join(entry.why_not) or "not deployable")


def _framework(entry: EntryRow, wanted: str) -> Reason | None:
    parts = (
        entry.implementation.get("project"),
        entry.implementation.get("language"),
        entry.line.get("project"),
    )
    names = [str(name).casefold() for name in parts if name]
    if wanted in names:
        return None
    shown = ", ".join(dict.fromkeys(names)) or "unknown"
    return Reason(code="framework_other", text=f"it is {shown}; {wanted} was asked for")


class _LicenceCheck:
    """Reads the licence of each implementation once.

    Its own licence counts, part by part; of what it needs only the owner's own terms, which
    are on no list of licences.
    """

    def __init__(self, catalog: Reads, accepted: tuple[str, ...]) -> None:
        self.catalog = catalog
        self.accepted = accepted
        self.known: dict[str, Licensing | None] = {}

    def __call__(self, entry: EntryRow) -> Reason | None:
        digest = str(entry.implementation["digest"])
        if digest not in self.known:
            stored = self.catalog.manifest(digest)
            self.known[digest] = read_licensing(stored.document["spec"]) if stored else None
        found = self.known[digest]
        if found is None or found.stated is None:
            return Reason(code="licence_not_stated", text="its licence is not stated")
        reasons = tuple(self._refusals(found, found.stated))
        if not reasons:
            return None
        text = f"{'; '.join(reasons)}; accepted are {', '.join(self.accepted)}"
        return Reason(code="licence_not_accepted", text=text)

    def _refusals(self, found: Licensing, stated: str) -> Iterator[str]:
        if not is_allowed(stated, self.accepted):
            yield f"its licence is {stated}"
        for term, packages in found.terms.items():
            needed = tuple(name for name in packages if name)
            if needed and term not in self.accepted:
                yield describe_terms(term, needed)


def _spdx(text: str) -> str:
    return resolve_licence(text).expression or text
