from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
import zstandard

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.sources import find_source
from kernelindex.sources.export import read
from kernelindex.sources.streams import Limits
from tests.sources import exports
from tests.support.shared import shared_path

EXPORT = "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"


def outcomes(data: bytes, limits: Limits | None = None) -> list[Row | Skipped]:
    return list(read(data, **({"limits": limits} if limits else {}))[1])


def reasons(found: list[Row | Skipped]) -> dict[str, int]:
    return dict(Counter(one.reason for one in found if isinstance(one, Skipped)))


def taken(found: list[Row | Skipped], kind: str) -> list[Row]:
    return [
        one
        for one in found
        if isinstance(one, Row) and one.manifests and one.manifests[-1].kind == kind
    ]


def changed(table: str, number: int = 0, **columns: Any) -> bytes:
    """The small export with some columns of one row changed."""
    rows = exports.rows()
    index = [i for i, (name, _) in enumerate(rows) if name == table][number]
    rows[index] = (table, {**rows[index][1], **columns})
    return exports.text(rows)


def test_every_row_becomes_one_outcome() -> None:
    found = outcomes(exports.text(exports.rows()))
    assert len(found) == len(exports.rows()) == 15
    assert reasons(found) == {
        "source_not_in_registry": 1,
        "derived_measurement_agrees": 2,
        "derived_record_event_agrees": 2,
    }
    assert all(not one.notes for one in found if isinstance(one, Row))


def test_a_run_carries_what_it_embeds_and_its_row() -> None:
    first = taken(outcomes(exports.text(exports.rows())), "BenchmarkRun")[0]
    assert [m.kind for m in first.manifests] == [
        "BenchmarkProtocol",
        "ExecutionEnvironment",
        "BenchmarkRun",
    ]
    assert first.observation is not None
    assert first.observation.source == "made-up"
    assert first.observation.published_at == "2026-06-01T00:00:00.000Z"
    assert first.observation.row["primaryValue"] == 900
    assert "manifest" not in first.observation.row
    assert {alias.alias for alias in first.aliases} == {"run-1", "made-up/v1"}


def test_a_failed_run_is_kept() -> None:
    failed = taken(outcomes(exports.text(exports.rows())), "BenchmarkRun")[2]
    assert failed.manifests[-1].document["spec"]["status"] == "runtime_error"
    assert failed.notes == ()


def test_an_implementation_is_linked_and_known_by_its_slug() -> None:
    row = taken(outcomes(exports.text(exports.rows())), "ImplementationRevision")[0]
    assert [link.project for link in row.links] == ["scalers"]
    assert {alias.alias for alias in row.aliases} == {"implementation-v1", "made-up-scaler-v1"}


def test_an_operation_alias_names_the_operation() -> None:
    found = outcomes(exports.text(exports.rows()))
    aliases = [one for one in found if isinstance(one, Row) and not one.manifests and one.aliases]
    assert aliases[0].aliases[0].alias == "scale_by_four"
    assert aliases[0].aliases[0].digest == exports.OPERATION_DIGEST


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_tables_does_not_matter(seed: int) -> None:
    rows = exports.rows()
    expected = sorted(map(_comparable, outcomes(exports.text(rows))))
    random.Random(seed).shuffle(rows)
    assert sorted(map(_comparable, outcomes(exports.text(rows)))) == expected


def _comparable(one: Row | Skipped) -> str:
    if isinstance(one, Skipped):
        return f"{one.reason} {one.detail}"
    parts = [m.digest for m in one.manifests] + [a.alias for a in one.aliases]
    return " ".join([*parts, *(link.project for link in one.links), *one.notes])


def test_zstd_and_plain_give_the_same() -> None:
    data = exports.text(exports.rows())
    assert list(map(_comparable, outcomes(zstandard.compress(data)))) == list(
        map(_comparable, outcomes(data))
    )


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("benchmark_runs", "runDigest"),
        ("workloads", "workloadDigest"),
        ("implementations", "implementationDigest"),
        ("operations", "semanticDigest"),
    ],
)
def test_a_wrong_digest_is_refused(table: str, column: str) -> None:
    found = outcomes(changed(table, **{column: "sha256:" + "00" * 32}))
    assert reasons(found)["digest_differs"] == 1
    assert len(found) == 15


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("comparisonKey", "sha256:" + "00" * 32),
        ("correctnessKey", "sha256:" + "00" * 32),
        ("primaryValue", 901),
        ("primaryStatistic", "median"),
        ("hardwareModel", "NVIDIA L40S"),
        ("observedAt", "2026-05-01T11:00:00.000Z"),
        ("status", "timeout"),
    ],
)
def test_a_derived_column_that_lies_is_named_and_the_run_kept(column: str, value: object) -> None:
    first = taken(outcomes(changed("benchmark_runs", **{column: value})), "BenchmarkRun")[0]
    assert [note.split()[:2] for note in first.notes] == [["column_differs:", column]]


def test_a_run_of_another_implementation_is_noted() -> None:
    data = changed("benchmark_runs", implementationId="implementation-v2")
    first = taken(outcomes(data), "BenchmarkRun")[0]
    assert first.notes[0].startswith("reference_differs: implementationId")


def test_a_run_whose_workload_is_elsewhere_is_kept_with_a_note() -> None:
    rows = [(table, row) for table, row in exports.rows() if table != "workloads"]
    runs = taken(outcomes(exports.text(rows)), "BenchmarkRun")
    assert len(runs) == 3
    assert runs[0].notes == ("reference_not_in_file: workloadId names no row of this file",)


def test_a_measurement_that_the_run_does_not_state_is_counted_apart() -> None:
    assert reasons(outcomes(changed("measurements", value=901)))["derived_measurement_differs"] == 1
    assert reasons(outcomes(changed("measurements", runId="gone"))) == {
        "source_not_in_registry": 1,
        "derived_measurement_agrees": 1,
        "derived_measurement_without_run": 1,
        "derived_record_event_agrees": 2,
    }


@pytest.mark.parametrize(
    "columns",
    [
        {"previousRunId": "run-1"},
        {"comparisonKey": "sha256:" + "00" * 32},
        {"at": "2026-05-01T10:00:01.000Z"},
    ],
)
def test_a_record_event_that_does_not_follow_is_counted_apart(columns: dict[str, str]) -> None:
    found = reasons(outcomes(changed("record_events", **columns)))
    assert found["derived_record_event_differs"] == 1


def test_a_slower_later_run_takes_no_record() -> None:
    rows = exports.rows()
    slower = exports.run_row("run-4", exports.run("v1", 800, 4), "v1")
    rows += [
        ("benchmark_runs", slower),
        (
            "record_events",
            exports.event("run-4", "run-2", slower["comparisonKey"], slower["observedAt"]),
        ),
    ]
    found = outcomes(exports.text(rows))
    detail = [o.detail for o in found if isinstance(o, Skipped) and "differs" in o.reason]
    assert detail == [f"{slower['runDigest']}: 700.0 led already, this is 800.0"]


def test_retractions_and_successors_become_corrections() -> None:
    data = changed(
        "benchmark_runs",
        1,
        retractedAt="2026-06-02T00:00:00Z",
        retractionReason="wrong card",
        supersedesId="run-1",
    )
    first, second, _ = taken(outcomes(data), "BenchmarkRun")
    retract, supersede = second.corrections
    assert (retract.action, retract.reason) == ("retract", "wrong card")
    assert retract.run_digest == second.manifests[-1].digest
    assert (supersede.action, supersede.by_digest) == ("supersede", retract.run_digest)
    assert supersede.run_digest == first.manifests[-1].digest


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"table": "secrets", "row": {}}', "unknown_table"),
        (b'{"table": "sources", "row": []}', "not_a_table_row"),
        (b"[1]", "not_a_table_row"),
        (b'{"table": ["sources"], "row": {}}', "unknown_table"),
        (b'{"table": "sources", "row": {"id": 5, "slug": "x"}}', "bad_column"),
        (b'{"table": "projects", "row": {"id": "p", "slug": "s"}}', "bad_column"),
        (b'{"table": "model_revisions", "row": {"id": "", "modelDigest": "", "manifest": {}}}',
         "manifest.invalid"),
        (b'{"table": "sources", "row": {"id": "a", "id": "b"}}', "canonical.duplicate_key"),
        (b'{"table": "sources", "row": {"id": "\xff", "slug": "x"}}', "canonical.encoding"),
        (b'{"table": "sources", "row": {"n": NaN}}', "canonical.not_finite"),
        (b'{"table": "sources", ', "canonical.syntax"),
        (b"", "blank_line"),
        (b"[" * 5000, "canonical.too_deep"),
    ],
)  # fmt: skip
def test_a_hostile_line_is_counted_and_the_next_is_read(line: bytes, reason: str) -> None:
    found = outcomes(line + b"\n" + exports.text(exports.rows()[:2]))
    assert isinstance(found[0], Skipped)
    assert found[0].reason == reason
    assert len(found) == 3


def test_a_giant_line_is_counted_and_the_next_is_read() -> None:
    data = b'{"table": "' + b"x" * 5000 + b'"}\n' + exports.text(exports.rows()[1:2])
    found = outcomes(data, Limits(line_bytes=2000))
    assert [type(one).__name__ for one in found] == ["Skipped", "Row"]
    assert reasons(found) == {"line_too_long": 1}


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("benchmark_runs", {"manifest": {"run": {}}}),
        ("benchmark_runs", {"manifest": {"run": {}, "protocol": {}, "environment": {}}}),
        ("artifacts", {"contentDigest": "md5:1"}),
        ("artifacts", {"sizeBytes": True}),
        ("artifacts", {"uri": {"href": "x"}}),
    ],
)
def test_rows_of_the_wrong_shape_are_refused(table: str, columns: dict[str, Any]) -> None:
    found = outcomes(changed(table, **columns))
    assert len(found) == 15
    assert sum(reasons(found).get(r, 0) for r in ("bad_column", "manifest.invalid")) == 1


def test_the_same_protocol_key_with_other_content_is_not_confused() -> None:
    rows = exports.rows()
    index = next(i for i, (table, _) in enumerate(rows) if table == "benchmark_runs") + 1
    row = json.loads(json.dumps(rows[index][1]))
    row["manifest"]["protocol"]["spec"]["harness"]["name"] = "another bench"
    rows[index] = ("benchmark_runs", row)
    assert reasons(outcomes(exports.text(rows)))["digest_differs"] == 1


def test_damaged_bytes_never_raise_and_are_all_counted() -> None:
    data = exports.text(exports.rows())
    chance = random.Random(7)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'{}[]":,0\\nx\xff')
        lines = bytes(damaged).removesuffix(b"\n").count(b"\n") + 1
        assert len(outcomes(bytes(damaged))) == lines


@pytest.mark.slow
def test_the_public_export_is_taken_whole() -> None:
    snapshot, found = find_source("kernelindex-export").read(shared_path(EXPORT))
    counted: Counter[str] = Counter()
    status: Counter[str] = Counter()
    notes = 0
    for one in found:
        if isinstance(one, Skipped):
            counted[one.reason] += 1
            continue
        notes += len(one.notes)
        last = one.manifests[-1] if one.manifests else None
        counted[last.kind if last else "artifact" if one.artifacts else "alias"] += 1
        if last and last.kind == "BenchmarkRun":
            status[last.document["spec"]["status"]] += 1
    assert snapshot.digest.startswith("sha256:0022af0b")
    assert sum(counted.values()) == 40_795
    assert counted == {
        "BenchmarkRun": 7857,
        "ImplementationRevision": 4250,
        "ModelRevision": 6,
        "OperationSpec": 449,
        "ServingConfiguration": 130,
        "ServingRun": 722,
        "ServingStackRevision": 71,
        "ServingWorkload": 17,
        "SoftwareProject": 615,
        "WorkloadCase": 5371,
        "WorkloadSuite": 256,
        "alias": 450,
        "artifact": 3074,
        "derived_measurement_agrees": 14_575,
        "derived_record_event_agrees": 2948,
        "source_in_registry": 4,
    }
    assert status == {"passed": 7771, "runtime_error": 82, "compile_error": 4}
    assert notes == 0
