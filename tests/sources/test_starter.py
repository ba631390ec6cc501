from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelindex.catalog.intake import Row
from kernelindex.manifests import canonical
from kernelindex.policy import reading
from kernelindex.policy.cohorts import cohort_key, shape_key
from kernelindex.policy.facts import RunFacts
from kernelindex.sources import find_source
from kernelindex.sources.starter.h200 import SOURCE
from tests.support.shared import shared_path

ROOT = Path(__file__).parents[2]
PASSES = ("forward", "backward", "full")


def starter_rows() -> list[Row]:
    rows = list(find_source("starter").read()[1])
    assert all(isinstance(row, Row) for row in rows)
    return [row for row in rows if isinstance(row, Row)]


def published() -> list[Row]:
    return [r for r in starter_rows() if r.observation and r.observation.source != SOURCE]


def measured() -> dict[tuple[str, str], Row]:
    """Our H200 rows by candidate and pass."""
    rows = [r for r in starter_rows() if r.observation and r.observation.source == SOURCE]
    return {(r.observation.row["candidate"], r.observation.row["pass"]): r for r in rows}  # type: ignore[union-attr]


def facts(row: Row) -> RunFacts:
    by_kind = {manifest.kind: manifest for manifest in row.manifests}
    assert row.observation is not None
    return reading.read_run(
        by_kind["BenchmarkRun"],
        reading.read_workload(by_kind["WorkloadCase"], by_kind["OperationSpec"]),
        reading.read_protocol(by_kind["BenchmarkProtocol"]),
        reading.read_environment(by_kind["ExecutionEnvironment"]),
        reading.read_implementation(
            by_kind["ImplementationRevision"],
            source=row.observation.source,
            project=row.links[0].project,
        ),
        reading.ObservationFacts(source=row.observation.source),
    )


def median_ns(row: Row) -> int:
    value: int = row.manifests[-1].document["spec"]["timing"]["latencyNs"]["median"]
    return value


def test_the_two_h100_rows_are_the_first() -> None:
    assert [median_ns(row) for row in published()] == [5_751_872, 63_962_017]


def test_importing_the_whole_file_later_gives_the_same_bytes() -> None:
    everything = find_source("liger").read(shared_path("data/liger/all_benchmark_data.csv"))[1]
    wanted = {row.observation.run_digest: row for row in published() if row.observation}
    found = {
        row.observation.run_digest: row
        for row in everything
        if isinstance(row, Row) and row.observation and row.observation.run_digest in wanted
    }
    assert found.keys() == wanted.keys()
    for digest, row in wanted.items():
        assert row.observation == found[digest].observation
        assert [canonical.dumps(m.document) for m in row.manifests] == [
            canonical.dumps(m.document) for m in found[digest].manifests
        ]


def test_the_csv_is_upstreams_to_the_byte() -> None:
    ours = (ROOT / "src/kernelindex/sources/starter/liger.csv").read_bytes()
    theirs = shared_path("data/liger/all_benchmark_data.csv").read_bytes()
    lines = ours.splitlines(keepends=True)
    assert len(lines) == 3
    assert theirs.startswith(lines[0])
    assert all(line in theirs for line in lines)


def test_the_original_page_is_an_alias() -> None:
    loop = {m.kind: m.digest for m in published()[1].manifests}
    names = {
        alias.alias: alias.digest
        for row in starter_rows()
        for alias in row.aliases
        if alias.source == "kernelindex-original"
    }
    run = "bbb05fbe7d3da9e3bffc16995e6aafedd120cca4f8c019de0afb087f9d868fed"
    for name in ("01a0202b", "bbb05fbe", run, f"sha256:{run}"):
        assert names[name] == loop["BenchmarkRun"]
    seed = json.loads(shared_path("conformance/seed-run-01a0202b.json").read_text())
    kinds = {"operation": "OperationSpec", "workload": "WorkloadCase", "run": "BenchmarkRun"}
    kinds |= {"implementation": "ImplementationRevision", "protocol": "BenchmarkProtocol"}
    kinds |= {"environment": "ExecutionEnvironment"}
    for part, digest in seed["expected"]["digests"].items():
        assert names[digest] == loop[kinds[part]]


def test_every_public_candidate_has_three_passes_and_no_prototype_one() -> None:
    candidates = {name for name, _ in measured()}
    assert candidates == {
        "torch_gmm",
        "torch_gmm_manual",
        "cublas_loop",
        "hf_grouped_mm",
        "hf_eager",
        "liger",
        "sonic",
    }
    assert measured().keys() == {(name, timed) for name in candidates for timed in PASSES}


@pytest.mark.parametrize(
    ("candidate", "timed", "nanoseconds", "samples"),
    [
        ("liger", "backward", 4_364_000, 750),
        ("sonic", "forward", 1_164_500, 500),
        ("sonic", "full", 3_783_000, 500),
        ("hf_eager", "full", 92_118_256, 40),
        ("torch_gmm", "forward", 2_929_856, 40),
    ],
)
def test_numbers_come_from_the_interleaved_rounds_or_else_the_loop(
    candidate: str, timed: str, nanoseconds: int, samples: int
) -> None:
    row = measured()[candidate, timed]
    assert median_ns(row) == nanoseconds
    assert row.manifests[-1].document["spec"]["timing"]["samples"] == samples


def test_loop_and_interleaved_never_share_a_cohort() -> None:
    keys: dict[str, set[str]] = {}
    for (_, timed), row in measured().items():
        assert row.observation is not None
        assert facts(row).timed_pass == timed
        keys.setdefault(cohort_key(facts(row)), set()).add(row.observation.row["method"])
    assert len(keys) == 6
    assert all(len(methods) == 1 for methods in keys.values())


def test_the_shape_is_that_of_the_published_rows() -> None:
    shapes = {shape_key(facts(row).shape) for row in (*published(), *measured().values())}
    assert len(shapes) == 1


def test_liger_is_one_line_on_both_cards_and_the_loop_another() -> None:
    liger, loop = (facts(row).line.id for row in published())
    assert facts(measured()["liger", "backward"]).line.id == liger
    lines = {name: facts(row).line for (name, _), row in measured().items()}
    assert len({line.id for line in lines.values()}) == 7
    assert loop not in {line.id for line in lines.values()}
    assert lines["hf_eager"].id == "transformers/Qwen3MoeExperts"
    assert not any(line.restated for line in lines.values())


def test_correctness_is_asserted_for_the_outputs_of_the_pass() -> None:
    row = facts(measured()["sonic", "backward"])
    assert row.correctness.asserted
    outputs = (
        measured()["sonic", "backward"].manifests[-1].document["spec"]["correctness"]["outputs"]
    )
    assert "y" not in outputs
    assert outputs["grad_x"]["passed"]
    assert 0.003 < outputs["grad_x"]["frobeniusError"] < 0.004


def test_the_environment_names_its_stack_and_card() -> None:
    stack = dict(facts(measured()["sonic", "full"]).stack)
    assert "580.159.04" in stack.values()
    assert facts(measured()["sonic", "full"]).device.product_id == "h200-sxm-141gb"


def test_the_data_file_is_what_the_script_makes() -> None:
    source = shared_path("gpu/h200-2026-11-30.json")
    script = ROOT / "scripts/build_starter_h200.py"
    done = subprocess.run([sys.executable, str(script), str(source), "--check"], check=False)
    assert done.returncode == 0
