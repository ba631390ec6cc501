from __future__ import annotations

import pytest

from kernelindex.resolve.answer import ProtocolRef
from kernelindex.resolve.regime import Timing, differing_words, regime_parts, regime_words

RULES = {"cache": "cold", "execution": "eager", "region": "allocation"}


def controlled(version: str = "1", **rules: str) -> ProtocolRef:
    return ProtocolRef(name="kernelindex-runner", version=version, rules={**RULES, **rules})


def told(*protocols: ProtocolRef, with_protocol: bool = True) -> list[str]:
    timings = [
        Timing("controlled" if one.name == "kernelindex-runner" else "source_native", one, "full")
        for one in protocols
    ]
    return differing_words(timings, with_protocol=with_protocol)


BURST = controlled(load="burst", gradients="leaf")
SUSTAINED = controlled(load="sustained", gradients="leaf")
FOLLOWED = controlled("1, as do-bench-10", load="sustained", gradients="leaf")
SCRIPTS = ProtocolRef(name="scripts", version="liger_kernel_bench", rules=RULES)


@pytest.mark.parametrize(
    ("profile", "protocol", "words"),
    [
        ("controlled", BURST, "controlled protocol 1, burst, leaf weights"),
        (
            "controlled",
            controlled("1, as do-bench-10", load="sustained", gradients="non_leaf"),
            "controlled protocol 1, as do-bench-10, sustained, non-leaf weights",
        ),
        (
            "controlled",
            controlled(load="burst", cache="hot", execution="graph"),
            "controlled protocol 1, burst, hot cache, graph",
        ),
        ("source_native", SCRIPTS, "scripts"),
        ("source_native", ProtocolRef(name="stack", version="v1.1"), "stack v1.1"),
    ],
)
def test_a_regime_names_protocol_load_and_weights(
    profile: str, protocol: ProtocolRef, words: str
) -> None:
    assert regime_words(profile, protocol) == words


def test_every_part_is_said_where_there_is_room() -> None:
    parts = ("controlled protocol 1", "cold", "burst", "eager", "leaf weights")
    assert regime_parts("controlled", BURST) == parts


def test_load_tells_groups_of_one_protocol_apart() -> None:
    assert told(BURST, SUSTAINED) == ["burst", "sustained"]
    assert told(BURST, SUSTAINED, SCRIPTS) == [
        "controlled, burst",
        "controlled, sustained",
        "scripts",
    ]


def test_groups_that_differ_in_the_protocols_version_only_are_told_apart() -> None:
    assert told(SUSTAINED, FOLLOWED) == ["controlled", "controlled as do-bench-10"]
    worked = controlled("1, gaps worked", load="sustained", gradients="leaf")
    assert told(SUSTAINED, worked) == ["controlled", "controlled, gaps worked"]
    assert told(BURST, worked) == ["controlled, burst", "controlled, gaps worked, sustained"]
    later = controlled("2", load="sustained", gradients="leaf")
    assert told(worked, later) == ["controlled protocol 1, gaps worked", "controlled protocol 2"]
    assert told(SUSTAINED, later) == ["controlled protocol 1", "controlled protocol 2"]
    stacks = [ProtocolRef(name="stack", version=version) for version in ("v1.0", "v1.1")]
    assert told(*stacks) == ["stack v1.0", "stack v1.1"]


def test_what_was_inside_the_timed_region_is_said_only_where_nothing_else_differs() -> None:
    region = "allocation,gradient_accumulation"
    wide = controlled(load="sustained", gradients="leaf", region=region)
    assert told(SUSTAINED, wide) == ["allocation", "allocation and gradient accumulation"]
    assert told(BURST, wide) == ["burst", "sustained"]


def test_one_group_needs_no_words() -> None:
    assert told(BURST) == [""]
    assert told(BURST, SCRIPTS, with_protocol=False) == ["", ""]
