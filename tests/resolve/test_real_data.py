"""Questions over everything that is public: Liger's file and the export, as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelindex.catalog import Catalog, import_records
from kernelindex.resolve import ask_text
from kernelindex.sources import find_source
from tests.resolve.factories import RECORD_QUERY
from tests.support.shared import shared_path

pytestmark = pytest.mark.slow

FILES = (
    ("liger", "data/liger/all_benchmark_data.csv"),
    ("kernelindex-export", "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"),
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    paths = [(slug, shared_path(name)) for slug, name in FILES]
    folder = tmp_path_factory.mktemp("everything")
    catalog = Catalog.create(f"sqlite:///{folder}/ki.db")
    for slug, path in paths:
        snapshot, records = find_source(slug).read(path)
        import_records(catalog, snapshot, records)
    yield catalog
    catalog.close()


@pytest.mark.parametrize(
    ("query", "match", "operation", "family"),
    [
        ("rmsnorm H100 bf16", "ambiguous", "rms-norm", "H100"),
        ("fp8 gemm MI300X", "ambiguous", "gemm-fp8-block-scaled", "MI300X"),
        ("b200", "ambiguous", None, "B200"),
        ("rmsnrom", "ambiguous", "rms-norm", None),
        ("prefix sum L4", "exact", "prefix-sum", "L4"),
        ("causal conv1d B200", "exact", "causal-conv1d", "B200"),
        ("moe", "ambiguous", "moe-mlp", None),
    ],
)
def test_a_question_in_words_leads_to_what_exists(
    everything: Catalog, query: str, match: str, operation: str | None, family: str | None
) -> None:
    answer = ask_text(everything, query)
    assert answer.match == match
    assert answer.cohorts
    assert {cohort.operation for cohort in answer.cohorts} <= {operation} or operation is None
    assert {cohort.hardware.family for cohort in answer.cohorts} <= {family} or family is None


def test_what_is_not_measured_leads_to_the_nearest_with_differences(everything: Catalog) -> None:
    answer = ask_text(everything, "gemm MI300X")
    assert answer.match == "nearest"
    assert answer.nearest[0].differences[0].field == "hardware"
    assert any(item.query.startswith("gemm-fp8") for item in answer.suggestions)


def test_a_point_that_the_file_holds_twice_is_one_entry(everything: Catalog) -> None:
    answer = ask_text(everything, RECORD_QUERY.replace("experts=64", "experts=128"))
    (cohort,) = answer.cohorts
    assert [len(entry.other_runs) for entry in cohort.entries] == [1, 1]


def test_one_entry_alone_shows_no_rank(everything: Catalog) -> None:
    answer = ask_text(everything, "rms-norm hidden=4096 b200")
    alone = [cohort for cohort in answer.cohorts if cohort.only_result]
    assert alone
    assert {entry.rank for cohort in alone for entry in cohort.entries} == {None}


def test_an_unmeasured_shape_has_neighbours_on_both_sides(everything: Catalog) -> None:
    answer = ask_text(everything, RECORD_QUERY.replace("experts=64", "experts=48"))
    (side,) = answer.neighbours
    assert (side.below.value, side.above.value, side.leaders_agree) == (32, 64, True)
