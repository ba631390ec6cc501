"""The published pair beside its rerun on another card: why the two numbers differ, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelindex.cli.main import main
from kernelindex.runner.plan import load_plan
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.factories import Terminal

RECORD = (
    *("fused-moe", "tokens=8192", "hidden=2048", "intermediate=768", "experts=64", "k=8", "bf16"),
    "pass:backward",
)
LIGER = "liger-kernel/LigerFusedMoEFunction"
PLAN = ("bench", "plan", "moe-mlp", "experts=64", "--device", "cuda:0", "--impl", LIGER)
EMULATED = ("--protocol", "do-bench-10", "--gradients", "non_leaf", "--buffers", "accumulated")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter evidence, and a hand-made rerun of Liger on an H200 in both protocols."""
    home = tmp_path_factory.mktemp("reruns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KI_RUNNERS", str(home / "runners"))
        patch.setenv("KI_DB", f"sqlite:///{home / 'ki.db'}")
        assert main(["import", "starter", "--json"]) == 0
        for number, more in enumerate((EMULATED, ("--protocol", "quick"))):
            plan = home / f"{number}.json"
            assert main([*PLAN, *more, "--out", str(plan)]) == 0
            folder = make_batch(home / f"batch-{number}", load_plan(plan), base_ns=2_400_000.0)
            assert main(["bench", "ingest", str(folder), "--approve", "ada"]) == 0
    return home / "ki.db"


@pytest.fixture
def measured(terminal: Terminal, database: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("KI_DB", f"sqlite:///{database}")
    return terminal


def test_the_answer_says_why_the_published_number_differs(measured: Terminal) -> None:
    answer = measured.ki("resolve", *RECORD, "gpu:H100", "--json").data
    reruns = [one for one in answer["reruns"] if one["line"] == LIGER]
    assert [one["kind"] for one in reruns] == ["related", "related"]
    first = reruns[0]
    assert (first["reported_value"], first["controlled_value"]) == (
        pytest.approx(5_746_208, rel=0.01),
        pytest.approx(4_800_000, rel=0.01),
    )
    assert "as do-bench-10 with non-leaf weights" in first["text"]
    assert "neither confirms nor contradicts" in first["text"]
    reasons = " / ".join(first["reasons"])
    card = "the card: H200 SXM 141GB, of 1.43x the nominal bandwidth and the bf16 peak of the"
    assert f"{card} H100 SXM5 80GB" in reasons
    assert "one sample was published, 120 samples are rerun" in reasons
    assert "non-leaf tensors" in reasons
    assert "non-leaf weights were published, leaf weights are rerun" in reruns[1]["reasons"]


def test_the_card_of_the_rerun_shows_the_published_number_beside(measured: Terminal) -> None:
    said = measured.ki("resolve", *RECORD, "gpu:H200").out
    assert "\nRerun\n" in said
    assert "was published on H100 SXM5 80GB" in " ".join(said.split())


def test_the_run_s_own_page_says_it_too(measured: Terminal) -> None:
    answer = measured.ki("resolve", *RECORD, "gpu:H100", "--json").data
    reported = answer["reruns"][0]["reported"]
    run = measured.ki("show", "run", reported, "--json").data
    assert {one["kind"] for one in run["reruns"]} == {"related"}


def test_a_signed_and_approved_rerun_is_verified(measured: Terminal) -> None:
    answer = measured.ki("resolve", *RECORD, "gpu:H200", "--json").data
    controlled = [one for one in answer["cohorts"] if one["profile"] == "controlled"]
    assert len(controlled) == 2
    entries = [entry for one in controlled for entry in one["entries"]]
    assert [(one["evidence"], one["evidence_missing"][:0]) for one in entries] == [
        ("verified", []),
        ("verified", []),
    ]
    assert answer["best"]["verified"]["picks"]
