"""What a question wants of an entry: conditions that leave rows out and change no rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kernelindex.catalog.rows import EntryRow
from kernelindex.policy.licensing import Licensing, describe_terms, read_licensing
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.spdx import is_allowed
from kernelindex.resolve.answer import Excluded, Reason
from kernelindex.resolve.wording import line_name, listed

if TYPE_CHECKING:
    from kernelindex.resolve.reads import Reads
    from kernelindex.resolve.request import Request

FRAMEWORKS = {"torch": "pytorch", "liger": "liger-kernel", "hf": "transformers"}
"""What people call a project, where it is not its slug."""
LEVELS = ("reported", "reproducible", "verified", "replicated")
BELOW, OTHER = "evidence_below_minimum", "framework_other"
WORDS = {
    "not_installable": "not installable",
    "licence_not_stated": "without a stated licence",
    "licence_not_accepted": "under other terms",
}
"""How runs that lack something are counted; level and framework are named beside."""
Check = Callable[[EntryRow], Reason | None]
Entries = Mapping[str, Sequence[EntryRow]]


def conditions_of(request: Request) -> str:
    """What a request wants of an entry, as it is typed; empty where it wants nothing."""
    policy = request.policy
    words = [f"license:{name}" for name in policy.licenses]
    words += [f"framework:{request.framework}"] if request.framework else []
    if policy.minimum_evidence != "reported":
        words.append(f"evidence:{policy.minimum_evidence}")
    return " ".join([*words, "installable:yes"] if policy.installable else words)


def policy_checks(catalog: Reads, request: Request, entries: Entries) -> tuple[Check, ...]:
    """One check for each thing the request wants; licences of ``entries`` are read at once."""
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
        checks.append(_LicenceCheck(_read_licences(catalog, entries), accepted))
    return tuple(checks)


def meets_all(checks: Sequence[Check], entry: EntryRow) -> bool:
    """Whether an entry is all that was wanted."""
    return all(check(entry) is None for check in checks)


def exclude(checks: Sequence[Check], entries: Entries) -> tuple[Excluded, ...]:
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


def left_out_words(request: Request, left_out: Sequence[Excluded]) -> str:
    """How many runs the conditions leave out and why: ``7 runs below verified``."""
    own = {
        BELOW: f"below {request.policy.minimum_evidence}",
        OTHER: f"not of {request.framework}",
    }
    words = WORDS | own
    counts = Counter(" and ".join(words[reason.code] for reason in one.reasons) for one in left_out)
    return listed(
        [f"{count} {'run' if count == 1 else 'runs'} {why}" for why, count in counts.most_common()]
    )


def _evidence(entry: EntryRow, wanted: str) -> Reason | None:
    if LEVELS.index(entry.evidence) >= LEVELS.index(wanted):
        return None
    text = f"evidence is {entry.evidence}; {wanted} was asked for"
    return Reason(code=BELOW, text=text)


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
    return Reason(code=OTHER, text=f"it is {shown}; {wanted} was asked for")


def _read_licences(catalog: Reads, entries: Entries) -> dict[str, Licensing]:
    digests = {_implementation(entry) for rows in entries.values() for entry in rows}
    found = catalog.documents(sorted(digests))
    return {digest: read_licensing(document["spec"]) for digest, document in found.items()}


def _implementation(entry: EntryRow) -> str:
    return str(entry.implementation["digest"])


class _LicenceCheck:
    """Its own licence counts, part by part; of what it needs only the owner's own terms, which
    are on no list of licences.
    """

    def __init__(self, known: Mapping[str, Licensing], accepted: tuple[str, ...]) -> None:
        self.known = known
        self.accepted = accepted

    def __call__(self, entry: EntryRow) -> Reason | None:
        found = self.known.get(_implementation(entry))
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
