from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.runner.channel import Refusal
from kernelindex.runner.dataclass_json import to_json
from kernelindex.runner.judge.deciding import tolerances_of
from kernelindex.runner.operations import case_of, load_operation
from kernelindex.runner.planning import Ask, choose_point
from tests.runner.judge.judging import Judging, rms_point

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the judge's torch side needs torch")

from kernelindex.runner.operations.rms_norm.candidates import EPS, eager, llama  # noqa: E402


@pytest.fixture
def judging(tmp_path: Path) -> Judging:
    return Judging(tmp_path, rms_point())


@pytest.mark.parametrize("draw", ["own", "stress", "uneven"])
@pytest.mark.parametrize("dtypes", [("bf16", "fp32"), ("bf16", "bf16"), ("fp32", "fp32")])
def test_pytorchs_own_function_passes_every_draw(
    tmp_path: Path, draw: str, dtypes: tuple[str, str]
) -> None:
    result = Judging(tmp_path, rms_point(dtype=dtypes[0], weight=dtypes[1])).judge(eager, draw=draw)
    assert (result["status"], result["text"]) == ("passed", "")
    assert set(result["outputs"]) == {"y", "grad_x", "grad_weight"}
    assert result["reference"] == "fp64"
    assert result["trusted"] == "pytorch/RMSNorm"
    assert all(one["error_ratio"] <= 1.001 for one in result["outputs"].values())


def test_the_layer_of_llama_passes_where_the_weight_is_as_narrow(tmp_path: Path) -> None:
    assert Judging(tmp_path, rms_point(weight="bf16")).judge(llama)["status"] == "passed"


def test_a_float32_weight_widens_llamas_output(judging: Judging) -> None:
    result = judging.judge(llama)
    assert result["status"] == "incorrect_dtype"
    assert result["text"] == "y is fp32; wanted bf16"


@pytest.mark.parametrize("offset", [0, 5, 96, 1001])
def test_a_refresh_is_followed(judging: Judging, offset: int) -> None:
    assert judging.judge(eager, offset=offset)["status"] == "passed"


def test_an_answer_of_before_the_refresh_is_wrong_in_every_output(judging: Judging) -> None:
    stale = judging.results(eager, judging.make(), "full", "own", 0, 0)
    result = judging.compare(stale, "full", offset=7)
    assert [one["passed"] for one in result["outputs"].values()] == [False, False, False]


def test_sets_differ_and_each_is_judged_by_its_own(judging: Judging) -> None:
    assert judging.judge(eager, index=2)["status"] == "passed"
    second = judging.results(eager, judging.make(sets=2), "full", "own", 0, 1)
    assert judging.compare(second, "full", index=0)["reason"] in {"wrong_values", "wrong_gradient"}


def test_one_nan_is_found(judging: Judging) -> None:
    def spoil(results: Any) -> None:
        results["grad_x"][17, 33] = float("nan")

    result = judging.judge(eager, spoil=spoil)
    assert (result["status"], result["reason"]) == ("incorrect_numerical", "not_finite")
    assert result["text"] == "grad_x holds a NaN or an infinity that the reference does not"
    assert result["outputs"]["grad_x"]["finite"] is False
    assert result["outputs"]["grad_x"]["frobenius"] is None
    assert result["outputs"]["y"]["passed"] is True


def test_one_wrong_row_is_found_and_named(tmp_path: Path) -> None:
    judging = Judging(tmp_path, rms_point(tokens=4096, hidden=64))

    def spoil(results: Any) -> None:
        results["y"][321] *= 1.1

    result = judging.judge(eager, spoil=spoil)
    assert result["outputs"]["y"]["frobenius"] < 6e-3
    assert result["outputs"]["y"]["worst_at"] == 321
    assert result["reason"] == "wrong_values"
    assert result["text"].startswith("y: error of row 321 is 0.")


def test_one_wrong_element_of_a_weights_gradient_is_found(tmp_path: Path) -> None:
    def spoil(results: Any) -> None:
        results["grad_weight"][7] += results["grad_weight"].std() / 4

    judging = Judging(tmp_path, rms_point(hidden=4096))
    result = judging.judge(eager, spoil=spoil)
    assert result["outputs"]["grad_weight"]["frobenius"] < 1e-2
    assert (result["status"], result["reason"]) == ("incorrect_numerical", "wrong_gradient")


def test_a_wrong_gradient_is_found_where_the_output_is_right(judging: Judging) -> None:
    def no_mean(x: Any, weight: Any) -> Any:
        wide = x.float()
        scale = (wide.square().mean(-1, keepdim=True) + EPS).rsqrt().detach()
        return (wide * scale * weight).to(x.dtype)

    assert judging.judge(no_mean, "forward")["status"] == "passed"
    result = judging.judge(no_mean, "backward")
    assert result["reason"] == "wrong_gradient"
    assert list(result["outputs"]) == ["grad_x", "grad_weight"]
    assert result["outputs"]["grad_weight"]["passed"] is True


def test_sums_in_fp16_are_caught_by_the_stress_draw_only(tmp_path: Path) -> None:
    def narrow(x: Any, weight: Any) -> Any:
        squares = (x.half() * x.half()).cumsum(-1, dtype=torch.float16)[..., -1:]
        scale = (squares.float() / x.shape[-1] + EPS).rsqrt()
        return (x.float() * scale * weight).to(x.dtype)

    judging = Judging(tmp_path, rms_point(hidden=64))
    assert judging.judge(narrow, "forward")["status"] == "passed"
    assert judging.judge(narrow, "forward", "stress")["reason"] in {"wrong_on_stress", "not_finite"}


def test_the_plan_s_bounds_take_the_place_of_the_operation_s() -> None:
    operation = load_operation("rms-norm")
    chosen = choose_point(Ask(operation="rms-norm", axes={"tokens": 8, "hidden": 16})).point
    case = case_of(chosen)
    assert tolerances_of(chosen, case) == dict(operation.tolerances_for(case.dtypes))
    assert chosen.tolerances["y"].max_rel == 1e-5
    assert chosen.tolerances["grad_weight"].worst_row is None
    loose = rms_point(tolerances={"y": {"frobenius": 0.1, "maxAbs": 3.0}})
    bounds = tolerances_of(loose, case_of(loose))["y"]
    assert (bounds.worst_row, bounds.max_rel, bounds.max_abs) == (None, None, 3.0)


def test_a_lower_precision_within_tolerance_is_caught_by_the_error_ratio(judging: Judging) -> None:
    def coarse(x: Any, weight: Any) -> Any:
        exact = eager(x, weight).float()
        generator = torch.Generator().manual_seed(1)
        noise = torch.randn(exact.shape, generator=generator) * 4.5e-3
        return (exact * (1 + noise)).to(x.dtype)

    judging = Judging(
        judging.folder,
        rms_point(tolerances={"y": {"frobenius": 0.1, "worstRow": 0.2, "errorRatio": 2.0}}),
    )
    result = judging.judge(coarse, "forward")
    assert result["reason"] == "error_ratio"
    assert 2.0 < result["outputs"]["y"]["error_ratio"] < 3.0


def test_bf16_arithmetic_does_not_pass_for_fp32(tmp_path: Path) -> None:
    def narrow(x: Any, weight: Any) -> Any:
        return eager(x.bfloat16(), weight.bfloat16()).float()

    result = Judging(tmp_path, rms_point(dtype="fp32")).judge(narrow)
    assert result["reason"] in {"wrong_values", "wrong_gradient"}


def test_missing_misshapen_and_mistyped_results_are_refused(judging: Judging) -> None:
    right = judging.results(eager, judging.make(), "full", "own", 0, 0)
    cases = {
        "gradient_missing": {k: v for k, v in right.items() if k != "grad_x"},
        "output_count": {k: v for k, v in right.items() if k != "y"},
        "output_shape": {**right, "y": right["y"].T},
        "output_dtype": {**right, "grad_weight": right["grad_weight"].double()},
    }
    reasons = {name: judging.compare(results, "full")["reason"] for name, results in cases.items()}
    assert reasons == {name: name for name in cases}


def test_a_file_that_is_none_or_too_large_is_refused(judging: Judging) -> None:
    right = judging.results(eager, judging.make(), "full", "own", 0, 0)
    huge = {**right, "more": torch.zeros(1 << 21)}
    result = judging.compare(huge, "full")
    assert result["reason"] == "output_type"
    assert "at most" in result["text"]
    path = judging.folder / "text"
    path.write_text("not tensors")
    assert "not a tensor file" in judging.compare_file(path, "full")["text"]
    (judging.folder / "link").symlink_to(judging.folder / "out.tensors")
    assert judging.compare_file(judging.folder / "link", "full")["status"] == "incorrect_shape"


def test_the_same_seed_draws_the_same_and_another_draws_others(judging: Judging) -> None:
    first, second = judging.make(sets=2), judging.make(sets=2)
    assert first["digests"] == second["digests"]
    assert len(set(first["digests"])) == 4
    other = judging.session.make(
        {"draw": "own", "seed": "another", "sets": 1, "dir": str(judging.folder)}
    )
    assert other["digests"][0] not in first["digests"]


def test_memory_is_let_go_and_made_again(judging: Judging) -> None:
    assert judging.judge(eager)["status"] == "passed"
    judging.session.free({})
    assert judging.compare_file(judging.folder / "out.tensors", "full")["status"] == "passed"


def test_what_was_not_made_or_does_not_exist_is_refused(judging: Judging) -> None:
    with pytest.raises(Refusal, match="draw 'stress' was not made yet"):
        judging.compare_file(judging.folder / "x", "full", "stress")
    unknown = to_json(replace(judging.point, operation="nothing"))
    with pytest.raises(Refusal, match="no operation 'nothing'"):
        judging.session.point({"point": unknown})


def test_a_reference_that_the_trusted_implementation_leaves_is_invalid(tmp_path: Path) -> None:
    narrow = {"y": {"frobenius": 1e-5, "worstRow": 1.0, "errorRatio": 2.0}}
    result = Judging(tmp_path, rms_point(tolerances=narrow)).judge(eager, "forward")
    assert (result["status"], result["reason"]) == ("invalid_reference", "trusted_beyond_tolerance")
    assert result["text"].startswith("the trusted pytorch/RMSNorm is beyond a bound: y: relative")


def test_a_sound_workload_has_no_findings(judging: Judging) -> None:
    for draw in ("own", "stress", "uneven"):
        judging.make(draw)
    assert judging.session.lint({}) == {"findings": []}


def test_an_input_that_does_not_matter_is_found(judging: Judging, monkeypatch: Any) -> None:
    from kernelindex.runner.operations import rms_norm

    def forgetful(inputs: Any, case: Any) -> Any:
        x = inputs["x"]
        return {"y": x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt()}

    monkeypatch.setattr(rms_norm, "reference", forgetful)
    judging.make()
    found = {one["code"]: one["text"] for one in judging.session.lint({})["findings"]}
    assert found["input_does_not_matter"] == (
        "input weight may be anything: nothing moves beyond its tolerance"
    )
    assert "trusted_beyond_tolerance" in found


def test_a_reference_that_is_not_finite_accuses_nobody(judging: Judging, monkeypatch: Any) -> None:
    from kernelindex.runner.operations import rms_norm

    honest = rms_norm.reference

    def broken(inputs: Any, case: Any) -> Any:
        return {"y": honest(inputs, case)["y"] / 0.0}

    monkeypatch.setattr(rms_norm, "reference", broken)
    result = judging.judge(eager, "forward")
    assert (result["status"], result["reason"]) == ("invalid_reference", "reference_not_finite")
    codes = [one["code"] for one in judging.session.lint({})["findings"]]
    assert "reference_not_finite" in codes


@pytest.mark.parametrize("rows", [1, 7, 96])
def test_a_reference_in_slices_of_rows_is_the_same(
    judging: Judging, monkeypatch: Any, rows: int
) -> None:
    from kernelindex.runner.judge import torch_backend

    made = judging.backend.make(judging.case, 1, 2)
    whole = judging.backend.compute(judging.case, made, gradients=True).values
    monkeypatch.setattr(torch_backend, "rows_at_once", lambda *_: rows)
    sliced = judging.backend.compute(judging.case, made, gradients=True).values
    assert list(sliced) == ["y", "grad_x", "grad_weight"]
    for name, value in whole.items():
        torch.testing.assert_close(sliced[name], value, rtol=1e-12, atol=1e-12)
