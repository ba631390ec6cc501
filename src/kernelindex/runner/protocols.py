"""Rules by name, and the plan of a batch under them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.runner.plan import Plan, Point, Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUICK = Rules(
    rounds=8,
    round_seconds=0.1,
    min_samples=3,
    max_samples=50,
    warmup_seconds=0.2,
    switch_warmup_seconds=0.05,
    load=("sustained",),
    checks_per_generation=1,
    pad_bytes=16 << 20,
    command_timeout_seconds=60.0,
    audited_passes=0,
    gaps="worked",
)
DO_BENCH_MS = (10, 100, 400, 500)


def _do_bench(rep_ms: int) -> Rules:
    """One round is one ``triton.testing.do_bench(rep=rep_ms)`` after 25 ms of warm-up.

    A call of more than half of ``rep_ms`` is sampled once. Gaps are spun: a card that waits for
    the host is idle there, too.
    """
    return Rules(
        rounds=8,
        round_seconds=rep_ms / 1e3,
        min_samples=1,
        max_samples=10_000,
        switch_warmup_calls=1,
        switch_warmup_seconds=0.025,
        rotation_sets=1,
        load=("sustained",),
    )


PROTOCOLS: Mapping[str, Rules] = {
    # Interleaved rounds keep a card loaded, so a switch needs little to be in its regime again.
    "records": Rules(
        round_seconds=0.25,  # eight of them are the 2 s of a sustained load
        max_samples=250,
        warmup_seconds=0.3,
        switch_warmup_seconds=0.15,
        # A MoE forward on an H200: 1.040 ms after 0.05 s, 1.035 after 0.1 s, 1.030 after 1.2 s.
        burst_idle_seconds=0.1,
        command_timeout_seconds=300.0,
        audited_passes=1,
        gaps="worked",
    ),
    "quick": QUICK,
    **{f"do-bench-{ms}": _do_bench(ms) for ms in DO_BENCH_MS},
}
"""Rules by name; those of ``do-bench`` follow the scripts of Liger-Kernel."""
EMULATIONS = frozenset(f"do-bench-{ms}" for ms in DO_BENCH_MS)


def build_plan(
    points: Sequence[Point],
    *,
    runner: str,
    number: int,
    device: str,
    purpose: str = "records",
    protocol: str = "records",
    time_budget_seconds: float = 540.0,
    **rules: Any,
) -> Plan:
    """The plan of one batch under a named protocol, ``rules`` overriding single ones.

    Raises RequestError ``plan.protocol`` for a protocol that is not here.
    """
    if protocol not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise RequestError(
            f"no protocol is called {protocol!r}; there are {known}", code="plan.protocol"
        )
    chosen = replace(PROTOCOLS[protocol], **{k: v for k, v in rules.items() if v is not None})
    chosen = replace(chosen, max_generations=max(chosen.generations, chosen.max_generations))
    return Plan(
        number=number,
        runner=runner,
        device=device,
        points=tuple(points),
        purpose=purpose,
        time_budget_seconds=time_budget_seconds,
        rules=chosen,
        material={"emulates": protocol} if protocol in EMULATIONS else {},
    )
