"""Every operation here: what its folder says, and each candidate that runs on a CPU, judged."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from kernelindex.registry.costs import shape_of
from kernelindex.registry.operations import load_operations
from kernelindex.runner.channel import Refusal
from kernelindex.runner.judge.expecting import Expectations
from kernelindex.runner.judge.linting import lint
from kernelindex.runner.operations import load_operation, make_case
from kernelindex.runner.operations.moe_mlp.candidates import _block
from kernelindex.runner.operations.packages import require
from kernelindex.runner.plan import Candidate, Point
from tests.runner.operations.judged import drawn, function_of

if TYPE_CHECKING:
    from collections.abc import Iterator

torch = pytest.importorskip("torch", reason="the operations' torch side needs torch")

SMALL = {
    "moe-mlp": {"tokens": 24, "hidden": 64, "intermediate": 64, "experts": 8, "k": 3},
    "gemm": {"m": 40, "n": 48, "k": 96},
    "swiglu": {"tokens": 24, "intermediate": 96},
    "softmax": {"tokens": 24, "hidden": 160},
    "cross-entropy": {"tokens": 24, "vocab": 160},
}
WITHOUT_TORCH = [slug for slug in SMALL if "numpy" in load_operation(slug).trusted]
"""Those that are judged on a machine without torch as well, which is optional."""
IMPORTED = {
    "liger-kernel": ["liger_kernel", "liger_kernel.ops"],
    "sonic-moe": ["sonicmoe", "quack"],
    "transformers": [
        f"transformers.models.qwen3_moe.{name}_qwen3_moe" for name in ("configuration", "modeling")
    ],
}
CASES = [
    (slug, draw, dtype)
    for slug in SMALL
    for draw in load_operation(slug).draws
    for dtype in ("fp32", "bf16")
    if dtype in load_operation(slug).tolerances
]


def runnable(slug: str, dtype: str) -> Iterator[str]:
    """Ids of the candidates that a CPU with torch alone runs in moments."""
    for one in load_operation(slug).candidates:
        quick = "compile" not in one.id and "transformers" not in one.packages
        if quick and "cpu" in one.devices and dtype in one.dtypes:
            yield one.id


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "draw", "dtype"), CASES)
def test_each_candidate_is_right_in_every_output_and_gradient(
    slug: str, draw: str, dtype: str
) -> None:
    operation = load_operation(slug)
    case = drawn(slug, SMALL[slug], dtype, draw)
    for identifier in runnable(slug, dtype):
        candidate = operation.candidate(identifier)
        found = case.judge(case.results(function_of(candidate), candidate.interface))
        wanted = [one.name for one in operation.outputs]
        wanted += [] if candidate.interface == "numpy" else operation.gradients
        assert found == dict.fromkeys(wanted, ""), identifier


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own parts warn of each other when Inductor loads
@pytest.mark.parametrize("slug", SMALL)
def test_what_torch_compile_makes_is_right(slug: str) -> None:
    operation = load_operation(slug)
    candidate = next((one for one in operation.candidates if "compile" in one.id), None)
    if candidate is None:
        pytest.skip("nothing of it is compiled by torch")
    case = drawn(slug, SMALL[slug], candidate.dtypes[0])
    found = case.judge(case.results(function_of(candidate)))
    assert set(found.values()) == {""}


def test_the_released_transformers_are_right() -> None:
    pytest.importorskip("transformers", reason="two candidates are the released library's")
    for draw in load_operation("moe-mlp").draws:
        case = drawn("moe-mlp", SMALL["moe-mlp"], "bf16", draw)
        for candidate in case.case.operation.candidates:
            if "transformers" in candidate.packages:
                found = case.judge(case.results(function_of(candidate)))
                assert set(found.values()) == {""}, (candidate.id, draw)


@pytest.mark.parametrize("slug", SMALL)
def test_enough_candidates_run_here_for_the_test_above_to_mean_something(slug: str) -> None:
    assert len(list(runnable(slug, "fp32"))) >= 2


@pytest.mark.parametrize("slug", SMALL)
def test_inputs_have_the_shapes_and_dtypes_that_are_said(slug: str) -> None:
    case = drawn(slug, SMALL[slug], "fp32").case
    made = drawn(slug, SMALL[slug], "fp32", "uneven")
    for spec in case.operation.inputs:
        tensor = made.made.inputs[spec.name]
        assert tuple(tensor.shape) == made.case.shape(spec.name)
        assert tensor.dtype == made.backend_dtype(spec.name)
        assert tensor.is_contiguous()
    assert made.case.axes != case.axes


@pytest.mark.parametrize("slug", SMALL)
def test_the_registry_says_the_same_of_inputs_and_outputs(slug: str) -> None:
    registered, ours = load_operations()[slug], load_operation(slug)
    case = make_case(slug, SMALL[slug], {ours.inputs[0].name: "fp32"})
    for theirs, spec in zip(registered.inputs, ours.inputs, strict=True):
        assert theirs.name == spec.name
        assert tuple(shape_of(theirs, case.axes)) == case.shape(spec.name)
        assert (theirs.role, theirs.gradient) == (spec.role, spec.differentiable)
    for theirs, spec in zip(registered.outputs, ours.outputs, strict=True):
        assert (theirs.name, tuple(shape_of(theirs, case.axes))) == (
            spec.name,
            case.shape(spec.name),
        )


@pytest.mark.parametrize(("slug", "dtype"), sorted({(slug, dtype) for slug, _, dtype in CASES}))
def test_every_input_matters_and_every_draw_is_sound(slug: str, dtype: str) -> None:
    made = drawn(slug, SMALL[slug], dtype)
    operation = made.case.operation
    passes = ("forward", "backward", "full")
    point = Point(
        id=f"{slug}/test",
        operation=slug,
        axes=SMALL[slug],
        dtypes={operation.inputs[0].name: dtype},
        passes=passes,
        candidates=(Candidate(id="mine", entry="m:f", passes=passes),),
    )
    expectations = Expectations(made.backend, point, made.case)
    for draw in operation.draws:
        expectations.seed(draw, "a seed")
    assert lint(made.backend, point, expectations) == []


@pytest.mark.parametrize("slug", SMALL)
def test_published_shapes_make_cases(slug: str) -> None:
    published = load_operation(slug).published
    assert published
    for one in published:
        case = make_case(slug, one.axes, one.dtypes)
        assert all(size >= 1 for spec in case.operation.inputs for size in case.shape(spec.name))
        assert case.dtype(case.operation.inputs[0].name) in case.operation.tolerances


@pytest.mark.parametrize("slug", SMALL)
@pytest.mark.parametrize("package", IMPORTED)
def test_a_candidate_whose_package_is_missing_says_so(
    slug: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in IMPORTED[package]:
        monkeypatch.setitem(sys.modules, module, None)
    require.cache_clear()
    _block.cache_clear()
    operation = load_operation(slug)
    case = drawn(slug, SMALL[slug], "fp32")
    for candidate in (one for one in operation.candidates if package in one.packages):
        with pytest.raises(Refusal) as refused:
            function_of(candidate)(**case.made.inputs)
        assert (refused.value.status, refused.value.code) == ("unsupported", "package_missing")


@pytest.mark.parametrize("slug", [slug for slug in WITHOUT_TORCH if slug != "moe-mlp"])
@pytest.mark.parametrize("draw", ["own", "stress", "uneven"])
def test_numpy_makes_its_own_inputs_and_reference(slug: str, draw: str) -> None:
    import numpy as np

    from kernelindex.runner.operations import load_module

    operation, module = load_operation(slug), load_module(slug)
    case = make_case(slug, SMALL[slug], {operation.inputs[0].name: "fp32"}).for_draw(draw)
    inputs = module.make_inputs_numpy(case, draw, np.random.default_rng(3))
    wide = {n: a.astype("float64") if a.dtype.kind == "f" else a for n, a in inputs.items()}
    ((name, wanted),) = module.reference_numpy(wide, case).items()
    assert {n: (a.shape, a.dtype.name) for n, a in inputs.items()} == {
        spec.name: (case.shape(spec.name), case.dtype(spec.name).replace("fp", "float"))
        for spec in operation.inputs
    }
    theirs = module.reference({n: torch.from_numpy(a) for n, a in wide.items()}, case)[name]
    np.testing.assert_allclose(wanted, theirs.numpy(), rtol=1e-12)
    candidate = operation.candidate(operation.trusted["numpy"])
    got = function_of(candidate)(**inputs)
    assert (got.shape, got.dtype) == (case.shape(name), np.dtype("float32"))
    bound = operation.tolerances["fp32"][name].frobenius
    assert np.linalg.norm(got - wanted) <= bound * np.linalg.norm(wanted)
