"""An operator's correction of a run, from the queue to the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.catalog import correct
from kernelindex.catalog.intake import Correction

if TYPE_CHECKING:
    from kernelindex.catalog import Catalog
    from kernelindex.community import Corrector, RunCorrection


def corrector(catalog: Catalog) -> Corrector:
    """What applies corrections that are decided on the queue to this catalog."""

    def apply(correction: RunCorrection) -> bool:
        return correct(
            catalog,
            Correction(
                action=correction.action,
                run_digest=correction.run_digest,
                actor=correction.actor,
                reason=correction.reason,
                by_digest=correction.by_digest,
            ),
        )

    return apply
