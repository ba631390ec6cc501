"""A plan's rules as protocols: what changed in meaning is another, what did not stays the same."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from kernelindex.manifests import parse
from kernelindex.policy.reading import read_protocol
from kernelindex.runner import batch_files
from kernelindex.runner.plan import Plan, parse_plan, plan_to_json
from kernelindex.runner.protocols import build_plan
from kernelindex.runner.recording import RunnerFacts, read_batch, record_batch
from kernelindex.runner.recording.protocol import build_protocol
from kernelindex.runner.regimes import Regime, regimes_of
from tests.runner.recording.factories import GPU_FACTS, make_batch, make_plan

if TYPE_CHECKING:
    from pathlib import Path

BUNDLE = "kernelindex-h200-00005.evidence.zip"
BOTH = ("sustained", "burst")


def plan_under(protocol: str, device: str = "cuda:0") -> Plan:
    points = make_plan(device=device).points
    rules = {"load": BOTH, "cache": ("cold", "hot")}
    return build_plan(points, runner="r", number=1, device=device, protocol=protocol, **rules)


def version(plan: Plan, load: str, cache: str = "cold", *, spins: bool = False) -> str | None:
    regime = Regime("forward", cache, load, "eager")
    made = build_protocol(plan, plan.points[0], regime, spins=spins)
    return read_protocol(made).semantics.version


@pytest.mark.parametrize("protocol", ["records", "quick"])
def test_only_sustained_load_in_a_cold_cache_has_another_version(protocol: str) -> None:
    plan = plan_under(protocol)
    assert version(plan, "sustained") == "1, gaps worked"
    assert [version(plan, *of) for of in (("burst",), ("sustained", "hot"), ("burst", "hot"))] == [
        "1"
    ] * 3


def test_processors_devices_that_spin_and_emulations_keep_theirs() -> None:
    assert version(plan_under("records", "cpu"), "sustained") == "1"
    assert version(plan_under("records"), "sustained", spins=True) == "1"
    assert version(plan_under("do-bench-10"), "sustained") == "1, as do-bench-10"


def test_a_protocol_with_worked_gaps_is_named_apart() -> None:
    plan = plan_under("records")
    names = [
        build_protocol(plan, plan.points[0], Regime("forward", "cold", load, "eager")).name
        for load in BOTH
    ]
    assert names == [
        "kernelindex-controlled-v1-forward-cold-sustained-eager-worked-gaps",
        "kernelindex-controlled-v1-forward-cold-burst-eager",
    ]


def test_a_plan_from_before_spins_as_it_did() -> None:
    text = json.loads(plan_to_json(plan_under("records")))
    assert text["rules"].pop("gaps") == "worked"
    assert version(parse_plan(json.dumps(text)), "sustained") == "1"


def test_a_signed_batch_is_recorded_under_the_protocols_it_named() -> None:
    place = files("kernelindex") / "registry" / "evidence" / BUNDLE
    with place.open("rb") as file, ZipFile(file) as bundle:
        plan = parse_plan(bundle.read("plan.json"))
        read = [json.loads(bundle.read(n)) for n in bundle.namelist() if "manifests/" in n]
    signed = {parse(one).digest for one in read if one["kind"] == "BenchmarkProtocol"}
    made = {
        build_protocol(plan, point, regime).digest
        for point in plan.points
        for timed_pass in point.passes
        for regime in regimes_of(timed_pass, plan.rules)
    }
    assert made == signed


@pytest.mark.parametrize(
    ("timer", "wanted"),
    [({}, "1, gaps worked"), ({"why_spun": "compute capability 7.x has no bf16 products"}, "1")],
)
def test_a_batch_says_what_its_device_did(
    timer: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    folder = make_batch(tmp_path, make_plan(device="cuda:0", candidates=("pytorch/RMSNorm",)))
    facts = {**GPU_FACTS, "timer": {"name": "cuda_events", "tick_ns": 32.0, **timer}}
    batch_files.write_json(folder / batch_files.FACTS, facts)
    runs = record_batch(read_batch(folder), RunnerFacts(id="tests"))
    assert {read_protocol(one.protocol).semantics.version for one in runs} == {wanted}
