"""Rows of own making through the whole source: what each becomes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.errors import SourceError
from kernelindex.manifests import Manifest, parse, references
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.sources.liger import PARSER_VERSION, read
from kernelindex.sources.liger.rows import COLUMNS
from tests.sources.liger.factories import (
    ROW,
    make_row,
    moe_row,
    only,
    outcomes,
    reason,
    spec_of,
    write_csv,
)


def run_of(**changes: Any) -> dict[str, Any]:
    return spec_of(only(write_csv(make_row(**changes))), "BenchmarkRun")


def test_the_snapshot_is_over_the_raw_bytes(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + write_csv(make_row())
    path = tmp_path / "bench.csv"
    path.write_bytes(data)
    snapshot, rows = read(path)
    assert snapshot.digest == "sha256:" + hashlib.sha256(data).hexdigest()
    assert (snapshot.name, snapshot.source) == ("bench.csv", "liger-kernel-bench")
    assert (snapshot.size_bytes, snapshot.parser_version) == (len(data), PARSER_VERSION)
    assert len(list(rows)) == 1
    assert read(data, name="given.csv")[0].name == "given.csv"
    assert read(str(path))[0].digest == snapshot.digest


def test_a_missing_file_is_said() -> None:
    with pytest.raises(SourceError, match="nowhere"):
        read("/nowhere/at/all.csv")


def test_float32_noise_rounds_and_the_text_is_kept() -> None:
    noise = "0.0071680000983178616"
    row = only(write_csv(make_row(y_value_50=noise, y_value_20=noise)))
    assert spec_of(row, "BenchmarkRun")["timing"]["latencyNs"]["median"] == 7168
    assert row.observation is not None
    assert row.observation.row["y_value_50"] == noise


def test_quantiles_go_beside_the_median() -> None:
    run = run_of()
    assert run["timing"] == {"primaryStatistic": "median", "latencyNs": {"median": 500_000}}
    spread = {item["statistic"]: item["value"] for item in run["measurements"]}
    assert spread == {"p20": 490_000, "p80": 510_000}
    assert run["sourceNative"]["metrics"] == {"ms_20": 0.49, "ms_50": 0.5, "ms_80": 0.51}


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "inf", "None"])
def test_without_a_median_there_is_no_run(missing: str) -> None:
    assert reason(make_row(y_value_50=missing)) == "missing_value"


@pytest.mark.parametrize("field", ["y_value_20", "y_value_80"])
@pytest.mark.parametrize("missing", ["", "nan", "garbage"])
def test_without_both_quantiles_there_is_no_spread(field: str, missing: str) -> None:
    run = run_of(**{field: missing})
    assert run["timing"]["latencyNs"] == {"median": 500_000}
    assert "measurements" not in run
    assert "samples" not in run["timing"]


@pytest.mark.parametrize("value", ["0", "-0.5", "many", "1e300"])
def test_a_value_that_is_no_time_is_a_bad_number(value: str) -> None:
    assert reason(make_row(y_value_50=value)) == "bad_number"


def alike(value: str) -> dict[str, str]:
    return {"y_value_50": value, "y_value_20": value, "y_value_80": value}


def test_three_equal_quantiles_past_half_of_rep_are_one_sample() -> None:
    run = spec_of(only(write_csv(moe_row(**alike("5.7518720626831055")))), "BenchmarkRun")
    assert run["timing"]["samples"] == 1
    assert "measurements" not in run


def test_many_samples_do_not_agree_to_the_last_digit() -> None:
    run = run_of(**alike("30.31283187866211"))
    assert run["timing"]["samples"] == 1


def test_two_or_three_samples_might_agree() -> None:
    run = spec_of(only(write_csv(moe_row(**alike("3.1611199378967285")))), "BenchmarkRun")
    assert "samples" not in run["timing"]
    assert "measurements" not in run
    assert "QUANTILES_COINCIDE" in {doubt["code"] for doubt in run["doubts"]}


def test_three_equal_quantiles_of_a_short_time_may_be_the_timers_tick() -> None:
    run = run_of(**alike("0.008192000165581703"))
    assert "samples" not in run["timing"]
    assert "QUANTILES_COINCIDE" in {doubt["code"] for doubt in run["doubts"]}


def test_equal_texts_are_needed_not_equal_ns() -> None:
    run = run_of(y_value_50="30.3", y_value_20="30.3", y_value_80="30.30000000001")
    assert "samples" not in run["timing"]


def test_memory_is_a_run_of_its_own_in_bytes() -> None:
    changes = {**alike("25.00439453125"), "metric_name": "memory", "metric_unit": "MB"}
    row = only(write_csv(make_row(kernel_operation_mode="full", **changes)))
    run = spec_of(row, "BenchmarkRun")
    assert "timing" not in run
    assert {
        "metric": "peak_memory",
        "unit": "bytes",
        "statistic": "median",
        "value": 26_219_008,
    } in run["measurements"]
    assert run["sourceNative"]["benchmark"] == "rms_norm/full/memory"
    protocol = spec_of(row, "BenchmarkProtocol")
    assert protocol["measurement"]["primaryStatistic"] == "median"
    assert "timedRegion" not in protocol


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"metric_name": "speed", "metric_unit": "s"}, "metric_unknown"),
        ({"metric_name": "power", "metric_unit": "W"}, "metric_unknown"),
        ({"timestamp": "yesterday"}, "bad_timestamp"),
        ({"timestamp": ""}, "bad_timestamp"),
        ({"timestamp": "2026-02-30 10:00:00"}, "bad_timestamp"),
        ({"timestamp": "2026-02-28 24:00:00"}, "bad_timestamp"),
        ({"liger_version": ""}, "bad_version"),
        ({"liger_version": "0.7.0; rm"}, "bad_version"),
        ({"gpu_name": ""}, "gpu_not_named"),
        ({"gpu_name": "cuda:0"}, "gpu_not_named"),
        ({"gpu_name": "x" * 300}, "gpu_not_named"),
    ],
)
def test_rows_that_lack_what_a_run_needs(changes: dict[str, str], why: str) -> None:
    assert reason(make_row(**changes)) == why


def test_an_unknown_gpu_is_a_device_of_its_own() -> None:
    row = only(write_csv(make_row(gpu_name="ACME Accelerator 9000")))
    hardware = spec_of(row, "ExecutionEnvironment")["hardware"]
    assert hardware["product"] == "ACME Accelerator 9000"
    assert (hardware["vendor"], hardware["architecture"]) == ("unknown", "unknown")


def test_the_environment_claims_no_software() -> None:
    row = only(write_csv(make_row()))
    spec = spec_of(row, "ExecutionEnvironment")
    assert spec["software"] == {}
    assert spec["hardware"]["architecture"] == "sm_90"
    assert "settings" not in spec


def test_the_time_stays_as_written_without_a_zone() -> None:
    run = run_of(timestamp="2026-04-02 23:59:45")
    assert run["observedLocal"] == {"text": "2026-04-02 23:59:45", "zone": "unstated"}
    assert "observedAt" not in run


def test_every_reference_is_among_the_rows_manifests() -> None:
    row = only(write_csv(moe_row(kernel_operation_mode="backward")))
    given_digests = {manifest.digest for manifest in row.manifests}
    for manifest in row.manifests:
        for reference in references(manifest):
            assert reference.digest in given_digests, reference.path
        assert parse(manifest.document).digest == manifest.digest


def test_upstreams_key_and_stamp_are_the_observations() -> None:
    first = only(write_csv(make_row()))
    later = only(write_csv(make_row(timestamp="2026-05-01 00:00:00", y_value_50="0.4")))
    other = only(write_csv(make_row(x_value="8192")))
    relabelled = only(write_csv(make_row(x_label="something else")))
    assert first.observation is not None
    assert later.observation is not None
    assert other.observation is not None
    assert relabelled.observation is not None
    assert first.observation.row_key == later.observation.row_key
    assert first.observation.row_key == relabelled.observation.row_key
    assert first.observation.row_key != other.observation.row_key
    assert first.observation.row_stamp == "2026-04-02 23:57:51"
    assert first.observation.run_digest != later.observation.run_digest


def test_each_of_upstreams_files_overwrites_only_its_own_rows() -> None:
    data = write_csv(make_row())
    keys = {
        name: row.observation.row_key
        for name in ("all_benchmark_data.csv", "copy.csv", "all_benchmark_data_cutile.csv")
        for row in _rows(list(read(data, name=name)[1]))
    }
    assert keys["all_benchmark_data.csv"] == keys["copy.csv"]
    assert keys["all_benchmark_data_cutile.csv"] != keys["copy.csv"]


def test_the_same_bytes_give_the_same_digests_and_order_does_not_matter() -> None:
    rows = [make_row(x_value=str(2**power)) for power in range(10, 14)]
    forward = [row.observation.run_digest for row in _rows(outcomes(write_csv(*rows)))]
    backward = [row.observation.run_digest for row in _rows(outcomes(write_csv(*rows[::-1])))]
    assert forward == backward[::-1]
    assert len(set(forward)) == 4


def test_counts_add_up() -> None:
    data = write_csv(make_row(), make_row(y_value_50="nan"), make_row(kernel_name="x"))
    data += b"\r\n" + b"a,b\r\n"
    found = outcomes(data)
    assert len(found) == 5
    skipped = sorted(item.reason for item in found if isinstance(item, Skipped))
    assert skipped == ["blank_row", "kernel_unknown", "missing_value", "ragged_row"]


def test_where_names_the_line() -> None:
    found = outcomes(write_csv(make_row(), make_row(kernel_name="x")))
    assert [item.where for item in found] == ["line 2", "line 3"]


def test_moe_says_non_leaf_weights_uniform_routing_and_what_is_in_the_region() -> None:
    row = only(write_csv(moe_row(kernel_operation_mode="full")))
    protocol = spec_of(row, "BenchmarkProtocol")
    assert protocol["timedPass"] == "full"
    assert protocol["gradients"] == "non_leaf"
    assert protocol["timedRegion"]["includes"] == ["gradient_accumulation", "random_numbers"]
    assert protocol["cache"] == {"regime": "cold"}
    workload = spec_of(row, "WorkloadCase")
    assert workload["routing"]["distribution"] == "uniform"
    assert workload["tensors"]["gate_up_proj"]["role"] == "static"
    assert workload["tensors"]["gate_up_proj"]["shape"] == [128, 1536, 2048]
    assert workload["tensors"]["top_k_index"] == {
        "shape": [8192, 8],
        "dtype": "int32",
        "role": "per_call",
        "data": {"generator": "top_k_of_normal_logits"},
    }
    assert workload["correctness"] == {"comparator": "not_asserted"}


def test_forward_states_no_gradients() -> None:
    row = only(write_csv(moe_row()))
    protocol = spec_of(row, "BenchmarkProtocol")
    assert "gradients" not in protocol
    assert protocol["timedRegion"]["includes"] == []


def test_no_grad_forward_is_inference() -> None:
    row = only(
        write_csv(
            make_row(
                config={"vocab_size": 128256, "bsz": 1, "seq_len": 8192},
                kernel_name="cross_entropy",
                kernel_provider="torch",
                kernel_operation_mode="no-grad-forward",
                x_name="BT",
                x_value="1024",
                liger_version="0.8.0",
            )
        )
    )
    assert spec_of(row, "BenchmarkProtocol")["timedPass"] == "inference"
    assert row.observation is not None
    assert "dtype: fp32" in row.observation.bound[0]


def swiglu_row(**changes: str) -> dict[str, str]:
    config = {
        "bsz": 1,
        "seq_len": 8192,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "hidden_act": "silu",
        "dtype": "torch.bfloat16",
    }
    names = {
        "kernel_name": "swiglu",
        "kernel_provider": "liger_triton",
        "kernel_operation_mode": "backward",
        "x_name": "T",
        "x_value": "1024",
        "gpu_name": "NVIDIA B200",
        "y_value_50": "1.0",
    }
    return make_row(config=config, **{**names, **changes})


def harness_doubts(row: dict[str, str]) -> list[dict[str, Any]]:
    doubts = spec_of(only(write_csv(row)), "BenchmarkRun").get("doubts", [])
    return [doubt for doubt in doubts if doubt["code"] == "HARNESS_WORK_IN_TIMED_REGION"]


def test_work_of_the_script_is_sized_by_the_products_bandwidth() -> None:
    (doubt,) = harness_doubts(swiglu_row())
    moved = 3 * 3 * 4096 * 14336 * 2
    assert doubt["effect"] == "shifts"
    bandwidth = PRODUCTS["b200-sxm-180gb"].bandwidth_bytes_s
    assert bandwidth is not None
    assert doubt["shiftNs"] == round(moved / bandwidth * 1e9)
    assert "1.06 GB" in doubt["text"]


def test_on_an_unknown_gpu_the_work_is_named_without_a_size() -> None:
    (doubt,) = harness_doubts(swiglu_row(gpu_name="ACME Accelerator 9000"))
    assert "shiftNs" not in doubt


def test_work_below_a_percent_of_the_time_is_left_out() -> None:
    assert harness_doubts(swiglu_row(y_value_50="1000.0")) == []
    assert harness_doubts(swiglu_row(kernel_operation_mode="forward")) == []


def test_only_the_release_that_has_the_kernel_gets_a_recipe() -> None:
    shipped = spec_of(only(write_csv(make_row(liger_version="0.7.0"))), "ImplementationRevision")
    assert shipped["buildVariants"][0]["install"]["version"] == "0.7.0"
    assert shipped["support"]["hardwareArchitectures"] == ["sm_90"]
    assert shipped["licensing"]["concluded"].startswith("BSD-2-Clause")
    row = only(write_csv(moe_row()))
    tree = spec_of(row, "ImplementationRevision")
    assert tree["projectRevision"]["version"] == "0.7.0"
    assert "buildVariants" not in tree
    assert "concluded" not in tree["licensing"]
    codes = {doubt["code"] for doubt in spec_of(row, "BenchmarkRun")["doubts"]}
    assert "VERSION_LACKS_KERNEL" in codes


def test_a_library_whose_version_is_not_stated_has_none() -> None:
    row = swiglu_row(kernel_provider="huggingface")
    spec = spec_of(only(write_csv(row)), "ImplementationRevision")
    assert "version" not in spec["projectRevision"]
    assert spec["callable"]["symbol"] == "LlamaMLP"


def test_the_implementation_is_linked_to_its_project() -> None:
    row = only(write_csv(moe_row(kernel_provider="huggingface")))
    (link,) = row.links
    assert link.project == "liger-benchmark"
    assert link.implementation_digest in {m.digest for m in row.manifests}


def _rows(found: list[Row | Skipped]) -> list[Any]:
    return [item for item in found if isinstance(item, Row)]


cells = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["fused_moe", "rms_norm", "T", "E", "liger", "speed", "ms", "nan", "1e9", "{}"]
    ),
    st.integers(-(10**20), 10**20).map(str),
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(COLUMNS), cells, max_size=5))
def test_a_mutated_row_is_a_run_or_a_reason(changes: dict[str, str]) -> None:
    base = moe_row() if "fused_moe" in changes.values() else ROW
    (found,) = outcomes(write_csv({**base, **changes}))
    if isinstance(found, Row):
        assert all(isinstance(manifest, Manifest) for manifest in found.manifests)
    else:
        assert found.reason.islower()


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["M", "dtype", "eps", "x"]),
        st.one_of(
            st.none(), st.booleans(), st.integers(-10, 2**70), st.floats(), st.text(max_size=4)
        ),
    )
)
def test_a_mutated_config_is_a_run_or_a_reason(config: dict[str, Any]) -> None:
    (found,) = outcomes(write_csv({**ROW, "extra_benchmark_config_str": json.dumps(config)}))
    assert isinstance(found, Row) or found.reason in {"config_unknown", "dtype_unknown"}
