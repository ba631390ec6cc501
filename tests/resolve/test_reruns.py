"""Which reruns of a published number are told, in which order and in which words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.policy.facts import Profile, ProtocolSemantics, RunFacts
from kernelindex.resolve import ask_text
from kernelindex.resolve.answer import Rerun
from kernelindex.resolve.findings import Findings
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from kernelindex.resolve.reruns import MOST, find_reruns
from kernelindex.resolve.variants import Harness, read_harness
from tests.policy.factories import CONTROLLED, NATIVE, make_run
from tests.resolve.factories import H200, FakeCatalog, cohort_row, digest, doubt, entry_row
from tests.support.shipped import shipped

SHAPE = digest("one shape")
WORKED = "1, gaps worked"
RECORD = "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H200"
PUBLISHED, SPUN_NS, WORKED_NS = 1.16e6, 1.089e6, 1.171e6

Pair = tuple[CohortRow, list[EntryRow]]


class Judging(FakeCatalog):
    """Knows the facts of every entry, so that numbers are judged by each other."""

    def facts(self, digests: Iterable[str]) -> dict[str, RunFacts]:
        wanted = set(digests)
        return {
            entry.run_digest: _facts(row, entry)
            for row, entries in self.pairs
            for entry in entries
            if entry.run_digest in wanted
        }


def _facts(row: CohortRow, entry: EntryRow) -> RunFacts:
    ours = row.profile == Profile.CONTROLLED
    protocol: ProtocolSemantics = CONTROLLED if ours else NATIVE
    name = str(entry.line["project"])
    return make_run(name, entry.value, digest=entry.run_digest, protocol=protocol)


def reported(key: str = "reported", **changes: Any) -> CohortRow:
    tolerance = {"relative": 0.05, "tick": 0.0, "basis": "the least tolerance, 5%"}
    return cohort_row(key, shape_key=SHAPE, **{"tolerance": tolerance, **changes})


def controlled(version: str = "1", load: str = "sustained", **changes: Any) -> CohortRow:
    rules = {"cache": "cold", "load": load, "gradients": "leaf"}
    fields: dict[str, Any] = {
        "profile": "controlled",
        "source": "kernelindex-runner",
        "protocol": {"name": "kernelindex-runner", "version": version, "rules": rules},
        **changes,
    }
    return cohort_row(f"{version} {load}", shape_key=SHAPE, **fields)


def of(row: CohortRow, value: float = PUBLISHED, name: str = "sonic", **more: Any) -> EntryRow:
    return entry_row(row, name, value=value, doubts=(), **more)


def told(*pairs: Pair, shown: CohortRow | None = None) -> tuple[Rerun, ...]:
    rows = [row for row, _ in pairs]
    return find_reruns(Judging(pairs), rows, [shown or rows[0]])


def spun_and_worked() -> list[Pair]:
    spun, worked = controlled(), controlled(WORKED)
    return [
        (reported(), [of(reported())]),
        (spun, [of(spun, SPUN_NS)]),
        (worked, [of(worked, WORKED_NS)]),
    ]


class TestNewestVariant:
    @pytest.mark.parametrize("order", list(permutations(range(3))))
    def test_a_number_is_held_against_the_newest_variant_alone(self, order: list[int]) -> None:
        pairs = [spun_and_worked()[index] for index in order]
        (one,) = told(*pairs, shown=reported())
        assert (one.kind, one.controlled_value) == ("confirmed", WORKED_NS)
        assert "sustained load (gaps worked) with leaf weights: within 5 %" in one.text

    def test_the_group_it_superseded_tells_of_no_rerun(self) -> None:
        assert told(*spun_and_worked(), shown=controlled()) == ()

    def test_a_superseded_rerun_is_told_where_no_other_exists_and_accuses_nobody(self) -> None:
        row, spun = reported(), controlled()
        gaps = (doubt("GAPS_SPUN", "shifts"),)
        again = replace(of(spun, SPUN_NS), doubts=gaps)
        other = controlled(WORKED)
        (one,) = told((row, [of(row)]), (spun, [again]), (other, [of(other, name="liger")]))
        assert (one.kind, one.controlled_value) == ("inconclusive", SPUN_NS)
        assert "sustained load with leaf weights: reported 1.07x slower" in one.text
        assert "but the rerun itself is doubted: gaps spun" in one.text

    @pytest.mark.parametrize(
        "other",
        [
            controlled(load="burst"),
            controlled("1, as do-bench-10"),
            controlled(correctness="another"),
            controlled(device={**reported().device, "power_limit": "500 W"}),
        ],
    )
    def test_what_differs_otherwise_too_supersedes_nothing(self, other: CohortRow) -> None:
        other = replace(other, key=digest("other"))
        pairs = [*spun_and_worked(), (other, [of(other, 1.15e6)])]
        assert [one.controlled_value for one in told(*pairs)] == [WORKED_NS, 1.15e6]


class TestOrder:
    def test_of_reruns_equally_alike_sustained_ones_come_first_then_the_newest(self) -> None:
        old = controlled(newest_observed="2026-11-01", correctness="old")
        new = controlled(newest_observed="2026-11-30", correctness="new")
        burst = controlled(load="burst", newest_observed="2026-12-01")
        for keys in permutations("abc"):
            rows = [
                replace(row, key=digest(key))
                for row, key in zip((burst, old, new), keys, strict=True)
            ]
            found = reruns_on_device(reported(), rows)
            assert found == [rows[2], rows[1], rows[0]]

    def test_a_rerun_on_the_same_card_comes_first(self) -> None:
        here, there = controlled(load="burst"), controlled(WORKED, device=H200)
        pairs = [(row, [of(row)]) for row in (reported(), there, here)]
        assert [one.controlled_on for one in told(*pairs)] == ["H100 SXM 80GB", "H200 SXM"]

    @pytest.mark.parametrize("keys", [("a", "b"), ("b", "a")])
    def test_a_leader_is_said_to_rerun_at_what_the_newest_variant_measured(
        self, keys: tuple[str, str]
    ) -> None:
        spun = replace(controlled(newest_observed="2026-12-30"), key=digest(keys[0]))
        worked = replace(controlled(WORKED), key=digest(keys[1]))
        entries = {spun.key: [of(spun, SPUN_NS)], worked.key: [of(worked, WORKED_NS)]}
        said = rerun_words(reported(), [of(reported())], [spun, worked], entries)
        assert said == "rerun on H100: 1.17 ms sustained"

    def test_every_number_has_its_likest_rerun_before_any_has_a_second(self) -> None:
        names = [f"line {number}" for number in range(MOST)]
        rows = [reported(), controlled(), controlled(load="burst")]
        found = told(*[(row, [of(row, name=name) for name in names]) for row in rows])
        assert [one.line for one in found] == [f"{name}/line" for name in names]
        assert all("sustained load" in one.text for one in found)


@pytest.mark.parametrize(
    ("version", "harness"),
    [
        (None, ("", "", "")),
        ("1", ("1", "", "")),
        (WORKED, ("1", "", "gaps worked")),
        ("1, as do-bench-10", ("1", "do-bench-10", "")),
        ("1, as do-bench-10, gaps worked", ("1", "do-bench-10", "gaps worked")),
    ],
)
def test_a_version_is_read_in_parts(version: str | None, harness: tuple[str, str, str]) -> None:
    assert read_harness(version) == Harness(*harness)


def test_a_superseded_group_follows_the_newer_one_whatever_it_measured() -> None:
    spun, worked, burst = controlled(), controlled(WORKED), controlled(load="burst")
    slow = controlled("1, as do-bench-10")
    rows = (burst, worked, spun, slow, reported())
    values = (1.1e6, 1.2e6, 1.0e6, 1.3e6, 0.9e6)
    named = {row.key: [of(row, value)] for row, value in zip(rows, values, strict=True)}
    for shown in permutations(rows):
        assert Findings(fits=shown, near=()).in_reading_order(shown, named).fits == rows
    alone = Findings(fits=(burst, spun), near=()).in_reading_order((burst, spun), named)
    assert alone.fits == (spun, burst)


class TestShipped:
    def test_sonic_s_published_forward_is_borne_out_under_one_load(self) -> None:
        answer = ask_text(shipped(), f"{RECORD} pass:forward")
        (one, *rest) = [one for one in answer.reruns if "SonicMoE" in one.text]
        assert (one.kind, round(one.controlled_value / 1e6, 3)) == ("confirmed", 1.153)
        assert "sustained load (gaps worked): within 5 %" in one.text
        assert not any("sustained" in other.text for other in rest)
        assert any("rerun on H200: 1.153 ms sustained" in c.summary for c in answer.cohorts)

    @pytest.mark.parametrize("timed", ["forward", "backward", "full"])
    def test_no_number_is_held_against_two_variants_of_one_load(self, timed: str) -> None:
        reruns = ask_text(shipped(), f"{RECORD} pass:{timed}").reruns
        sustained = [one.reported for one in reruns if "sustained load" in one.text]
        assert sustained
        assert len(sustained) == len(set(sustained))
        assert not any(one.kind == "contradicted" for one in reruns)

    def test_spun_groups_carry_the_doubt_and_stand_after_the_worked_ones(self) -> None:
        answer = ask_text(shipped(), f"{RECORD} pass:forward")
        found = [
            (one.protocol.version, "GAPS_SPUN" in {d.code for d in one.shared_doubts})
            for one in answer.cohorts
            if one.profile == "controlled" and one.protocol.rules["load"] == "sustained"
        ]
        assert found == [(WORKED, False), ("1", True), ("1, as do-bench-10", False)]
