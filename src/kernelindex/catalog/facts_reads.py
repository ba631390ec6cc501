"""Reads of what policy knows of single runs: to judge two of them that no cohort holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from kernelindex.catalog import bulk, facts_codec
from kernelindex.catalog.database import Database
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.policy.facts import RunFacts

FACTS = derived.run_facts


class FactsReads(Database):
    """Reads stored facts."""

    def facts(self, digests: Iterable[str]) -> dict[str, RunFacts]:
        """The facts of these runs, samples included; runs that are not here are left out."""
        wanted = sorted(set(digests))
        found: dict[str, RunFacts] = {}
        with self.reading() as conn:
            for part in bulk.chunks(wanted, bulk.IN_CHUNK):
                query = select(FACTS.c.digest, FACTS.c.facts).where(FACTS.c.digest.in_(part))
                for digest, packed in conn.execute(query):
                    found[digest] = facts_codec.decode(packed)
        return found
