"""The catalog as its readers see it: one class of frozen-row reads."""

from __future__ import annotations

from kernelindex.catalog.dossier_reads import DossierReads
from kernelindex.catalog.evidence_reads import EvidenceReads
from kernelindex.catalog.facts_reads import FactsReads
from kernelindex.catalog.group_reads import GroupReads
from kernelindex.catalog.implementation_reads import ImplementationReads
from kernelindex.catalog.listing_reads import ListingReads
from kernelindex.catalog.lookup_reads import LookupReads
from kernelindex.catalog.ranking_reads import RankingReads
from kernelindex.catalog.relative_reads import RelativeReads
from kernelindex.catalog.run_reads import RunReads
from kernelindex.catalog.source_reads import SourceReads


class Catalog(
    LookupReads,
    ListingReads,
    ImplementationReads,
    RankingReads,
    GroupReads,
    RunReads,
    RelativeReads,
    DossierReads,
    SourceReads,
    EvidenceReads,
    FactsReads,
):
    """Everything that can be asked of a catalog; ``open`` one that exists, or ``create``."""
