"""The slope of blocks by the worker's clock, against what a candidate reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kernelindex.runner.channel import Refused, Reply
from kernelindex.runner.plan import Candidate
from kernelindex.runner.worker import audit
from kernelindex.runner.worker.members import Member

MS = 1_000_000
ANSWER_NS = 200_000  # a request costs that beside its calls


@dataclass
class Host:
    """A process whose calls take ``call_ns`` of CPU time and ``wall_ns(asked, calls)`` a block."""

    reported_ns: Callable[[int], list[float]]
    wall_ns: Callable[[int, int], float]
    call_ns: float = 2 * MS
    issue_ns: float = 0.0
    busy_ns: float | None = None
    spent_ns: float = 0.0
    asked: int = 0
    alive: bool = True
    pid: int = 0

    def ask(self, command: str, timeout_s: float, **fields: Any) -> Reply | Refused:
        if command == "measure":
            return Reply({"samples_ns": self.reported_ns(fields["calls"])}, 10**12)
        if command == "trace":
            return Reply({} if self.busy_ns is None else {"busy_ns": self.busy_ns}, 10**8)
        if command == "issue":
            return Reply({}, round(self.issue_ns * fields["calls"]) + ANSWER_NS)
        self.asked += 1
        self.spent_ns += self.call_ns * fields["calls"]
        return Reply({}, round(self.wall_ns(self.asked, fields["calls"]) + ANSWER_NS))


def verdict(
    host: Host, monkeypatch: pytest.MonkeyPatch, *, median_ns: float, on_host: bool = True
) -> str | None:
    monkeypatch.setattr(audit, "spent_below", lambda _: int(host.spent_ns))
    process: Any = host
    member = Member(Candidate(id="a", entry="a:a", passes=("full",)), process, ("full",))
    member.median_ns["full"] = median_ns
    audit.check_slope(member, "full", 9.0, on_host=on_host)
    return member.failures["full"].code if member.failures else None


def test_what_was_not_shortened_yet_does_not_excuse_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seen on a busy machine: 99 times of 3 µs, and the last one of 76 ms."""
    host = Host(lambda calls: [3e3] * (calls - 1) + [76.0 * MS], lambda _, calls: calls * 2.0 * MS)
    assert verdict(host, monkeypatch, median_ns=3e3) == "slope_disagrees"


def test_a_disturbed_short_block_does_not_hide_what_a_long_one_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wall(asked: int, calls: int) -> float:
        return calls * 2.0 * MS * (4 if asked % 2 else 2)  # the short ones wait twice as long

    host = Host(lambda calls: [1e5] * calls, wall)
    assert verdict(host, monkeypatch, median_ns=1e5) == "slope_disagrees"


def test_a_busy_machine_and_threads_of_its_own_accuse_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = Host(lambda calls: [2.0 * MS] * calls, lambda _, calls: calls * 20.0 * MS)
    assert verdict(busy, monkeypatch, median_ns=2.0 * MS) is None
    threads = Host(
        lambda calls: [2.0 * MS] * calls, lambda _, calls: calls * 2.0 * MS, call_ns=16 * MS
    )
    assert verdict(threads, monkeypatch, median_ns=2.0 * MS) is None


@pytest.mark.parametrize(("beside_us", "code"), [(60, None), (200, "slope_disagrees")])
def test_short_calls_of_a_host_may_not_take_half_a_millisecond_beside(
    monkeypatch: pytest.MonkeyPatch, beside_us: int, code: str | None
) -> None:
    """Seen: 21 µs reported, and 180 more in a callback between calls."""
    call_ns = 21_000 + 1_000 * beside_us
    host = Host(lambda calls: [21e3] * calls, lambda _, calls: calls * call_ns, call_ns=call_ns)
    assert verdict(host, monkeypatch, median_ns=21e3) == code


@pytest.mark.parametrize(
    ("call_us", "issue_us", "busy_us", "code"),
    [
        (680, 566, 55, None),  # seen: Liger's RMSNorm with its backward on a host of the index
        (680, 30, 55, "slope_disagrees"),
        (680, 566, None, "slope_disagrees"),
        (20_000, 20_000, 55, "slope_disagrees"),  # nobody needs that to issue a call
        (2_000, 2_000, 1_900, "slope_disagrees"),  # a stream that the call waits for
    ],
)
def test_a_device_may_wait_for_its_host_where_no_stream_is_busy(
    monkeypatch: pytest.MonkeyPatch,
    call_us: float,
    issue_us: float,
    busy_us: float | None,
    code: str | None,
) -> None:
    host = Host(
        lambda calls: [55e3] * calls,
        lambda _, calls: calls * 1e3 * call_us,
        issue_ns=1e3 * issue_us,
        busy_ns=None if busy_us is None else 1e3 * busy_us,
    )
    assert verdict(host, monkeypatch, median_ns=55e3, on_host=False) == code
