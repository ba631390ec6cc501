"""One group of comparable results, named by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.errors import NotFoundError
from kernelindex.ids import parse_prefix
from kernelindex.resolve.views import view_cohort

if TYPE_CHECKING:
    from kernelindex.resolve.answer import Cohort
    from kernelindex.resolve.reads import Reads

MAX_ENTRIES = 200


def show_cohort(catalog: Reads, ident: str, *, entries: int = MAX_ENTRIES) -> Cohort:
    """The group whose key begins with at least 8 given hex digits, with its first entries.

    Raises NotFoundError ``cohort.not_found``, also where several keys begin so.
    """
    prefix = parse_prefix(ident)
    row = catalog.cohort(prefix) if prefix else None
    if row is None:
        raise NotFoundError(
            f"no one group has the key {ident!r}; give 8 or more digits of its key",
            code="cohort.not_found",
        )
    found = catalog.entries((row.key,), first=entries)
    return view_cohort(row, found.get(row.key, ()), limit=entries)
