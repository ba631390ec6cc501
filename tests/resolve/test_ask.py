from __future__ import annotations

import pytest

from kernelindex.catalog.rows import CohortRow, ExcludedRow, SearchHit
from kernelindex.resolve import Answer, ask_document, ask_text
from tests.resolve.factories import (
    H200,
    NVL,
    RECORD,
    RECORD_QUERY,
    UNKNOWN_H100,
    FakeCatalog,
    alone,
    cohort_row,
    digest,
    entry_row,
    pair,
    record_catalog,
)


def codes(answer: Answer) -> list[str]:
    return [assumption.code for assumption in answer.assumptions]


def test_the_record_question_is_answered_exactly() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY)
    assert answer.match == "exact"
    (cohort,) = answer.cohorts
    first, second = cohort.entries
    assert (first.run.primary.value, first.rank.low, first.rank.high) == (5751872, 1, 1)
    assert (second.run.primary.value, second.rank.low, second.rank.high) == (63962017, 2, 2)
    assert second.ratio_to_leader == pytest.approx(11.12, abs=0.01)
    assert second.implementation.restated is True
    assert [doubt.code for doubt in cohort.shared_doubts] == ["SINGLE_SAMPLE"]


def test_the_summary_is_the_one_sentence_of_the_page() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY)
    assert answer.summary == (
        "Liger leads (only 2 measured), 5.75 ms, 11.1x ahead of a copy of the Transformers loop."
        " Reported, one sample each; not rerun on H100."
    )


def test_a_family_with_one_product_is_said() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY)
    assert codes(answer) == ["hardware_family"]
    assert "H100 SXM 80GB" in answer.assumptions[0].text


def test_a_family_with_two_products_is_ambiguous_and_never_merged() -> None:
    catalog = FakeCatalog([pair("sxm"), pair("nvl", device=NVL)])
    answer = ask_text(catalog, RECORD_QUERY)
    assert answer.match == "ambiguous"
    assert [cohort.hardware.label for cohort in answer.cohorts] == ["H100 NVL", "H100 SXM 80GB"]
    assert [pick.hardware for pick in answer.best.reported.picks] == ["H100 NVL", "H100 SXM 80GB"]
    assert any("gpu:h100-nvl" in suggestion.query for suggestion in answer.suggestions)


def test_a_family_takes_devices_of_unknown_form_factor_but_a_product_does_not() -> None:
    catalog = FakeCatalog([pair("any", device=UNKNOWN_H100)])
    assert ask_text(catalog, RECORD_QUERY).match == "exact"
    nearest = ask_text(catalog, RECORD_QUERY.replace("gpu:H100", "gpu:H100-PCIe"))
    assert nearest.match == "nearest"
    assert nearest.nearest[0].differences[0].text == "NVIDIA H100, form factor not stated"


def test_without_a_pass_there_is_a_training_and_an_inference_block() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY.replace("pass:backward", ""))
    assert answer.match == "exact"
    assert [(b.kind, b.timed_pass, len(b.cohorts)) for b in answer.blocks] == [
        ("training", "full", 1),
        ("training", "forward", 1),
        ("training", "backward", 1),
        ("inference", "inference", 0),
    ]
    assert answer.blocks[3].text == "inference: not measured here"
    assert "pass_open" in codes(answer)


def test_the_same_shape_elsewhere_stands_beside_with_every_difference() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY)
    beside = {
        miss.cohort.hardware.label + " " + miss.cohort.timed_pass: [
            (d.field, d.asked, d.found) for d in miss.differences
        ]
        for miss in answer.nearest
    }
    assert beside == {
        "H100 SXM 80GB forward": [("pass", "backward", "forward")],
        "H100 SXM 80GB full": [("pass", "backward", "full")],
        "H200 SXM backward": [
            ("hardware", "H100", "H200 SXM"),
            ("source", "liger-kernel-bench", "kernelindex-h200-2026-11"),
        ],
    }


def test_an_unmeasured_shape_has_its_neighbours_and_no_invented_latency() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY.replace("experts=64", "experts=48"))
    assert answer.match == "nearest"
    assert answer.cohorts == ()
    (side,) = answer.neighbours
    assert (side.axis, side.asked, side.below.value, side.above.value) == ("experts", 48, 8, 64)
    assert side.leaders_agree is True
    assert "Both sides agree" in side.text
    assert answer.nearest[0].differences[0].text == "experts 64 instead of 48"


def test_neighbours_say_when_the_leader_changes() -> None:
    low = pair("low", axes={**RECORD, "experts": 8})
    row = cohort_row("high", axes={**RECORD, "experts": 128})
    other = [entry_row(row, "sonic"), entry_row(row, position=2, rank_low=2, rank_high=2)]
    answer = ask_text(FakeCatalog([low, (row, other)]), RECORD_QUERY)
    assert answer.neighbours[0].leaders_agree is False
    assert "The leader changes" in answer.neighbours[0].text


def test_one_sided_neighbours_say_which_side_is_missing() -> None:
    answer = ask_text(record_catalog(), RECORD_QUERY.replace("experts=64", "experts=256"))
    assert answer.neighbours[0].above is None
    assert "Nothing was measured above it" in answer.neighbours[0].text


def test_an_only_result_has_no_rank_and_says_so() -> None:
    catalog = FakeCatalog([alone("h200", device=H200)])
    answer = ask_text(catalog, RECORD_QUERY.replace("gpu:H100", "gpu:H200"))
    assert answer.cohorts[0].entries[0].rank is None
    assert answer.summary.startswith("Only result: Liger, 5.75 ms.")
    assert answer.best.reported.picks[0].how == "only_result"


def test_unresolved_leaders_are_named_together() -> None:
    row = cohort_row("tie", entry_count=3)
    entries = [
        entry_row(row, "liger", rank_high=2),
        entry_row(row, "sonic", position=2, rank_high=2, value=5800000.0, ratio_to_leader=1.008),
        entry_row(row, "slow", position=3, rank_low=3, rank_high=3, ratio_to_leader=2.0),
    ]
    answer = ask_text(FakeCatalog([(row, entries)]), RECORD_QUERY)
    assert "Liger and Sonic are not told apart (only 3 measured), 5.75 to 5.80 ms" in (
        answer.summary
    )
    pick = answer.best.reported.picks[0]
    assert (pick.how, len(pick.runs)) == ("unbeaten", 2)


def test_empty_slots_say_what_would_fill_them() -> None:
    best = ask_text(record_catalog(), RECORD_QUERY).best
    assert best.verified.picks == ()
    assert best.verified.would_fill == "a controlled run"
    assert best.deployable.would_fill == "a pinned revision"


def test_passes_take_turns_where_not_every_group_has_room() -> None:
    full = [pair(f"full {n}", timed_pass="full", axes={**RECORD, "tokens": n}) for n in range(13)]
    rest = [pair("back"), pair("back2", axes={**RECORD, "tokens": 1})]
    answer = ask_text(FakeCatalog([*full, *rest]), "fused-moe bf16 gpu:H100")
    assert (len(answer.cohorts), answer.cohorts_left_out) == (12, 3)
    passes = [cohort.timed_pass for cohort in answer.cohorts]
    assert passes == ["full"] * 10 + ["backward"] * 2
    assert "of the 12 shown" in answer.summary
    said = {block.timed_pass: (len(block.cohorts), block.measured) for block in answer.blocks}
    assert said == {"full": (10, True), "forward": (0, False), "backward": (2, True)} | {
        "inference": (0, False)
    }


def test_a_pass_is_not_called_unmeasured_where_more_fits_than_was_read() -> None:
    many = [pair(f"full {n}", timed_pass="full", axes={**RECORD, "tokens": n}) for n in range(101)]
    answer = ask_text(FakeCatalog(many), "fused-moe bf16 gpu:H100")
    block = next(block for block in answer.blocks if block.timed_pass == "forward")
    assert block.measured is None
    assert block.text == "forward: not among the groups that were read"


def failed_run(row: CohortRow) -> ExcludedRow:
    return ExcludedRow(
        run_digest=digest("failed"),
        operation="moe-mlp",
        shape_key=row.shape_key,
        cohort_key=row.key,
        timed_pass="backward",
        device="H100",
        implementation_digest=digest("i"),
        line_id="x/y",
        line_title="X",
        status="timeout",
        source="s",
        value=None,
        unit=None,
        reasons=({"code": "not_passed", "text": "status is timeout"},),
    )


def test_where_only_failed_runs_exist_they_are_said() -> None:
    catalog = FakeCatalog([], excluded=[failed_run(cohort_row("gone"))])
    answer = ask_text(catalog, RECORD_QUERY)
    assert answer.match == "none"
    assert answer.excluded[0].reasons[0].code == "not_passed"
    assert ask_text(catalog, RECORD_QUERY.replace("backward", "full")).excluded == ()


def test_runs_that_do_not_rank_are_listed_with_their_reasons() -> None:
    row, entries = pair("record")
    failed = failed_run(row)
    answer = ask_text(FakeCatalog([(row, entries)], excluded=[failed]), RECORD_QUERY)
    assert answer.excluded[0].reasons[0].text == "status is timeout"


@pytest.mark.parametrize("document", [{}, {"foo": 1}, [], None, {"operation": ""}])
def test_a_malformed_request_is_refused_not_answered_with_nothing(document: object) -> None:
    answer = ask_document(record_catalog(), document)
    assert answer.match == "none"
    assert answer.problems
    assert answer.cohorts == ()


def test_a_typo_is_answered_and_said() -> None:
    row = cohort_row("norm", operation="rms-norm", axes={"tokens": 1}, dtypes={"x": "bf16"})
    answer = ask_text(FakeCatalog([(row, [entry_row(row)])]), "rmsnrom")
    assert codes(answer)[0] == "operation_typo"
    assert answer.assumptions[0].taken == ("rms-norm",)
    assert answer.cohorts[0].operation == "rms-norm"
    assert any(suggestion.query == "rms-norm" for suggestion in answer.suggestions)


def test_words_find_an_operation_only_the_catalog_has() -> None:
    row = cohort_row("glow", operation=digest("glow"), axes={}, dtypes={}, distribution="suite:x")
    hit = SearchHit(
        kind="operation", slug=digest("glow"), title="Glow filter bank", score=2.0, run_count=3
    )
    answer = ask_text(FakeCatalog([(row, [entry_row(row)])], hits=[hit]), "glow bank")
    assert answer.match == "exact"
    assert codes(answer)[0] == "operation_words"


def test_an_ambiguous_dtype_lists_its_variants() -> None:
    row = cohort_row("gemm", operation="gemm", axes={"m": 1}, dtypes={"a": "fp8_e4m3fnuz"})
    answer = ask_text(FakeCatalog([(row, [entry_row(row)])]), "gemm dtype:fp8")
    assert answer.match == "exact"
    note = next(item for item in answer.assumptions if item.code == "dtype_ambiguous")
    assert "fp8_e4m3fnuz" in note.taken
    assert "fp8_e4m3fn" in note.taken


def test_a_narrower_input_is_not_the_dtype_asked() -> None:
    row = cohort_row("gemm", operation="gemm", dtypes={"a": "fp8_e4m3fn", "c": "bf16"})
    answer = ask_text(FakeCatalog([(row, [entry_row(row)])]), "gemm bf16")
    assert answer.match == "nearest"
    assert answer.nearest[0].differences[0].text == "fp8_e4m3fn beside bf16"


def test_hardware_alone_lists_what_was_measured_there() -> None:
    answer = ask_text(record_catalog(), "h200")
    assert [cohort.hardware.label for cohort in answer.cohorts] == ["H200 SXM"]


@pytest.mark.parametrize(
    ("text", "code", "correction"),
    [
        ("moe gpu:H10O", "request.hardware_unknown", "h100"),
        ("fused-moe token=3", "request.axis_unknown", "tokens"),
        ("moe dtype:bf61", "request.dtype_unknown", "bf16"),
        ("zzzzqqq", "request.operation_unknown", None),
        ("moe metric:latencies", "request.metric_unknown", "latency"),
        ("moe license:bogus", "request.licence_unknown", None),
        ("moe gpu:8xH100", "request.several_gpus", "h100"),
    ],
)
def test_unknown_names_are_problems_with_corrections(
    text: str, code: str, correction: str | None
) -> None:
    answer = ask_text(record_catalog(), text)
    assert answer.match == "none"
    assert (answer.problems[0].code, answer.problems[0].correction) == (code, correction)


def test_the_reading_has_our_names() -> None:
    reading = ask_text(
        record_catalog(), "moe-mlp T=8192 dtype:fp8 gpu:H100 pass:bwd source:liger"
    ).reading
    assert (reading.operations, reading.axes) == (("moe-mlp",), {"tokens": 8192})
    assert "fp8_e4m3fnuz" in reading.dtypes[0]
    assert (reading.family, reading.timed_pass) == ("H100", "backward")
    assert len(reading.products) > 1
    assert reading.source == "liger-kernel-bench"


def test_axis_aliases_are_read() -> None:
    text = "fused-moe T=8192 H=2048 E=64 K=8 I=768 bf16 gpu:H100 pass:backward"
    assert ask_text(record_catalog(), text).cohorts == (
        ask_text(record_catalog(), RECORD_QUERY).cohorts
    )


def test_several_shapes_are_ambiguous_and_say_which_axis_is_open() -> None:
    answer = ask_text(record_catalog(), "fused-moe T=8192 gpu:H100 pass:backward")
    assert answer.match == "ambiguous"
    note = next(item for item in answer.assumptions if item.code == "axes_open")
    assert note.taken == ("experts",)
    assert len(answer.cohorts) == 3


def test_reads_do_not_grow_with_the_answer() -> None:
    catalog = record_catalog()
    ask_text(catalog, RECORD_QUERY)
    assert catalog.reads == ["cohorts", "entries", "excluded"]


def test_a_label_no_table_knows_is_found_where_it_has_runs() -> None:
    acme = {**H200, "product_id": None, "label": "Acme 9000", "family": ""}
    answer = ask_text(FakeCatalog([pair("acme", device=acme)]), "moe gpu:Acme-9000")
    assert answer.match == "exact"
    assert answer.cohorts[0].hardware.label == "Acme 9000"


def test_relatives_on_the_asked_device_are_suggested_when_nothing_fits() -> None:
    other = alone("gemm", operation="gemm-mxfp4", operation_title="MXFP4", family="gemm", axes={})
    answer = ask_text(FakeCatalog([other]), "gemm gpu:H100")
    assert [item.query for item in answer.suggestions] == ["gemm-mxfp4 gpu:H100"]


def test_groups_of_one_setting_come_best_first() -> None:
    row, entries = pair("slow", protocol={"name": "loop", "version": None, "rules": {}})
    slow = [entry_row(row, value=9e6), *entries[1:]]
    answer = ask_text(FakeCatalog([(row, slow), pair("fast")]), RECORD_QUERY)
    assert [c.protocol.name for c in answer.cohorts] == ["Liger-Kernel benchmark scripts", "loop"]
    note = next(item for item in answer.assumptions if item.code == "protocols_apart")
    assert note.taken == ("name",)
    assert "(loop)" in answer.summary
