"""``ki bench``: a plan made here, a batch from elsewhere, evidence in the catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kernelindex.runner import batch_files
from kernelindex.runner.plan import load_plan
from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from tests.cli.factories import Terminal

CPU = ("--device", "cpu")
SHAPE = ("rmsnorm", "tokens=512", "hidden=1024")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KI_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path / 'ki.db'}")
    return tmp_path


def planned(terminal: Terminal, home: Path, *more: str) -> Path:
    target = home / "plan.json"
    asked = ("bench", "plan", *SHAPE, *CPU, "--protocol", "quick", *more, "--out", str(target))
    assert terminal.ki(*asked).status == 0
    return target


def test_plan_says_what_it_holds_and_takes_the_next_number(terminal: Terminal, home: Path) -> None:
    asked = ("bench", "plan", *SHAPE, *CPU, "--out", str(home / "a.json"))
    first = terminal.ki(*asked, "--json").data
    second = terminal.ki(*asked, "--json").data
    assert (first["number"], second["number"]) == (1, 2)
    point = first["points"][0]
    assert point["id"] == "rms-norm/512-1024-fp32/leaf"
    assert point["passes"] == ["forward", "backward", "full"]
    assert "kernelindex/numpy-rms-norm" in point["candidates"]
    assert point["leftOut"] == [{"id": "liger-kernel/LigerRMSNorm", "why": "does not run on cpu"}]


def test_plan_of_a_sweep_has_a_point_for_every_value_and_kind_of_weights(
    terminal: Terminal, home: Path
) -> None:
    target = home / "sweep.json"
    asked = ("bench", "plan", "moe-mlp", "bf16", "--device", "cuda:0", "--gpu", "H200")
    more = ("--sweep", "experts=8,16", "--gradients", "leaf", "--gradients", "non_leaf")
    assert terminal.ki(*asked, *more, "--out", str(target)).status == 0
    plan = load_plan(target)
    assert [(one.axes["experts"], one.gradients) for one in plan.points] == [
        (8, "leaf"),
        (16, "leaf"),
        (8, "non_leaf"),
        (16, "non_leaf"),
    ]
    assert plan.points[0].distribution == "uniform"
    assert plan.points[0].limits.floor_ns["full"] > 1.8e6


def test_a_plan_of_several_questions_has_the_points_of_each(terminal: Terminal, home: Path) -> None:
    target = home / "both.json"
    asked = ("bench", "plan", "rms-norm", "tokens=512", "hidden=1024", *CPU, "--pass", "forward")
    also = ("--also", "gemm m=64 n=32 k=16", "--also", "softmax tokens=512 hidden=64")
    assert terminal.ki(*asked, *also, "--out", str(target)).status == 0
    assert [(one.operation, dict(one.axes)) for one in load_plan(target).points] == [
        ("rms-norm", {"tokens": 512, "hidden": 1024}),
        ("gemm", {"m": 64, "n": 32, "k": 16}),
        ("softmax", {"tokens": 512, "hidden": 64}),
    ]


def test_each_question_of_a_plan_may_have_its_own_pass_routing_and_weights(
    terminal: Terminal, home: Path
) -> None:
    target = home / "own.json"
    device = ("--device", "cuda:0", "--impl", "moe_mlp", "--out", str(target))
    own = "moe-mlp experts=8 distribution:skewed distribution:uniform gradients:non_leaf pass:full"
    assert terminal.ki("bench", "plan", "moe-mlp", "experts=16", "--also", own, *device).status == 0
    points = load_plan(target).points
    assert [
        (one.axes["experts"], one.distribution, one.gradients, one.passes) for one in points
    ] == [
        (16, "uniform", "leaf", ("forward", "backward", "full")),
        (8, "skewed", "non_leaf", ("full",)),
        (8, "uniform", "non_leaf", ("full",)),
    ]


def test_questions_of_one_plan_take_of_its_options_what_they_can(
    terminal: Terminal, home: Path
) -> None:
    target = home / "shared.json"
    names = ("--impl", "kernelindex/moe_mlp", "--impl", "pytorch/matmul")
    asked = ("bench", "plan", "moe-mlp", "tokens=8", *names, "--distribution", "skewed")
    also = ("--also", "gemm m=64 n=32 k=16 pass:full", "--pass", "forward")
    assert terminal.ki(*asked, *also, *CPU, "--out", str(target)).status == 0
    routed, plain = load_plan(target).points
    assert (routed.distribution, routed.passes) == ("skewed", ("forward",))
    assert (plain.distribution, plain.passes) == (None, ("full",))
    assert [one.id for point in (routed, plain) for one in point.candidates] == [
        "kernelindex/moe_mlp",
        "pytorch/matmul",
    ]


def test_distributions_are_taken_in_turn(terminal: Terminal, home: Path) -> None:
    target = home / "routed.json"
    asked = ("bench", "plan", "moe-mlp", "--device", "cuda:0", "--out", str(target))
    more = ("--distribution", "skewed", "--distribution", "single_expert")
    assert terminal.ki(*asked, "--published", *more).status == 0
    points = load_plan(target).points
    assert [one.distribution for one in points[:2]] == ["skewed", "single_expert"]
    assert points[0].axes == points[1].axes
    assert len(points) == len({one.id for one in points}) == 2 * 13


def test_published_shapes_are_planned_together(terminal: Terminal, home: Path) -> None:
    target = home / "all.json"
    asked = ("bench", "plan", "rms-norm", "--published", "--device", "cuda:0")
    assert terminal.ki(*asked, "--out", str(target)).status == 0
    plan = load_plan(target)
    assert len(plan.points) == 6
    assert plan.points[0].dtypes == {"x": "bf16", "weight": "fp32"}


def test_a_plan_says_how_long_it_takes_at_least(terminal: Terminal, home: Path) -> None:
    asked = ("bench", "plan", *SHAPE, *CPU, "--impl", "pytorch/RMSNorm", "--pass", "forward")
    rules = ("--protocol", "records", "--load", "burst", "--time", "50", "--out")
    done = terminal.ki(*asked, *rules, str(home / "short.json"))
    # Three generations of 10 s and six tenths of eight rounds of 0.25 + 0.15 s.
    assert "at least 36 s where everything is compiled, of 50 s\n" in done.out
    two = ("--load", "sustained", *rules)
    done = terminal.ki(*asked, *two, str(home / "long.json"), "--generations", "4", "--json")
    found = json.loads(done.out)
    assert (found["leastSeconds"], found["timeBudgetSeconds"]) == (55, 50)
    done = terminal.ki(*asked, *two, str(home / "longer.json"), "--generations", "4")
    assert "at least 55 s where everything is compiled, of 50 s; more time is needed" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rmsnorm", "tokens=512", "--impl", "ligr"), "no one candidate 'ligr'"),
        (("rmsnorm", "width=5"), "rms-norm has no axis width; it has tokens, hidden"),
        (("layer-norm", "tokens=5"), "no operation 'layer-norm' can be run here"),
        (("nope", "tokens=5"), "rms-norm, softmax, swiglu [bench.operation]"),
        (("softmx", "tokens=5"), "swiglu; did you mean softmax? [bench.operation]"),
        (("rmsnorm", "--device", "tpu"), "wanted cpu, cuda:N or auto"),
        (("rmsnorm", "--sweep", "tokens"), "wanted an axis and its values"),
        (("rmsnorm", "gradients:leave"), "'gradients:leave': wanted"),
        (("rmsnorm", "distribution:"), "'distribution:': wanted distribution: and a name"),
        (("rmsnorm", "distribution:skewed"), "rms-norm has no distribution 'skewed'"),
        (("moe-mlp", "--distribution", "skewd"), "it has: uniform, skewed, single_expert"),
        (("rmsnorm", "--also", "rmsnom"), "--also 'rmsnom': no operation 'rmsnom' can be run"),
        (("rmsnorm", "pass:full", "--also", "rmsnorm"), "is asked for twice"),
        (("rmsnorm", "--impl", "llama-rms-norm", "--also", "gemm"), "gemm has none of the"),
        (
            ("rmsnorm", "--impl", "llama-rms-norm", "--impl", "x", "--also", "rmsnorm tokens=7"),
            "no candidate 'x' of rms-norm",
        ),
        (("rmsnorm", "--also", ""), "wanted an `operation`"),
        (("rmsnorm", "--protocol", "sloppy"), "no protocol is called 'sloppy'"),
    ],
)
def test_what_cannot_be_planned_says_what_can(
    terminal: Terminal, home: Path, words: tuple[str, ...], said: str
) -> None:
    done = terminal.ki("bench", "plan", *words, "--out", str(home / "p.json"))
    assert done.status == 1
    assert said in done.err


def test_a_batch_from_elsewhere_is_signed_published_and_answers(
    terminal: Terminal, home: Path
) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    done = terminal.ki("bench", "ingest", str(folder), "--approve", "ada", "--json").data
    assert (done["outcome"], done["approved"]) == ("complete", True)
    assert done["import"]["skipped"] == {}
    forward = done["cohorts"][0]
    assert forward["pass"] == "forward"
    assert forward["entries"][0]["candidate"] == "pytorch/compile/RMSNorm"
    last = forward["entries"][-1]["toLeader"]
    assert last["verdict"] == "SLOWER"
    assert last["low"] < last["ratio"] < last["high"]
    answer = terminal.ki("resolve", *SHAPE, "fp32", "pass:forward", "--json").data
    cohort = answer["cohorts"][0]
    assert (answer["match"], cohort["profile"]) == ("exact", "controlled")
    assert cohort["entries"][0]["run"]["interval"]["kind"] == "confidence95"
    assert cohort["entries"][-1]["verdict_to_leader"] == "SLOWER"
    assert cohort["entries"][-1]["rank"] == {"low": 4, "high": 4}
    slowest = cohort["entries"][-1]
    assert slowest["ratio_low"] < slowest["ratio_to_leader"] < slowest["ratio_high"]
    assert cohort["protocol"]["name"] == "kernelindex-runner"


def test_without_approval_the_batch_is_published_and_the_reason_is_said(
    terminal: Terminal, home: Path
) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    done = terminal.ki("bench", "ingest", str(folder))
    assert done.status == 0
    assert "does not approve local's key" in done.out
    assert "rms-norm · tokens=512 hidden=1024 · fp32 · forward · cold · sustained" in done.out
    assert "SLOWER" in done.out


def test_a_batch_where_nobody_passed_is_kept_and_exits_with_one(
    terminal: Terminal, home: Path
) -> None:
    plan = load_plan(planned(terminal, home))
    text = "y: relative Frobenius error is 0.3; 2e-06 may be"
    wrong = {"status": "incorrect_numerical", "reason": "wrong_values", "text": text}
    done = terminal.ki("bench", "ingest", str(make_batch(home / "batch", plan, **wrong)))
    assert done.status == 1
    assert "incorrect numerical, wrong values: y: relative Frobenius error is 0.3" in done.out


def test_a_changed_plan_is_refused(terminal: Terminal, home: Path) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    path = folder / batch_files.PLAN
    document = json.loads(path.read_text())
    document["rules"]["generations"] = 2
    path.write_text(json.dumps(document))
    done = terminal.ki("bench", "ingest", str(folder))
    assert done.status == 1
    assert "batch.not_planned" in done.err


def test_list_says_who_can_run_here_and_why_not(terminal: Terminal, home: Path) -> None:
    assert home.is_dir()
    data = terminal.ki("bench", "list", "rms-norm", *CPU, "--json").data
    candidates = {one["id"]: one["obstacle"] for one in data["operations"][0]["candidates"]}
    assert candidates["kernelindex/numpy-rms-norm"] is None
    assert candidates["liger-kernel/LigerRMSNorm"] == "does not run on cpu"
    assert data["operations"][0]["inputs"][1]["shape"] == ["hidden"]
    gemm = " ".join(terminal.ki("bench", "list", "gemm", *CPU).out.split())
    assert "called with a [m, k], b [n, k]; returns c [m, n]" in gemm
    assert "RMSNorm · rms-norm" in terminal.ki("bench", "list", *CPU).out


def test_nothing_is_measured_while_an_earlier_batch_is_open(terminal: Terminal, home: Path) -> None:
    planned(terminal, home)
    done = terminal.ki("bench", "run", *SHAPE, *CPU)
    assert done.status == 1
    assert "batch 1 of local is planned and not closed" in done.err
    assert "ki evidence abort 1" in done.err


def test_compare_of_a_batch_gives_one_verdict_a_pass(terminal: Terminal, home: Path) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    pair = ("pytorch/compile/RMSNorm", "pytorch/RMSNorm")
    done = terminal.ki("bench", "compare", *pair, "--batch", str(folder), "--json")
    found = done.data["comparisons"]
    assert [one["verdict"] for one in found] == ["FASTER"] * 3
    assert found[0]["ratio"] == pytest.approx(0.6, rel=0.01)
    assert found[0]["low"] < found[0]["ratio"] < found[0]["high"]
    text = terminal.ki("bench", "compare", *reversed(pair), "--batch", str(folder)).out
    assert "SLOWER, ratio 1.66" in text
    assert "margin 1.6" in text


def test_compare_of_strangers_names_who_is_there(terminal: Terminal, home: Path) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    done = terminal.ki("bench", "compare", "a/b", "c/d", "--batch", str(folder))
    assert done.status == 1
    assert "it has kernelindex/numpy-rms-norm" in done.err


def test_compare_of_two_runs_judges_by_their_samples(terminal: Terminal, home: Path) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    done = terminal.ki("bench", "ingest", str(folder), "--json").data
    forward, backward = done["cohorts"][:2]
    first, last = (forward["entries"][at]["run"] for at in (0, -1))
    found = terminal.ki("bench", "compare", last, first, "--json").data["comparisons"][0]
    assert (found["verdict"], found["ratio"]) == ("SLOWER", pytest.approx(7.5, rel=0.01))
    assert found["reasons"][0]["code"] == "interval_beyond_margin"
    pair = terminal.ki("compare", first, last, "--json").data["verdicts"][0]
    assert (pair["verdict"], pair["low"]) == ("SLOWER", found["low"])
    other = terminal.ki("bench", "compare", first, backward["entries"][0]["run"], "--json")
    assert (other.status, other.data["comparisons"][0]["verdict"]) == (1, "INCOMPARABLE")


def test_a_workload_is_planned_by_its_slug_or_digest_as_it_is(
    terminal: Terminal, home: Path
) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    terminal.ki("bench", "ingest", str(folder))
    slug = "rms-norm-tokens512-hidden1024-fp32-controlled"
    again = home / "again.json"
    assert terminal.ki("bench", "plan", slug, *CPU, "--out", str(again)).status == 0
    first, second = load_plan(home / "plan.json").points[0], load_plan(again).points[0]
    assert (first.id, first.axes, first.dtypes) == (second.id, second.axes, second.dtypes)


def test_a_plan_whose_number_is_taken_meanwhile_leaves_no_file(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(terminal, home)
    monkeypatch.setattr("kernelindex.cli.bench.runner.next_number", lambda _: 1)
    target = home / "second.json"
    asked = ("bench", "plan", *SHAPE, *CPU, "--out", str(target))
    done = terminal.ki(*asked)
    assert done.status == 1
    assert "the next batch is number 2, not 1" in done.err
    assert not target.exists()
    assert not list(home.glob("*.part"))


def test_a_revoked_key_is_not_approved_again_on_the_way(terminal: Terminal, home: Path) -> None:
    first = make_batch(home / "first", load_plan(planned(terminal, home)))
    assert terminal.ki("bench", "ingest", str(first), "--approve", "ada").status == 0
    key = (home / "runners" / "local" / "public.key").read_text().strip()
    word = ("--actor", "grace", "--reason", "the disk was stolen")
    assert terminal.ki("evidence", "keys", "revoke", key, *word).status == 0
    second = make_batch(home / "second", load_plan(planned(terminal, home)))
    done = terminal.ki("bench", "ingest", str(second), "--approve", "ada", "--json").data
    assert done["approved"] is False
    assert done["said"][0].startswith(
        "grace revoked local's key in this index (the disk was stolen)"
    )


def test_compare_says_why_a_candidate_that_was_measured_has_no_verdict(
    terminal: Terminal, home: Path
) -> None:
    folder = make_batch(
        home / "batch", load_plan(planned(terminal, home)), status="unstable", text="it wavers"
    )
    done = terminal.ki("bench", "compare", "RMSNorm", "numpy-rms-norm", "--batch", str(folder))
    assert done.status == 1
    assert "no verdict in" in done.err
    assert "RMSNorm in numpy: unstable" in done.err


def test_a_plan_of_another_version_says_which(terminal: Terminal, home: Path) -> None:
    folder = make_batch(home / "batch", load_plan(planned(terminal, home)))
    text = (folder / batch_files.PLAN).read_text()
    (folder / batch_files.PLAN).write_text(text.replace('"formatVersion": 1', '"formatVersion": 2'))
    done = terminal.ki("bench", "ingest", str(folder))
    assert done.status == 1
    assert "plan.json: formatVersion: saw 2, wanted 1" in done.err


def test_an_unsettled_batch_of_a_busy_machine_says_so(terminal: Terminal, home: Path) -> None:
    busy = [[{"after": {"load": 6.5, "runnable": 5}}]]
    for name, status, said in (("waver", "unstable", True), ("steady", "passed", False)):
        plan = load_plan(planned(terminal, home))
        folder = make_batch(home / name, plan, status=status, telemetry=busy)
        out = terminal.ki("bench", "ingest", str(folder)).out
        seen = "the machine was busy: load 6.5 on 2 cores, 4 other threads waiting for one"
        assert (seen in out) is said


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN"])
@pytest.mark.parametrize(
    "asked",
    [
        ("run", "rms-norm", "--device", "cpu", "--time"),
        ("run", "rms-norm", "--device", "cpu", "--round-seconds"),
        ("plan", "rms-norm", "--device", "cpu", "--out", "plan.json", "--time"),
        ("reproduce", "0" * 12, "--device", "cpu", "--time"),
    ],
)
def test_numbers_that_are_none_are_refused_as_usage(
    terminal: Terminal, asked: tuple[str, ...], value: str
) -> None:
    said = terminal.ki("bench", *asked, value)
    assert said.status == 2
    assert f"Invalid value for '{asked[-1]}'" in said.err
    assert "in the range" in said.err
