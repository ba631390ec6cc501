from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.facts import Cost
from kernelindex.policy.limits import above_physical_floor, beats_memory_floor, limit_of
from kernelindex.registry.hardware import load_products
from tests.policy.factories import NATIVE, SHAPE, make_primary, make_product, make_run

COMPUTE = Cost(flops=10**12, bytes=3 * 10**8)  # 1 ms of compute, 0.1 ms of memory
MEMORY = Cost(flops=10**10, bytes=3 * 10**9)  # 0.01 ms of compute, 1 ms of memory
MS = 1e6


def test_rates_and_percents_of_a_compute_bound_run() -> None:
    limit = limit_of(make_run(value=4 * MS, cost=COMPUTE), make_product())
    assert limit is not None
    assert (limit.bound, limit.floor_ns, limit.peak_dtype) == ("compute", 1 * MS, "bf16")
    assert limit.tflops == pytest.approx(250.0)
    assert limit.tbps == pytest.approx(0.075)
    assert limit.percent_nominal == pytest.approx(25.0)
    assert limit.percent_attainable == pytest.approx(25.0 / 0.8)


def test_rates_and_percents_of_a_memory_bound_run() -> None:
    limit = limit_of(make_run(value=2 * MS, cost=MEMORY), make_product())
    assert limit is not None
    assert limit.bound == "memory"
    assert limit.tbps == pytest.approx(1.5)
    assert limit.percent_nominal == pytest.approx(50.0)
    assert limit.percent_attainable == pytest.approx(62.5)


def test_the_published_backward_of_record_on_an_h100() -> None:
    flops = 2 * 6 * 8192 * 8 * 2048 * 768
    run = make_run(value=5751872, cost=Cost(flops=flops, bytes=10**9))
    limit = limit_of(run, load_products()["h100-sxm5-80gb"])
    assert limit is not None
    assert limit.tflops == pytest.approx(215, abs=0.5)
    assert limit.percent_nominal == pytest.approx(21.7, abs=0.1)


def test_without_an_attainable_peak_of_the_binding_kind_there_is_no_such_percent() -> None:
    product = make_product(attainable={"copy": make_product().attainable["copy"]})
    compute = limit_of(make_run(value=4 * MS, cost=COMPUTE), product)
    memory = limit_of(make_run(value=4 * MS, cost=MEMORY), product)
    assert compute is not None
    assert memory is not None
    assert compute.percent_attainable is None
    assert memory.percent_attainable is not None


def test_without_a_product_rates_remain() -> None:
    limit = limit_of(make_run(value=4 * MS, cost=COMPUTE), None)
    assert limit is not None
    assert limit.tflops == pytest.approx(250.0)
    assert (limit.percent_nominal, limit.bound, limit.floor_ns) == (None, None, None)


@pytest.mark.parametrize(
    "run",
    [
        make_run(),
        make_run(cost=Cost(flops=None, bytes=None)),
        make_run(cost=COMPUTE, primary=None),
        make_run(cost=COMPUTE, primary=make_primary(metric="score", unit="s")),
    ],
)
def test_no_model_no_limit(run: object) -> None:
    assert limit_of(run, make_product()) is None  # type: ignore[arg-type]


def test_fp32_may_honestly_use_the_tensor_cores() -> None:
    shape = replace(SHAPE, dtypes=(("index", "int32"), ("x", "fp32")))
    limit = limit_of(make_run(value=4 * MS, cost=COMPUTE, shape=shape), make_product())
    assert limit is not None
    assert limit.peak_dtype == "tf32"
    assert limit.percent_nominal == pytest.approx(50.0)


class TestPhysicalFloor:
    def test_the_compute_floor_always_holds(self) -> None:
        assert above_physical_floor(make_run(value=0.99 * MS, cost=COMPUTE), make_product())
        assert not above_physical_floor(make_run(value=1.01 * MS, cost=COMPUTE), make_product())

    def test_the_memory_floor_holds_where_a_cache_cannot_help(self) -> None:
        small = Cost(flops=1, bytes=30_000_000)  # 10 us, fits the L2
        fast = make_run(value=5_000.0, cost=small)
        cold = replace(fast, protocol=replace(NATIVE, rules=(("cache", "cold"),)))
        assert not above_physical_floor(fast, make_product())
        assert beats_memory_floor(fast, make_product())
        assert above_physical_floor(cold, make_product())

    def test_bytes_far_beyond_the_cache_come_from_memory(self) -> None:
        assert above_physical_floor(make_run(value=0.5 * MS, cost=MEMORY), make_product())
        unknown = make_product(l2_bytes=None)
        assert not above_physical_floor(make_run(value=0.5 * MS, cost=MEMORY), unknown)

    def test_only_bytes_that_any_data_need_accuse(self) -> None:
        sure = replace(MEMORY, sure_bytes=3 * 10**8)  # eight experts of up to 80
        assert not above_physical_floor(make_run(value=0.5 * MS, cost=sure), make_product())
        assert not beats_memory_floor(make_run(value=0.5 * MS, cost=sure), make_product())
        assert above_physical_floor(make_run(value=0.05 * MS, cost=sure), make_product())
        limit = limit_of(make_run(value=2 * MS, cost=sure), make_product())
        assert limit is not None
        assert limit.percent_nominal == pytest.approx(50.0)

    def test_nothing_is_known_without_product_or_model(self) -> None:
        assert not above_physical_floor(make_run(value=1.0, cost=COMPUTE), None)
        assert not above_physical_floor(make_run(value=1.0), make_product())


def test_where_the_compute_dtype_is_not_known_no_percent_is_shown() -> None:
    shape = replace(SHAPE, dtypes=(("a", "uint8"), ("scale", "fp32")))
    limit = limit_of(make_run(value=4 * MS, cost=COMPUTE, shape=shape), make_product())
    assert limit is not None
    assert limit.tflops == pytest.approx(250.0)
    assert (limit.percent_nominal, limit.percent_attainable, limit.bound) == (None, None, None)
