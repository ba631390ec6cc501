from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.doubts import (
    CODES,
    EFFECTS,
    PassTimes,
    doubts_of,
    inconsistent_reruns,
    known_shift_ns,
    order_doubts,
    passes_disagree,
    shared_codes,
)
from kernelindex.policy.facts import (
    Correctness,
    Cost,
    Doubt,
    Observed,
    ProtocolSemantics,
    RunFacts,
    Spread,
)
from kernelindex.policy.levels import EvidenceFacts
from kernelindex.policy.samples import Telemetry
from tests.policy.factories import (
    CONTROLLED,
    H100,
    NATIVE,
    SHAPE,
    make_line,
    make_primary,
    make_product,
    make_run,
    make_samples,
    on,
)

HARNESS = Doubt(code="HARNESS_WORK_IN_TIMED_REGION", effect="shifts", text="", shift_ns=7e5)
UNCHECKED = Correctness(asserted=False, comparator="not_asserted")
MS = 1e6


def timed(version: str | None, cache: str = "cold", load: str = "sustained") -> ProtocolSemantics:
    return replace(CONTROLLED, version=version, rules=(("cache", cache), ("load", load)))


def sustained(value_ns: float, count: int, load: str = "sustained") -> RunFacts:
    """A controlled run of three processes with so many samples in all."""
    protocol = timed("1, gaps worked", load=load)
    samples = make_samples(((value_ns,) * 8,) * 3)
    return make_run(value=value_ns, protocol=protocol, samples=samples, sample_count=count)


CASES: dict[str, RunFacts] = {
    "CORRECTNESS_NOT_ASSERTED": make_run(value=MS, correctness=UNCHECKED),
    "ABOVE_PHYSICAL_PEAK": make_run(value=1.0 * MS, cost=Cost(flops=10**13, bytes=1)),
    "RESTATED_IMPLEMENTATION": make_run(value=MS, line=make_line("loop", restated=True)),
    "BELOW_TIMER_RESOLUTION": make_run(value=600.0),
    "HARNESS_WORK_IN_TIMED_REGION": make_run(value=MS, source_doubts=(HARNESS,)),
    "CLOCKS_UNSTABLE": make_run(
        value=MS, telemetry=Telemetry(sm_clock_low_mhz=1440, sm_clock_high_mhz=1980)
    ),
    "THROTTLED": make_run(value=MS, telemetry=Telemetry(throttle_reasons=("power",))),
    "BIMODAL": make_run(value=MS, telemetry=Telemetry(bimodal=True)),
    "HOST_BOUND": make_run(value=MS, telemetry=Telemetry(busy_share=0.7)),
    "LOAD_TOO_SHORT": sustained(MS, 3 * 249),
    "GAPS_SPUN": make_run(value=MS, protocol=timed("1")),
    "SINGLE_SAMPLE": make_run(value=MS, sample_count=1),
    "NO_SOFTWARE_VERSIONS": make_run(value=MS, stack=()),
    "UNIFORM_ROUTING_ONLY": make_run(
        value=MS, shape=replace(SHAPE, distribution="routing:uniform")
    ),
    "TIME_ZONE_UNSTATED": make_run(
        value=MS, observed=Observed(text="2026-04-02 23:59:47", zone="unstated", date="2026-04-02")
    ),
    "BOUND_FROM_SCRIPT": make_run(value=MS, bound=("dtype: benchmark.py line 40",)),
    "STALE": make_run(value=MS, observed=on("2024-09-03")),
}


def codes(run: RunFacts, **known: object) -> list[str]:
    found = doubts_of(run, product=make_product(), newest="2026-04-30", **known)  # type: ignore[arg-type]
    return [doubt.code for doubt in found]


def test_a_plain_run_has_none() -> None:
    assert codes(make_run(value=MS)) == []


@pytest.mark.parametrize("code", CASES)
def test_each_doubt_has_its_cause_class_and_words(code: str) -> None:
    (found,) = doubts_of(CASES[code], product=make_product(), newest="2026-04-30")
    assert found.code == code
    assert found.effect == CODES[code][0]
    assert code == "HARNESS_WORK_IN_TIMED_REGION" or len(found.text) > 15


def test_doubts_that_need_more_than_the_run() -> None:
    passes = PassTimes(forward_ns=1 * MS, backward_ns=2 * MS, full_ns=3.5 * MS)
    runs = [make_run(value=MS), make_run(value=1.3 * MS)]
    assert codes(runs[0], passes=passes) == ["PASSES_DISAGREE"]
    assert codes(runs[0], entry_runs=runs) == ["INCONSISTENT_RERUNS"]
    alone = EvidenceFacts(unproven_batch="batch 6 of its runner is not here", batch_number=20)
    assert codes(runs[0], evidence=alone) == ["BATCH_MISSING", "PROVISIONAL_RUNNER"]
    beyond = {"PASSES_DISAGREE", "INCONSISTENT_RERUNS", "BATCH_MISSING", "PROVISIONAL_RUNNER"}
    assert set(CODES) == set(CASES) | beyond


def test_every_class_is_known() -> None:
    assert {effect for effect, _ in CODES.values()} == set(EFFECTS)


class TestSingleSample:
    def test_equal_quantiles_of_a_slow_kernel_are_one_sample(self) -> None:
        flat = Spread(kind="p20-p80", low=8 * MS, high=8 * MS)
        assert codes(make_run(value=8 * MS, sample_count=None, spread=flat)) == ["SINGLE_SAMPLE"]

    def test_equal_quantiles_of_a_few_ticks_are_the_timer(self) -> None:
        flat = Spread(kind="p20-p80", low=960.0, high=960.0)
        assert codes(make_run(value=960.0, sample_count=None, spread=flat)) == []

    def test_the_stated_count_wins(self) -> None:
        flat = Spread(kind="p20-p80", low=8 * MS, high=8 * MS)
        assert codes(make_run(value=8 * MS, sample_count=40, spread=flat)) == []

    def test_it_is_about_times(self) -> None:
        memory = make_primary(8e9, metric="peak_memory", unit="bytes")
        assert codes(make_run(sample_count=1, primary=memory)) == []


class TestLoad:
    def test_samples_or_seconds_of_one_process_will_do(self) -> None:
        assert codes(sustained(MS, 3 * 250)) == []
        assert codes(sustained(50 * MS, 3 * 40)) == []
        assert codes(sustained(50 * MS, 3 * 39)) == ["LOAD_TOO_SHORT"]

    def test_a_burst_is_meant_to_be_short(self) -> None:
        assert codes(sustained(MS, 240, load="burst")) == []

    def test_a_device_without_a_power_cap_of_ours_is_not_asked(self) -> None:
        found = doubts_of(sustained(MS, 3), product=None, newest=None)
        assert "LOAD_TOO_SHORT" not in [doubt.code for doubt in found]


class TestGaps:
    def test_a_spun_card_idled_where_the_host_was_late(self) -> None:
        (found,) = doubts_of(make_run(value=MS, protocol=timed("1")), product=make_product())
        assert (found.code, found.effect, found.shift_ns) == ("GAPS_SPUN", "shifts", None)
        assert found.text == (
            "where the host was late the card idled, so this is not the load of later batches"
        )

    @pytest.mark.parametrize(
        "protocol",
        [
            timed("1, gaps worked"),
            timed("1, as do-bench-10"),
            timed("2"),
            timed(None),
            timed("1", load="burst"),
            timed("1", cache="hot"),
            replace(NATIVE, version="1", rules=timed("1").rules),
        ],
    )
    def test_only_our_own_first_version_under_a_cold_sustained_load(
        self, protocol: ProtocolSemantics
    ) -> None:
        assert codes(make_run(value=MS, protocol=protocol)) == []

    @pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
    def test_a_processor_has_no_gaps(self, architecture: str) -> None:
        device = replace(H100, architecture=architecture, product_id=None)
        assert codes(make_run(value=MS, protocol=timed("1"), device=device)) == []

    def test_a_card_that_no_table_knows_has_them_too(self) -> None:
        device = replace(H100, product_id=None)
        found = doubts_of(make_run(value=MS, protocol=timed("1"), device=device))
        assert [doubt.code for doubt in found] == ["GAPS_SPUN"]

    def test_it_is_about_times(self) -> None:
        memory = make_primary(8e9, metric="peak_memory", unit="bytes")
        assert codes(make_run(primary=memory, protocol=timed("1"))) == []


class TestOrder:
    def test_blocking_then_shifting_by_size_then_notes(self) -> None:
        small = Doubt(code="B", effect="shifts", text="", shift_ns=-1.0)
        unknown = Doubt(code="A", effect="shifts", text="")
        run = make_run(
            value=MS,
            stack=(),
            correctness=UNCHECKED,
            source_doubts=(unknown, small, HARNESS),
            sample_count=1,
        )
        assert codes(run) == [
            "CORRECTNESS_NOT_ASSERTED",
            "HARNESS_WORK_IN_TIMED_REGION",
            "B",
            "A",
            "SINGLE_SAMPLE",
            "NO_SOFTWARE_VERSIONS",
        ]

    def test_a_code_is_said_once_and_the_first_counts(self) -> None:
        own = replace(HARNESS, shift_ns=1.0)
        assert order_doubts([HARNESS, own]) == (HARNESS,)


def test_a_cache_may_beat_the_memory_floor_but_it_is_said() -> None:
    run = make_run(value=5_000.0, cost=Cost(flops=1, bytes=30_000_000))
    (found,) = doubts_of(run, product=make_product())
    assert (found.code, found.effect) == ("ABOVE_PHYSICAL_PEAK", "shifts")


def test_shared_doubts_are_those_of_all() -> None:
    note = Doubt(code="TIME_ZONE_UNSTATED", effect="note", text="")
    other = Doubt(code="SINGLE_SAMPLE", effect="note", text="")
    assert shared_codes([[note, HARNESS], [HARNESS, other, note]]) == (
        "HARNESS_WORK_IN_TIMED_REGION",
        "TIME_ZONE_UNSTATED",
    )
    assert shared_codes([]) == ()


def test_known_shifts_add_up() -> None:
    unknown = Doubt(code="A", effect="shifts", text="")
    assert known_shift_ns([HARNESS, unknown, replace(HARNESS, shift_ns=-1e5)]) == 6e5
    assert known_shift_ns([unknown]) is None


@pytest.mark.parametrize(("full", "disagree"), [(3.0, False), (2.86, False), (2.84, True)])
def test_passes_may_differ_by_five_percent_of_full(full: float, *, disagree: bool) -> None:
    assert passes_disagree(PassTimes(forward_ns=1, backward_ns=2, full_ns=full)) is disagree


def test_reruns_are_inconsistent_beyond_twenty_percent() -> None:
    assert not inconsistent_reruns([make_run(value=100.0), make_run(value=120.0)])
    assert inconsistent_reruns([make_run(value=100.0), make_run(value=121.0)])


def test_free_text_dates_are_never_stale() -> None:
    odd = Observed(text="spring", zone="utc", date="2026-13-45")
    assert codes(make_run(value=MS, observed=odd)) == []
