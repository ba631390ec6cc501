"""A card of little memory: the self-check finds room, and an examination leaves none taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.plan import Candidate, Rules
from kernelindex.runner.worker.anchor import AnchorProbe
from kernelindex.runner.worker.conduct import Conduct
from kernelindex.runner.worker.members import Member
from kernelindex.runner.worker.preparing import examine_all

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSES = ("forward", "full")
SELFCHECK_GIB = 1.0


@dataclass
class Card:
    """So many GiB, and what each process holds or has cached of them."""

    size: float
    held: dict[str, float] = field(default_factory=dict)

    def take(self, name: str, amount: float) -> bool:
        fits = sum(self.held.values()) + amount <= self.size
        if fits:
            self.held[name] = self.held.get(name, 0.0) + amount
        return fits


@dataclass
class Process:
    """An audit caches 60 GiB of the card; a self-check needs one that is free."""

    name: str
    card: Card
    alive: bool = True
    asked: list[str] = field(default_factory=list)

    def ask(self, command: str, timeout_s: float, **fields: Any) -> Reply | Refused:
        self.asked.append(command)
        if command == "free":
            self.card.held[self.name] = 5.0
        if command == "audit":
            self.card.take(self.name, 60.0)
        if command == "selfcheck" and not self.card.take(self.name, SELFCHECK_GIB):
            return Refused("resource_exceeded", "OutOfMemoryError", "tried to allocate 512 MiB")
        told = {"names": ["content"], "findings": [], "checks": [], "median_ns": 1e6, "calls": 3}
        return Reply(told, 3_000_000)


class Bench(SimpleNamespace):
    """The parts of a bench that these steps use; ending a process empties its memory."""

    def end_all(self, processes: Sequence[Process]) -> None:
        for one in processes:
            one.alive = False
            self.card.held.pop(one.name, None)

    def random(self, *parts: object) -> Any:
        return SimpleNamespace(shuffled=list)

    def check_time(self) -> None:
        pass


def make_bench(card: Card) -> Any:
    plan = SimpleNamespace(device="cuda:0", points=())
    journal = SimpleNamespace(write=lambda *_, **__: None)
    return Bench(
        card=card, rules=Rules(), timeout_s=9.0, long_timeout_s=9.0, plan=plan, journal=journal
    )


def make_member(name: str, card: Card) -> Member:
    process: Any = Process(name, card)
    return Member(Candidate(id=name, entry="a:a", passes=PASSES), process, PASSES)


def conducted(bench: Any, members: list[Member]) -> dict[str, Any]:
    judge: Any = SimpleNamespace(process=Process("judge", bench.card))
    anchor_process: Any = Process("anchor", bench.card)
    point: Any = SimpleNamespace(id="p")
    conduct = Conduct(bench, point, 0, ())
    return conduct._selfcheck(judge, AnchorProbe(bench, anchor_process), members)


def test_the_self_check_is_made_where_candidates_filled_the_card() -> None:
    card = Card(140.0, {"a": 70.0, "b": 69.8})
    bench = make_bench(card)
    assert not card.take("anchor", SELFCHECK_GIB)
    found = conducted(bench, [make_member("a", card), make_member("b", card)])
    assert "problem" not in found
    assert found["median_ns"] == 1e6
    assert card.held == {"anchor": SELFCHECK_GIB}


def test_a_card_too_small_for_the_self_check_alone_is_said() -> None:
    found = conducted(make_bench(Card(0.5)), [])
    assert found == {"problem": "selfcheck: OutOfMemoryError: tried to allocate 512 MiB"}


@pytest.mark.parametrize(("fully", "left"), [(True, 5.0), (False, 0.0)])
def test_an_examination_gives_back_what_it_took(fully: bool, left: float) -> None:
    card = Card(140.0)
    members = [make_member("a", card), make_member("b", card)]
    examine_all(make_bench(card), members, fully=fully)
    assert [card.held.get(one.id, 0.0) for one in members] == [left, left]
    asked: Any = members[0].process
    assert ("audit" in asked.asked) is fully
    assert (asked.asked[-1] == "free") is fully


def test_a_process_that_ends_while_it_gives_memory_back_is_refused() -> None:
    card = Card(140.0)
    member = make_member("a", card)
    process: Any = member.process
    plain = process.ask

    def ask(command: str, timeout_s: float, **fields: Any) -> Reply | Refused:
        if command != "free":
            return plain(command, timeout_s, **fields)
        process.alive, process.verdict = False, Refused("runtime_error", "crashed", "gone")
        return process.verdict

    process.ask = ask
    examine_all(make_bench(card), [member], fully=True)
    assert {one.code for one in member.failures.values()} == {"crashed"}
    assert member.open_passes() == ()
