"""The addresses of the API, a module for each kind of question.

What people add (attestations, reports) is ``community``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api.routes import (
    artifacts,
    cohorts,
    community,
    comparing,
    exports,
    listings,
    manifests,
    records,
    resolving,
    runs,
    schemas,
    searching,
)

if TYPE_CHECKING:
    from kernelindex.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *resolving.ENDPOINTS,
    *searching.ENDPOINTS,
    *runs.ENDPOINTS,
    *cohorts.ENDPOINTS,
    *comparing.ENDPOINTS,
    *records.ENDPOINTS,
    *listings.ENDPOINTS,
    *manifests.ENDPOINTS,
    *artifacts.ENDPOINTS,
    *exports.ENDPOINTS,
    *community.ENDPOINTS,
    *schemas.ENDPOINTS,
)
