"""Every error KernelIndex raises on purpose.

    KernelIndexError
    ├── CanonicalError      bytes or a value that have no canonical JSON form
    ├── ManifestError       a manifest that its kind refuses
    ├── RegistryError       curated data in the package that contradicts itself
    ├── SourceError         a source file or address that cannot be read at all
    ├── CatalogError        the database refuses: wrong schema, stale derived rows, conflict
    ├── EvidenceError       a key, a ledger or a bundle of evidence that cannot be used
    ├── CommunityError      a contribution, an API key or a decision that is refused
    ├── NotFoundError       an identifier that names nothing
    ├── AmbiguousError      an identifier that names several things
    └── RequestError        a question that is malformed

Expected outcomes (an unmapped dtype, a skipped row, a run that does not rank)
are values, never exceptions. Each error carries a stable ``code`` for programs
and says in its message what was seen, where, and what was wanted.
"""

from __future__ import annotations

from typing import Any


class KernelIndexError(Exception):
    """Base of all deliberate errors.

    ``code`` is stable across releases; ``details`` holds JSON-ready facts.
    """

    code = "error"

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details = details

    def to_dict(self) -> dict[str, Any]:
        """The error as a JSON-ready object, the same on every surface."""
        return {"code": self.code, "message": self.message, **self.details}


class CanonicalError(KernelIndexError):
    """Raised when input is not strict I-JSON (duplicate key, NaN, lone surrogate…)."""

    code = "canonical.invalid"


class ManifestError(KernelIndexError):
    """Raised when a manifest breaks a rule of its kind.

    ``details["problems"]`` lists ``{path, rule, seen, wanted}``.
    """

    code = "manifest.invalid"


class RegistryError(KernelIndexError):
    """Raised when packaged curated data is inconsistent; a bug in the package."""

    code = "registry.inconsistent"


class SourceError(KernelIndexError):
    """Raised when a source cannot be read at all; single bad rows are counted instead."""

    code = "source.unreadable"


class CatalogError(KernelIndexError):
    """Raised when the database cannot serve or take what was asked."""

    code = "catalog.refused"


class EvidenceError(KernelIndexError):
    """Raised when a key, a ledger or a bundle of evidence cannot be read, made or used."""

    code = "evidence.refused"


class CommunityError(KernelIndexError):
    """Raised when what people write, their key or an operator's decision is refused."""

    code = "contribution.refused"


class NotFoundError(KernelIndexError):
    """Raised when an identifier names nothing here."""

    code = "not_found"


class AmbiguousError(KernelIndexError):
    """Raised when an identifier names several objects; ``details["matches"]`` lists them."""

    code = "ambiguous"


class RequestError(KernelIndexError):
    """Raised when a question is malformed; ``details["problems"]`` lists why."""

    code = "request.invalid"
