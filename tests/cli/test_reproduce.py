"""A rerun that is held against nothing says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.catalog import Catalog
from kernelindex.cli.bench import run as bench_run
from kernelindex.resolve.unjudged import why_unjudged
from kernelindex.runner.plan import load_plan
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.factories import Terminal

PLAN = ("bench", "plan", "rms-norm", "tokens=512", "hidden=1024", "--device", "cpu")


@pytest.fixture
def published(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Terminal, str]:
    """A catalog with one run that was measured here, and a machine that only pretends to."""
    monkeypatch.setenv("KI_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path / 'ki.db'}")
    plan = tmp_path / "plan.json"
    asked = (*PLAN, "--pass", "forward", "--impl", "numpy-rms-norm", "--out", str(plan))
    assert terminal.ki(*asked).status == 0
    folder = make_batch(tmp_path / "batch", load_plan(plan))
    said = terminal.ki("bench", "ingest", str(folder), "--approve", "ada")
    assert said.status == 0, said.err
    runs = terminal.ki("runs", "--json").data
    return terminal, runs["runs"][0]["digest"]


def pretend(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    def run_planned(plan: Any, runner: Any, *, quiet: bool) -> Path:
        from kernelindex.cli.bench.runner import batch_folder, reserve
        from kernelindex.runner.plan import plan_to_json

        reserve(runner, plan.number, plan_to_json(plan).encode())
        return make_batch(batch_folder(runner, plan.number), plan, **changes)

    monkeypatch.setattr(bench_run, "run_planned", run_planned)


def test_a_rerun_of_a_controlled_run_says_that_it_is_one_and_how_to_compare(
    published: tuple[Terminal, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, digest = published
    pretend(monkeypatch)
    asked = ("bench", "reproduce", digest, "--device", "cpu")
    said = terminal.ki(*asked)
    assert said.status == 1
    assert said.out.startswith("not comparable: that run was itself measured by this harness")
    assert f"`ki compare {digest.removeprefix('sha256:')[:12]} " in said.out
    assert "reruns judge what others reported" in terminal.ki(*asked, "--json").data["reason"]


def test_a_rerun_that_did_not_pass_says_how_it_ended(
    published: tuple[Terminal, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, digest = published
    pretend(monkeypatch, status="runtime_error", reason="raised", text="ValueError: no")
    said = terminal.ki("bench", "reproduce", digest, "--device", "cpu")
    assert (said.status, said.out) == (1, "not comparable: the rerun did not pass: runtime error\n")


def test_what_keeps_a_reported_run_and_its_rerun_apart_is_named(
    published: tuple[Terminal, str], tmp_path: Path
) -> None:
    run = Catalog.open(f"sqlite:///{tmp_path / 'ki.db'}").run(published[1])
    assert run is not None
    reported = replace(run, profile="harness", distribution="skewed", shape_key="other")
    assert why_unjudged(reported, [run]) == (
        "another shape: hidden=1024 tokens=512 fp32 skewed was published, hidden=1024 tokens=512"
        " fp32 no stated distribution is rerun"
    )
    backward = replace(run, profile="harness", timed_pass="backward")
    assert why_unjudged(backward, [run]) == (
        "another pass: backward was published, forward is rerun"
    )
    alone = replace(run, profile="harness", cohort_key=None, reasons=({"text": "withdrawn"},))
    assert why_unjudged(alone, [run]) == "the run stands in no group: withdrawn"
    stands = replace(run, profile="harness")
    assert "another run of the same line" in why_unjudged(stands, [run])
    assert why_unjudged(stands, []) == "the batch ended before anything was measured"
    other = replace(run, revision="b" * 40, device={"label": "another CPU"})
    said = why_unjudged(run, [other])
    assert "revision" in said
    assert "rerun on another CPU" in said
