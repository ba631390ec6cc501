"""A small catalog in memory: the workload of record, its neighbours and a few others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernelindex.catalog.rows import (
    CohortRow,
    EntryRow,
    ExcludedRow,
    Found,
    HardwareRow,
    SearchAnswer,
    SearchHit,
)
from kernelindex.policy.facts import RunFacts

RECORD = {"tokens": 8192, "hidden": 2048, "intermediate": 768, "experts": 64, "k": 8}
RECORD_QUERY = (
    "fused-moe tokens=8192 hidden=2048 experts=64 k=8 intermediate=768 bf16 gpu:H100 pass:backward"
)
MOE_DTYPES = {"x": "bf16", "top_k_index": "int32", "y": "bf16"}
SXM = {
    "vendor": "nvidia",
    "product": "NVIDIA H100",
    "family": "H100",
    "architecture": "sm_90",
    "product_id": "h100-sxm-80gb",
    "label": "H100 SXM 80GB",
    "form_factor": "sxm",
    "ecc": "unstated",
}
NVL = {**SXM, "product_id": "h100-nvl", "label": "H100 NVL", "form_factor": "nvl"}
UNKNOWN_H100 = {**SXM, "product_id": None, "label": "NVIDIA H100", "form_factor": "unstated"}
H200 = {**SXM, "product_id": "h200-sxm", "label": "H200 SXM", "family": "H200"}


def digest(text: str) -> str:
    return "sha256:" + text.encode().hex().ljust(64, "0")[:64]


def doubt(code: str, effect: str = "note", shift_ns: float | None = None) -> dict[str, Any]:
    return {"code": code, "class": effect, "text": f"about {code}", "shift_ns": shift_ns}


def cohort_row(key: str = "moe", **changes: Any) -> CohortRow:
    fields: dict[str, Any] = {
        "key": digest(key),
        "operation": "moe-mlp",
        "operation_title": "Fused MoE expert MLP",
        "family": "moe",
        "shape_key": digest(f"shape {key}"),
        "axes": RECORD,
        "dtypes": MOE_DTYPES,
        "distribution": None,
        "timed_pass": "backward",
        "profile": "source_native",
        "protocol": {"name": "Liger-Kernel benchmark scripts", "version": None, "rules": {}},
        "correctness": "not_asserted",
        "metric": "latency",
        "statistic": "median",
        "unit": "ns",
        "direction": "lower",
        "device": SXM,
        "source": "liger-kernel-bench",
        "entry_count": 2,
        "run_count": 2,
        "only_result": False,
        "unbeaten": (),
        "newest_observed": "2026-04-02",
        "shared_doubts": ("SINGLE_SAMPLE",),
        "best": {
            "reported": {"entries": [], "only_result": False, "fills": None},
            "verified": {"entries": [], "only_result": False, "fills": "a controlled run"},
            "deployable": {"entries": [], "only_result": False, "fills": "a pinned revision"},
        },
        "tolerance": {"relative": 0.06, "tick": 32.0, "basis": "repeats"},
    }
    return CohortRow(**{**fields, **changes})


def entry_row(cohort: CohortRow, name: str = "liger", **changes: Any) -> EntryRow:
    fields: dict[str, Any] = {
        "cohort_key": cohort.key,
        "entry_key": digest(f"entry {name}"),
        "position": 1,
        "rank_low": 1,
        "rank_high": 1,
        "tie_group": None,
        "verdict_to_leader": None,
        "line": {
            "id": f"{name}/line",
            "title": name.capitalize(),
            "project": name,
            "entry_point": "line",
            "restated": False,
            "restates": None,
        },
        "implementation": {
            "digest": digest(f"implementation {name}"),
            "slug": f"{name}-moe",
            "title": name.capitalize(),
            "project": name,
            "language": "python",
        },
        "revision": "0.7.0",
        "stack": {},
        "latest_stack": True,
        "run_digest": digest(f"run {name} {cohort.key[-60:]}"),
        "value": 5751872.0,
        "statistic": cohort.statistic,
        "unit": cohort.unit,
        "spread": None,
        "interval": None,
        "sample_count": 1,
        "ratio_to_leader": 1.0,
        "evidence": "reported",
        "evidence_missing": ("raw samples",),
        "doubts": (doubt("HARNESS_WORK_IN_TIMED_REGION", "shifts"), doubt("SINGLE_SAMPLE")),
        "limit": {
            "tflops": 215.07,
            "tbps": 0.2,
            "percent_nominal": 21.75,
            "percent_attainable": None,
            "bound": "compute",
        },
        "deployable": False,
        "why_not": ("the revision is not pinned",),
        "other_runs": (),
        "peak_memory_bytes": 4_000_000_000,
        "memory_run": None,
        "observed": {"text": "2026-04-02 23:59:47", "zone": "unstated", "date": "2026-04-02"},
    }
    return EntryRow(**{**fields, **changes})


def loop_row(cohort: CohortRow, **changes: Any) -> EntryRow:
    line = {
        "id": "liger-benchmark/moe-expert-loop",
        "title": "MoE expert loop",
        "project": "liger-benchmark",
        "entry_point": "moe-expert-loop",
        "restated": True,
        "restates": "the Transformers loop",
    }
    fields: dict[str, Any] = {
        "position": 2,
        "rank_low": 2,
        "rank_high": 2,
        "line": line,
        "value": 63962017.0,
        "ratio_to_leader": 63962017 / 5751872,
        "verdict_to_leader": {"kind": "SLOWER"},
    }
    return entry_row(cohort, "loop", **{**fields, **changes})


class FakeCatalog:
    """Answers the reads that questions need from lists, and counts them."""

    def __init__(
        self,
        cohorts: Mapping[CohortRow, Sequence[EntryRow]]
        | Sequence[tuple[CohortRow, Sequence[EntryRow]]],
        excluded: Sequence[ExcludedRow] = (),
        hits: Sequence[SearchHit] = (),
    ) -> None:
        self.pairs = list(cohorts)
        self.excluded_rows = tuple(excluded)
        self.hits = tuple(hits)
        self.reads: list[str] = []

    def find(self, ident: str, *kinds: str) -> list[Found]:
        self.reads.append("find")
        return []

    def search_text(self, query: str, limit: int = 20) -> SearchAnswer:
        self.reads.append("search_text")
        words = query.lower().split()
        hits = [hit for hit in self.hits if all(word in hit.title.lower() for word in words)]
        return SearchAnswer(hits=tuple(hits[:limit]))

    def hardware(self) -> list[HardwareRow]:
        self.reads.append("hardware")
        return [
            HardwareRow(
                id="acme-9000",
                label="Acme 9000",
                family="",
                vendor="acme",
                architecture="unknown",
                product_id=None,
                run_count=1,
            )
        ]

    def manifest(self, digest: str) -> None:
        self.reads.append("manifest")

    def cohorts(
        self,
        *,
        operation: str | None = None,
        axes: Mapping[str, int] | None = None,
        product_ids: Sequence[str] = (),
        families: Sequence[str] = (),
        hardware: Sequence[str] = (),
        passes: Sequence[str] = (),
        limit: int = 50,
        **_: Any,
    ) -> list[CohortRow]:
        self.reads.append("cohorts")
        found = [
            row
            for row, _entries in self.pairs
            if operation in (None, row.operation)
            and all(row.axes.get(name) == value for name, value in (axes or {}).items())
            and (not passes or row.timed_pass in passes)
            and (
                not (product_ids or families or hardware)
                or row.device["product_id"] in product_ids
                or row.device["family"] in families
                or row.device["label"].lower().replace(" ", "-") in hardware
            )
        ]
        return found[:limit]

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None, also: Iterable[str] = ()
    ) -> dict[str, list[EntryRow]]:
        self.reads.append("entries")
        kept = set(also)
        return {
            row.key: [e for e in found if e.position <= (first or 999) or e.entry_key in kept]
            for row, found in self.pairs
            if row.key in set(cohort_keys)
        }

    def documents(self, digests: Iterable[str]) -> dict[str, dict[str, Any]]:
        """None is stored, so no licence is stated."""
        self.reads.append("documents")
        return {}

    def facts(self, digests: Iterable[str]) -> dict[str, RunFacts]:
        """None are known, so no number is judged by another."""
        self.reads.append("facts")
        return {}

    def excluded(
        self, cohort_keys: Sequence[str] = (), *, operation: str | None = None, limit: int = 200
    ) -> list[ExcludedRow]:
        self.reads.append("excluded")
        return [
            row
            for row in self.excluded_rows
            if row.cohort_key in set(cohort_keys) or row.operation == operation
        ]


def pair(key: str, **changes: Any) -> tuple[CohortRow, list[EntryRow]]:
    """A cohort of Liger and the loop."""
    row = cohort_row(key, **changes)
    return row, [entry_row(row), loop_row(row)]


def alone(key: str, **changes: Any) -> tuple[CohortRow, list[EntryRow]]:
    """A cohort with one entry, which therefore has no rank."""
    row = cohort_row(key, **{"entry_count": 1, "only_result": True, **changes})
    return row, [entry_row(row, rank_low=None, rank_high=None, ratio_to_leader=None)]


def record_catalog() -> FakeCatalog:
    """The record on H100 in three passes, on H200, and at 8 and 128 experts."""
    return FakeCatalog(
        [
            pair("record backward"),
            pair("record forward", timed_pass="forward"),
            pair("record full", timed_pass="full"),
            alone("record h200", device=H200, source="kernelindex-h200-2026-11"),
            pair("experts 8", axes={**RECORD, "experts": 8}),
            pair("experts 128", axes={**RECORD, "experts": 128}),
        ]
    )
