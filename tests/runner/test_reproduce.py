"""Repeating a published run: its line, the protocol of its source, and ours."""

from __future__ import annotations

from typing import Any

import pytest

from kernelindex.errors import RequestError
from kernelindex.runner.planning import Ask
from kernelindex.runner.protocols import PROTOCOLS
from kernelindex.runner.reproduce import plan_reruns

LIGER = "liger-kernel/LigerFusedMoEFunction"
ASK = Ask(operation="moe-mlp", axes={"experts": 64}, dtypes=("bf16",), device="cuda:0")


def liger_protocol(**spec: Any) -> dict[str, Any]:
    stated = {
        "timedRegion": {"includes": ["gradient_accumulation"]},
        "gradients": "non_leaf",
        **spec,
    }
    return {"metadata": {"name": "liger-do-bench-10-backward"}, "spec": stated}


def test_the_source_s_protocol_comes_first_and_ours_after_it() -> None:
    theirs, ours = plan_reruns(ASK, LIGER, "backward", liger_protocol())
    assert theirs.protocol == "do-bench-10"
    assert (theirs.ask.gradients, theirs.ask.gradient_buffers) == ("non_leaf", "accumulated")
    assert (ours.protocol, ours.ask.gradients, ours.ask.gradient_buffers) == (
        "records",
        "leaf",
        "fresh",
    )
    assert theirs.ask.candidates == ours.ask.candidates == (LIGER,)


def test_a_backward_pass_is_repeated_beside_the_other_two() -> None:
    (_, ours) = plan_reruns(ASK, LIGER, "backward", liger_protocol())
    assert ours.ask.passes == ("forward", "backward", "full")
    (_, ours) = plan_reruns(ASK, LIGER, "forward", liger_protocol())
    assert ours.ask.passes == ("forward",)


def test_a_protocol_that_cannot_be_followed_is_repeated_under_ours_alone() -> None:
    protocol = {"metadata": {"name": "somebody-s-loop"}, "spec": {}}
    assert [one.protocol for one in plan_reruns(ASK, LIGER, "forward", protocol)] == ["records"]


def test_do_bench_of_ten_milliseconds_samples_a_longer_call_once() -> None:
    rules = PROTOCOLS["do-bench-10"]
    assert (rules.round_seconds, rules.min_samples, rules.rotation_sets) == (0.01, 1, 1)


def test_code_that_is_not_here_is_not_repeated_by_other_code() -> None:
    with pytest.raises(RequestError, match="nothing here runs somebody/else") as refused:
        plan_reruns(ASK, "somebody/else", "forward", liger_protocol())
    assert refused.value.code == "reproduce.line"


def test_a_pass_that_nobody_stated_is_asked_for() -> None:
    with pytest.raises(RequestError, match="name one with --pass") as refused:
        plan_reruns(ASK, LIGER, "unstated", liger_protocol())
    assert refused.value.code == "reproduce.pass"
