"""What a run's page shows beside the run: reads that do not need each other, sent together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.database import Database
from kernelindex.catalog.lookup_reads import DOCUMENTS, documents_of
from kernelindex.catalog.prepared import rows_together
from kernelindex.catalog.ranking_reads import BY_KEY, OF_ANOTHER_PROFILE, cohorts_of, key_range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.catalog.rows import CohortRow, RunRow


@dataclass(frozen=True, slots=True)
class RunParts:
    """What a run rests on and stands in.

    ``documents``  the stored manifests it rests on and its own, by the part they play
    ``cohort``     its cohort, where it is in one
    ``others``     cohorts of its shape, with entries, that are of any profile but its own
    """

    documents: Mapping[str, dict[str, Any]]
    cohort: CohortRow | None
    others: tuple[CohortRow, ...]


class DossierReads(Database):
    """Reads what a run rests on and stands in."""

    def parts(self, run: RunRow) -> RunParts:
        """The manifests, the cohort and the cohorts of other profiles of a run."""
        digests = {
            "run": run.digest,
            "workload": run.workload_digest,
            "operation": run.operation_digest,
            "implementation": run.implementation["digest"],
            "protocol": run.protocol_digest,
            "environment": run.environment_digest,
        }
        with self.reading() as conn:
            stored, cohort, others = rows_together(
                conn,
                (DOCUMENTS, {"digests": sorted(set(digests.values()))}),
                (BY_KEY, key_range(run.cohort_key or "")),
                (OF_ANOTHER_PROFILE, {"shape_key": run.shape_key, "profile": run.profile}),
            )
        found = documents_of(stored)
        return RunParts(
            documents={name: found[one] for name, one in digests.items() if one in found},
            cohort=cohorts_of(cohort)[0] if run.cohort_key and cohort else None,
            others=tuple(cohorts_of(others)),
        )
