"""Keys, attestations, reports and the audit of what became of them.

What people write never touches a derived row: it has tables of its own, and nothing in
``policy`` or ``catalog`` reads them.
"""

from __future__ import annotations

from kernelindex.community.audit import AuditEntry, read_audit
from kernelindex.community.content import (
    MAX_CONTENT_BYTES,
    Note,
    Report,
    Reproduction,
    parse_attestation,
    parse_report,
)
from kernelindex.community.contributions import (
    KINDS,
    NO_EFFECT,
    Contribution,
    State,
    accepted_on,
    anonymous_author,
    find_contribution,
    list_contributions,
    submit_attestation,
    submit_report,
    submit_signed_report,
)
from kernelindex.community.database import Database
from kernelindex.community.form_tokens import is_form_token, make_cookie, make_form_token
from kernelindex.community.instants import Clock, utc_now
from kernelindex.community.keys import (
    IssuedKey,
    Key,
    Scope,
    authenticate,
    issue_key,
    list_keys,
    revoke_key,
)
from kernelindex.community.paging import Page
from kernelindex.community.quotas import DEFAULT_QUOTAS, Quota, Quotas
from kernelindex.community.refusals import REFUSALS, Refusal, refusal
from kernelindex.community.review import Corrector, RunCorrection, Verdict, correct_run, decide
from kernelindex.community.secret import load_secret, secret_path, server_secret
from kernelindex.community.sessions import Session, close_session, find_session, open_session
from kernelindex.community.tokens import hide_tokens

__all__ = [
    "DEFAULT_QUOTAS",
    "KINDS",
    "MAX_CONTENT_BYTES",
    "NO_EFFECT",
    "REFUSALS",
    "AuditEntry",
    "Clock",
    "Contribution",
    "Corrector",
    "Database",
    "IssuedKey",
    "Key",
    "Note",
    "Page",
    "Quota",
    "Quotas",
    "Refusal",
    "Report",
    "Reproduction",
    "RunCorrection",
    "Scope",
    "Session",
    "State",
    "Verdict",
    "accepted_on",
    "anonymous_author",
    "authenticate",
    "close_session",
    "correct_run",
    "decide",
    "find_contribution",
    "find_session",
    "hide_tokens",
    "is_form_token",
    "issue_key",
    "list_contributions",
    "list_keys",
    "load_secret",
    "make_cookie",
    "make_form_token",
    "open_session",
    "parse_attestation",
    "parse_report",
    "read_audit",
    "refusal",
    "revoke_key",
    "secret_path",
    "server_secret",
    "submit_attestation",
    "submit_report",
    "submit_signed_report",
    "utc_now",
]
