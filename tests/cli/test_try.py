"""``ki try``: what it says of a kernel, what it exits with, what its JSON holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.runner.recording.factories import make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex.runner.plan import Plan
    from tests.cli.factories import Terminal

BUSY = [[{"after": {"load": 7.5, "runnable": 6}}, {"after": {"load": 7.1, "runnable": 4}}]]
QUIET = [[{"after": {"load": 1.2, "runnable": 1}}]]
WAVERING = {
    "status": "unstable",
    "reason": "generations_differ",
    "text": "generations differ: half width 57.0% of the median",
}


class Trials:
    """``ki try`` with a batch made by hand in the worker's place."""

    def __init__(self, terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.terminal = terminal
        self.file = folder / "mine.py"
        self.file.write_text("import torch\n\ndef rms(x, weight):\n    return x\n")
        self.changes: dict[str, Any] = {}
        monkeypatch.setattr("kernelindex.cli.bench.trial.follow", self._follow)
        rivals = frozenset({"numpy", "torch"})  # planned, not run: whatever is installed here
        monkeypatch.setattr("kernelindex.cli.bench.question.installed_packages", lambda: rivals)

    def _follow(self, plan: Plan, folder: Path, **_: object) -> None:
        make_batch(folder, plan, **self.changes)

    def ki(self, *more: str, function: str = "rms", **changes: Any) -> Any:
        self.changes = changes
        shape = ("tokens=512", "hidden=1024", "--device", "cpu")
        return self.terminal.ki(
            "try", f"{self.file}:{function}", "--like", "rms-norm", *shape, *more
        )


@pytest.fixture
def trials(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trials:
    return Trials(terminal, tmp_path, monkeypatch)


def test_a_right_kernel_exits_with_0_and_shows_verdicts_with_intervals(trials: Trials) -> None:
    done = trials.ki()
    assert done.status == 0
    assert "mine.py:rms · forward · correct\n" in done.out
    assert "SLOWER" in done.out
    assert "FASTER" in done.out
    assert "settle" not in done.out.replace("to settle", "")


def test_a_wavering_time_on_a_busy_machine_says_so_and_what_to_do(trials: Trials) -> None:
    done = trials.ki(**WAVERING, telemetry=BUSY)
    assert done.status == 0
    said = " ".join(done.out.split())
    assert "correct, its time is not settled" in said
    assert "generations differ: half width 57.0% of the median; its processes took" in said
    assert "busy: load 7.3 on 2 cores, 4 other threads waiting for one. To settle it: run" in said
    assert "OMP_NUM_THREADS=1" in said
    assert "FASTER" in said


def test_a_wavering_time_on_a_quiet_machine_is_not_put_down_to_it(trials: Trials) -> None:
    said = " ".join(trials.ki(**WAVERING, telemetry=QUIET).out.split())
    assert "the machine was not busy (load 1.2 on 2 cores, 0 other threads" in said
    assert "--generations 6" in said


def test_a_refusal_on_a_busy_machine_says_that_it_was_busy(trials: Trials) -> None:
    refused = {"status": "suspected_reward_hack", "reason": "slows_next", "text": "the anchor"}
    done = trials.ki(**refused, telemetry=BUSY)
    assert done.status == 1
    assert "where you doubt this, run it again when less runs: load 7.3 on 2 cores" in done.out
    assert "busy" not in trials.ki(**refused, telemetry=QUIET).out


def test_a_reason_is_said_once(trials: Trials) -> None:
    text = "wrong on stress: y: relative Frobenius error is 4.94"
    done = trials.ki(status="incorrect_numerical", reason="wrong_on_stress", text=text)
    assert done.out.count("wrong on stress") == 1


def test_json_has_the_same_keys_whatever_became_of_it(trials: Trials) -> None:
    passed = trials.ki("--json").data["trials"][0]
    assert (passed["correct"], passed["settled"], passed["machine"]["busy"]) == (True, True, False)
    assert passed["against"][0]["verdict"] == "SLOWER"
    wavering = trials.ki("--json", **WAVERING, telemetry=BUSY).data["trials"][0]
    assert (wavering["correct"], wavering["settled"]) == (True, False)
    assert wavering["machine"] == {
        "cores": 2,
        "load": 7.3,
        "others": 4.0,
        "threads": "2",
        "busy": True,
    }
    outputs = {"y": {"passed": False, "frobenius": 4.9}}
    correctness = {"outputs": outputs, "draws": ["stress"], "timedCallsChecked": 0}
    refused = trials.ki("--json", status="incorrect_numerical", correctness=correctness)
    assert refused.status == 1
    wrong = refused.data["trials"][0]
    assert (wrong["correct"], wrong["settled"], wrong["medianNs"]) == (False, False, None)
    assert wrong.keys() == passed.keys() == wavering.keys()


def test_a_file_that_is_looked_for_beside_it_is_explained(trials: Trials) -> None:
    text = "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/eps.txt'"
    done = trials.ki(status="runtime_error", reason="raised", text=text)
    said = " ".join(done.out.split())
    assert f"raised: {text}; a copy of the file is run alone" in said


def test_what_is_no_function_is_said_before_anything_runs(trials: Trials) -> None:
    done = trials.ki("--json", function="rsm")
    assert done.status == 1
    assert done.data["error"]["code"] == "candidate.function"
    assert "did you mean rms?" in done.data["error"]["message"]


def test_a_trial_that_ran_out_of_time_says_so(trials: Trials) -> None:
    text = "the batch ended before it was measured"
    done = trials.ki(
        status="aborted", reason="not_measured", text=text, samplesNs=[], correctness=None
    )
    assert done.status == 1
    assert f"not measured: {text}\n300 s are allowed; load " in done.out


def test_stopped_by_hand_it_is_one_json_object(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelindex.cli.bench.trial.follow", stop)
    done = trials.ki("--json")
    assert (done.status, done.data["error"]["code"]) == (1, "stopped")
    plain = trials.ki()
    assert (plain.status, plain.out, plain.err.strip()) == (1, "", "ki: stopped")


def test_what_a_kernel_raises_is_cut_where_it_is_shown_and_kept_in_json(trials: Trials) -> None:
    text = f"ValueError: {'long ' * 700}end"
    raised = {"status": "runtime_error", "reason": "raised", "text": text}
    said = " ".join(trials.ki(**raised).out.split())
    assert "raised: ValueError: long long" in said
    assert "long…" in said
    assert "end" not in said
    assert len(said) < 1000
    assert trials.ki("--json", **raised).data["trials"][0]["text"] == text


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("No module named 'fastkit'; install it", "fastkit"),
        ("forward: ModuleNotFoundError: No module named 'fastkit.ops'", "fastkit"),
        (
            "fk.ops cannot be imported (No module named 'fk'); install fast-kit to measure it",
            "fast-kit",
        ),
    ],
)
def test_a_missing_package_is_no_error_of_the_kernel(
    trials: Trials, text: str, package: str
) -> None:
    done = trials.ki(status="runtime_error", reason="package_missing", text=text)
    assert done.status == 1
    assert "mine.py:rms · forward · cannot run here\n" in done.out
    assert f"package {package} is missing\n" in done.out
    assert "runtime error" not in done.out.partition("no verdict")[0]
