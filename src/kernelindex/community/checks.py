"""Rules for text that people write: short, storable, never blank; otherwise kept as it is."""

from __future__ import annotations

import re

from kernelindex.community.refusals import refusal

MAX_ACTOR = 100
MAX_REASON = 1000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_URL = re.compile(
    r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?"
    r"(?:[/?#][!#-;=?-\[\]-~]*)?"
)
MAX_URL = 2000


def is_storable(text: str) -> bool:
    """Whether every database can hold the text: no NUL, no half of a surrogate pair."""
    return _UNSTORABLE.search(text) is None


def sound_text(text: str, limit: int) -> bool:
    """Whether text says something, within ``limit`` characters."""
    return bool(text.strip()) and len(text) <= limit and is_storable(text)


def is_link(text: str) -> bool:
    """Whether text is an https address in ASCII, without a user name in it."""
    return len(text) <= MAX_URL and _URL.fullmatch(text) is not None


def require_decision(actor: str, reason: str) -> None:
    """Refuse a decision that nobody made or that has no reason.

    Raises:
        CommunityError: ``decision.incomplete``.
    """
    for name, text, limit in (("actor", actor, MAX_ACTOR), ("reason", reason, MAX_REASON)):
        if not sound_text(text, limit):
            raise refusal("decision.incomplete", f"the {name} must have 1 to {limit} characters")
