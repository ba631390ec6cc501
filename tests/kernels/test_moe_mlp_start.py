"""A launch of kinds seen before goes straight to its compiled kernel, with the same arguments.

No GPU: a driver says that there is one, and what a kernel is launched with is written down.
"""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from triton.compiler import CompiledKernel  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

from kernelindex.kernels.moe_mlp import reduce, start  # noqa: E402
from kernelindex.kernels.moe_mlp.passes import run_backward, run_forward  # noqa: E402
from kernelindex.kernels.moe_mlp.shape import Shape, read_shape  # noqa: E402
from kernelindex.kernels.moe_mlp.values import Inputs, Saved  # noqa: E402
from tests.kernels.named_gpu import AMPERE, HOPPER, Driver, draw, use  # noqa: E402

SMALL = Shape(96, 256, 256, 8, 8)
SHAPES = (
    Shape(1, 256, 256, 1, 1),
    Shape(7, 320, 192, 9, 9),
    Shape(513, 768, 256, 1000, 3),
    Shape(301, 256, 512, 5, 2),
)
PARTS_OF_A_LAUNCH = 8  # grid, stream, function, metadata and two hooks come before the arguments

Launch = tuple[tuple[int, ...], str, list[Any]]


class Compiled(CompiledKernel):  # type: ignore[misc]
    """Triton's compiled kernel, whose launcher writes down what it is given."""

    def __init__(self, src: Any, launches: list[Launch], number: int) -> None:
        self.src, self.name, self.module = src, src.name, "loaded"
        self.function, self.packed_metadata = f"{src.name} {number}", None
        self._run = lambda *call: launches.append(
            (call[:3], call[4], list(call[PARTS_OF_A_LAUNCH:]))
        )


class Gpu:
    """What was compiled for it and what was launched on it."""

    def __init__(self) -> None:
        self.driver = Driver(HOPPER)
        self.launches: list[Launch] = []
        self.compiled = 0

    def compile(self, src: Any, **_: Any) -> Compiled:
        self.compiled += 1
        return Compiled(src, self.launches, self.compiled)

    def taken(self) -> list[Launch]:
        """The launches since the last time."""
        launches, self.launches[:] = list(self.launches), []
        return launches


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    fake = Gpu()
    use(fake.driver, monkeypatch)
    monkeypatch.setattr("triton.compiler.compile", lambda src, **options: fake.compile(src))
    monkeypatch.setattr(start, "_ready", {})
    return fake


def step(inputs: Inputs, save: bool = True) -> None:
    """A forward and, with `save`, its backward."""
    shape = read_shape(*inputs)
    x, gate_up, down, _, weights = dense = inputs.dense()
    _, saved = run_forward(shape, dense, save)
    if save:
        run_backward(shape, torch.empty_like(x), x, gate_up, down, weights, saved)


def described(launches: list[Launch]) -> list[Any]:
    return [
        (grid, function, [seen(a) for a in arguments]) for grid, function, arguments in launches
    ]


def seen(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        return argument.dtype, tuple(argument.shape)
    if hasattr(argument, "block_shape"):
        return argument.base.dtype, argument.shape, argument.block_shape, argument.layout
    return argument


@pytest.mark.parametrize("capability", [HOPPER, AMPERE], ids=["hopper", "portable"])
@pytest.mark.parametrize("shape", [SMALL, *SHAPES], ids=str)
def test_a_second_call_launches_the_same_without_asking_triton(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, shape: Shape, capability: tuple[int, int]
) -> None:
    gpu.driver.capability = capability
    step(draw(shape))
    first, compiled = described(gpu.taken()), gpu.compiled
    assert len(first) in (9, 10)
    with monkeypatch.context() as patch:
        patch.setattr(JITFunction, "run", None)
        step(draw(shape))
    assert described(gpu.taken()) == first
    assert gpu.compiled == compiled


def test_a_call_of_another_kind_has_kernels_of_its_own(gpu: Gpu) -> None:
    half, long, more = torch.float16, torch.int64, Shape(98, 256, 256, 8, 8)
    ways: list[tuple[Inputs, bool]] = [
        *((draw(SMALL), True), (draw(SMALL), False), (draw(more), True)),
        *((draw(SMALL, half), True), (draw(SMALL, index=long), True)),
        *((draw(Shape(96, 256, 256, 16, 8)), True), (draw(Shape(96, 512, 256, 8, 8)), True)),
    ]
    expected = []
    for inputs, save in ways:  # each as Triton finds its kernels
        start._ready.clear()
        step(inputs, save)
        expected.append(described(gpu.taken()))
    start._ready.clear()
    for _ in range(2):
        for (inputs, save), wanted in zip(ways, expected, strict=True):
            step(inputs, save)
            assert described(gpu.taken()) == wanted
    functions = [frozenset(function for _, function, _ in launches) for launches in expected]
    assert len(set(functions)) == len(ways) - 1  # two tokens more need no other kernel


def test_each_device_has_its_own_kernels(gpu: Gpu) -> None:
    for index, functions in ((0, 1), (1, 2), (0, 2), (1, 2)):
        gpu.driver.device = index
        arguments = (torch.empty(64), torch.empty(64, dtype=torch.int32))
        start._launch(
            *(reduce.reduce_kernel, (1,), torch.device("cuda", index)),
            *(arguments[0], arguments[1], *arguments[:1] * 3, 64, 64, 1, 2, 64, 0, 1),
            num_warps=8,
        )
        assert gpu.compiled == functions
    assert [function.split()[1] for _, function, _ in gpu.taken()] == ["1", "2", "1", "2"]


@pytest.mark.parametrize("capability", [HOPPER, AMPERE], ids=["hopper", "portable"])
@pytest.mark.parametrize("shape", [SMALL, *SHAPES], ids=str)
def test_every_address_is_a_multiple_of_16(
    gpu: Gpu, shape: Shape, capability: tuple[int, int]
) -> None:
    gpu.driver.capability = capability
    apart = Inputs(*(shifted(tensor) for tensor in draw(shape)))
    assert any(tensor.data_ptr() % 16 for tensor in apart)
    _, saved = run_forward(shape, apart.dense(), True)
    x, gate_up, down, _, weights = apart
    packed = Saved(*(shifted(tensor) for tensor in saved))
    run_backward(shape, shifted(x), x, gate_up, down, weights, packed)
    launches = gpu.taken()
    given = [argument for _, _, arguments in launches for argument in arguments]
    maps = [argument.base for argument in given if hasattr(argument, "block_shape")]
    tensors = [argument for argument in given if isinstance(argument, torch.Tensor)]
    assert len(tensors) > 3 * len(launches)
    assert all(tensor.data_ptr() % 16 == 0 for tensor in (*tensors, *maps))


def shifted(tensor: Any) -> Any:
    """The same tensor one element further."""
    return tensor.new_empty(tensor.numel() + 1)[1:].view(tensor.shape)


def test_what_is_kept_is_bounded(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "MOST_READY", 12)
    for tokens in range(90, 100):
        inputs = draw(Shape(tokens, 256, 256, 8, 8))
        step(inputs)
        first = described(gpu.taken())
        step(inputs)
        assert described(gpu.taken()) == first
        assert 0 < len(start._ready) <= 12
