"""Memory while importing does not grow with what was imported."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from benchmarks.synthetic import make_rows, make_snapshot

from kernelindex.catalog import Catalog, import_records, run_reading, staging

RUNS = 2_400
MOST_GROWTH_MB = 0.4
"""Facts and keys kept of the last 800 runs alone take 1.1 MB."""


@pytest.mark.slow
def test_nothing_of_a_row_is_kept(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MANIFESTS_KEPT", "FACTS_KEPT", "KEYS_KEPT", "FRESH_KEPT"):
        monkeypatch.setattr(run_reading, name, 100)
    monkeypatch.setattr(staging, "BATCH_ROWS", 200)
    monkeypatch.setattr(staging, "RECENT_LIMIT", 200)
    held: list[float] = []
    rows = list(make_rows(RUNS))  # made ahead: the generator keeps what it shares between rows

    def note(_read: int) -> None:
        gc.collect()  # when the collector last ran of itself is the whole process' doing
        held.append(tracemalloc.get_traced_memory()[0] / 1e6)

    with Catalog.create(sqlite_url) as catalog:
        tracemalloc.start()
        try:
            import_records(catalog, make_snapshot(RUNS), iter(rows), progress=note)
        finally:
            tracemalloc.stop()
    third = len(held) // 3
    assert max(held[-third:]) - max(held[third : 2 * third]) < MOST_GROWTH_MB
