"""Whole batches over small fake programs: what candidates do, a batch survives."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelindex.runner import batch_files, bound_files
from kernelindex.runner.plan import Limits, plan_to_json
from kernelindex.runner.worker.resume import WorkerError
from tests.runner.support.plans import make_plan, open_plan, run_plan

pytestmark = pytest.mark.slow

# Nothing waits for this long but who hangs: how soon an interpreter starts is no part of a test.
ONE = {"generations": 1, "max_generations": 1, "command_timeout_seconds": 60.0}
# A process has twice that to start and to make its first call.
IMPATIENT = {**ONE, "command_timeout_seconds": 5.0}


def statuses(batch) -> dict[str, tuple[str, str]]:
    return {one["candidate"]: (one["status"], one["reason"]) for one in batch.series}


def events(folder: Path, name: str) -> list[dict]:
    return [dict(one) for one in batch_files.read_journal(folder) if one["event"] == name]


def test_one_of_each_kind_of_trouble_leaves_the_batch_complete(tmp_path) -> None:
    plan = make_plan(
        *("honest", "crash", "exit", "raise", "wrong", "wrong_later", "flood", "forge", "lying"),
        *("print", "crash@measure/forward", "raise@load"),
        *("starts", "starts_wrong", "defers"),
        **ONE,
    )
    status, batch = run_plan(plan, tmp_path / "out")

    assert status == "complete"
    assert statuses(batch) == {
        "honest": ("passed", ""),
        "print": ("passed", ""),
        "starts": ("passed", ""),
        "starts_wrong": ("incorrect_numerical", "wrong_values"),
        "defers": ("suspected_reward_hack", "work_after_return"),
        "crash": ("runtime_error", "crashed"),
        "crash@measure/forward": ("runtime_error", "crashed"),
        "exit": ("runtime_error", "exited"),
        "raise": ("runtime_error", "RuntimeError"),
        "raise@load": ("runtime_error", "RuntimeError"),
        "wrong": ("incorrect_numerical", "wrong_values"),
        "wrong_later": ("suspected_reward_hack", "wrong_when_timed"),
        "flood": ("policy_violation", "malformed_reply"),
        "forge": ("policy_violation", "forged_reply"),
        "lying": ("suspected_reward_hack", "events_exceed_wall"),
    }
    again = {one["candidate"] for one in events(tmp_path / "out", "asked_again")}
    assert again == {"starts", "starts_wrong", "defers"}
    (starts,) = (one for one in batch.series if one["candidate"] == "starts")
    doubts = {one["code"] for one in starts["doubts"]}
    assert doubts == {"ASKED_AGAIN", "NOT_ISOLATED"}
    printed = next(
        one for one in events(tmp_path / "out", "process_ended") if "print" in one["name"]
    )
    assert printed["output_discarded"] > 6 << 20


def test_who_does_not_answer_in_time_leaves_the_batch_complete(tmp_path) -> None:
    status, batch = run_plan(make_plan("hang", "spin", "drip", **IMPATIENT), tmp_path / "out")

    assert status == "complete"
    assert statuses(batch) == dict.fromkeys(("hang", "spin", "drip"), ("timeout", "hung"))


def test_the_folder_is_whole_and_its_chain_holds(tmp_path) -> None:
    folder = tmp_path / "out"
    run_plan(make_plan("honest", "slow"), folder)
    outcome = batch_files.read_json(folder / batch_files.OUTCOME)
    seed = batch_files.read_json(folder / batch_files.SEED)
    started = events(folder, "started")[0]

    assert outcome["status"] == "complete"
    assert batch_files.check_journal(folder, outcome["journal"]["head"]).problem is None
    assert seed["commitment"] == batch_files.digest(seed["seed"].encode()) == started["commitment"]
    assert not (folder / batch_files.SEED_SECRET).exists()
    assert batch_files.read_json(folder / batch_files.FACTS)["isolation"]["kind"] == "limits"
    calibration = batch_files.read_json(folder / batch_files.CALIBRATION)
    assert len(calibration["anchor"]["medians"]) == 2
    assert len(calibration["sentinels"]) == 2
    assert calibration["withinLimits"] is True
    series = [batch_files.read_json(path) for path in batch_files.series_files(folder)]
    shapes = [[len(generation) for generation in one["samplesNs"]] for one in series]
    assert {one["firstCallNs"] for one in series} == {900.0}
    assert shapes == [[2, 2], [2, 2]]
    finished = events(folder, "generation_finished")
    assert [one["generation"] for one in finished] == [0, 1]
    assert [one["round"] for one in events(folder, "round")] == [0, 1, 0, 1]
    checks = [(one["draw"], one["timed"]) for one in events(folder, "checked")]
    # A later generation is other processes of the same code: its own draw will do.
    assert (checks.count(("stress", False)), checks.count(("own", False))) == (1, 2)
    assert checks.count(("own", True)) == 4
    path = batch_files.generation_file(folder, 0, 1)
    assert finished[1]["digest"] == batch_files.digest(path.read_bytes())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]
    (ended,) = events(folder, "ended")
    assert list(bound_files.changes(folder, ended)) == []
    assert outcome == bound_files.outcome_of(ended, ended["line"], outcome["journal"]["head"])
    unnamed = {batch_files.JOURNAL, batch_files.OUTCOME}
    there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert set(ended["files"]) == there - unnamed


def test_eating_memory_ends_one_candidate_only(tmp_path) -> None:
    plan = make_plan("memory", "honest", **ONE)
    limited = replace(plan.points[0], limits=Limits(memory_bytes=400 << 20))
    batch = open_plan(replace(plan, points=(limited,)), tmp_path / "out")
    batch.run()

    assert statuses(batch)["memory"] == ("resource_exceeded", "memory_exhausted")
    assert statuses(batch)["honest"] == ("passed", "")


def test_a_pass_that_fails_leaves_the_other_passes(tmp_path) -> None:
    plan = make_plan("raise@backward", passes=("forward", "backward"), **ONE)
    _, batch = run_plan(plan, tmp_path / "out")

    assert {one["pass"]: one["status"] for one in batch.series} == {
        "forward": "passed",
        "backward": "runtime_error",
    }


def test_a_trial_whose_own_file_is_refused_is_over(tmp_path) -> None:
    plan = make_plan("raise", "honest", generations=3, max_generations=3)
    point = plan.points[0]
    own = replace(point.candidates[0], file="mine.py")
    point = replace(point, candidates=(own, *point.candidates[1:]))
    status, batch = run_plan(replace(plan, purpose="try", points=(point,)), tmp_path / "out")

    assert status == "complete"
    assert statuses(batch)["raise"] == ("runtime_error", "RuntimeError")
    assert statuses(batch)["honest"] == ("aborted", "not_measured")
    assert len(events(tmp_path / "out", "generation_started")) == 1
    assert [one["code"] for one in events(tmp_path / "out", "refused")] == ["RuntimeError"]
    assert events(tmp_path / "out", "round") == []


def test_daemons_are_killed_and_counted(tmp_path) -> None:
    run_plan(make_plan("daemon", **ONE), tmp_path / "out")
    ended = [one for one in events(tmp_path / "out", "process_ended") if "daemon" in one["name"]]

    assert ended[0]["leftovers_killed"] >= 1
    assert _running_in(tmp_path) == []


def _numbers() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def test_work_hidden_from_the_timer_shows_in_the_workers_clock(tmp_path) -> None:
    _, batch = run_plan(make_plan("hidden_work", "honest", **ONE), tmp_path / "out")

    assert statuses(batch)["hidden_work"] == ("suspected_reward_hack", "slope_disagrees")
    assert statuses(batch)["honest"][0] == "passed"


def test_candidates_that_do_not_fit_together_run_apart_and_it_is_said(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("OMP_FAKE_MEMORY", str(tmp_path / "memory"))
    plan = make_plan("oom_together", "honest", "slow", **ONE)
    other = plan.points[0].candidates[0]
    twin = replace(other, id="oom_twin")
    point = replace(plan.points[0], candidates=(*plan.points[0].candidates, twin))
    _, batch = run_plan(replace(plan, points=(point,)), tmp_path / "out")

    assert {status for status, _ in statuses(batch).values()} == {"passed"}
    assert len(events(tmp_path / "out", "swapped")) == 1
    codes = [[doubt["code"] for doubt in one["doubts"]] for one in batch.series]
    assert sorted(codes, key=len) == [["NOT_ISOLATED"]] * 3 + [["NOT_ISOLATED", "NOT_INTERLEAVED"]]


def test_a_batch_cut_short_keeps_what_it_has_and_is_taken_up(tmp_path) -> None:
    folder, plan = tmp_path / "out", make_plan("honest")
    batch = open_plan(plan, folder)
    write = batch.bench.journal.write

    def stop_after_the_first(event: str, **fields: object) -> None:
        batch.bench.stop = event == "generation_finished"
        write(event, **fields)

    batch.bench.journal.write = stop_after_the_first
    assert batch.run() == "cut_short"
    first = batch_files.generation_file(folder, 0, 0)
    kept = batch_files.digest(first.read_bytes())
    outcome = batch_files.read_json(folder / batch_files.OUTCOME)
    assert outcome["missing"] == ["point-0 generation 1"]
    assert (folder / batch_files.SEED_SECRET).exists()
    assert not (folder / batch_files.SEED).exists()
    assert statuses(batch) == {"honest": ("aborted", "generations_missing")}

    status, batch = run_plan(plan, folder)

    assert status == "complete"
    assert batch_files.digest(first.read_bytes()) == kept
    assert statuses(batch) == {"honest": ("passed", "")}


def test_rounds_of_a_generation_cut_short_are_kept_and_measured_anew(tmp_path) -> None:
    folder, plan = tmp_path / "out", make_plan("honest", **ONE)
    batch = open_plan(plan, folder)
    write = batch.bench.journal.write

    def stop_after_a_round(event: str, **fields: object) -> None:
        batch.bench.stop = event == "round"
        write(event, **fields)

    batch.bench.journal.write = stop_after_a_round
    assert batch.run() == "cut_short"
    (abandoned,) = (folder / "abandoned").iterdir()
    kept = batch_files.read_json(abandoned)["members"]["honest"]["series"]
    assert [len(one["samplesNs"]) for one in kept.values()] == [1]
    assert events(folder, "generation_abandoned")[0]["file"] == abandoned.name
    assert statuses(batch) == {"honest": ("aborted", "not_measured")}

    status, batch = run_plan(plan, folder)

    assert (status, statuses(batch)) == ("complete", {"honest": ("passed", "")})


def test_a_generation_that_would_not_end_in_time_is_not_begun(tmp_path) -> None:
    status, batch = run_plan(make_plan("honest", budget=5.0), tmp_path / "out")

    assert status == "cut_short"
    assert statuses(batch) == {"honest": ("aborted", "not_measured")}
    assert events(tmp_path / "out", "process_started") == []


def _start(tmp_path: Path, plan) -> subprocess.Popen:
    (tmp_path / "plan.json").write_text(plan_to_json(plan))
    command = [sys.executable, "-m", "tests.runner.support.run_fake"]
    arguments = [str(tmp_path / "plan.json"), str(tmp_path / "out")]
    return subprocess.Popen([*command, *arguments], stderr=subprocess.DEVNULL)


def _wait_until(true: Callable[[], bool], process: subprocess.Popen | None = None) -> None:
    """Until ``true``, which takes moments; fails once ``process`` has ended or after minutes."""
    deadline = time.monotonic() + 300
    while not true():
        assert process is None or process.poll() is None, "it ended before"
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def _has_begun(folder: Path, generation: int) -> bool:
    """Whether a worker at work has started this generation, and a process of it."""
    path = folder / batch_files.JOURNAL
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []  # the last may be torn
    written = [json.loads(line) for line in lines]
    started = [one.get("generation") == generation for one in written]
    after = written[started.index(True) :] if True in started else []
    return any(one["event"] == "process_started" for one in after)


def _running_in(folder: Path) -> list[str]:
    return [pid for pid in _numbers() if str(folder) in _where(pid)]


def _where(pid: str) -> str:
    try:
        return str(Path("/proc", pid, "cwd").readlink())
    except OSError:
        return ""


def test_after_sigkill_nothing_is_left_and_nothing_is_measured_twice(tmp_path) -> None:
    folder, plan = tmp_path / "out", make_plan("honest", "slow")
    process = _start(tmp_path, plan)
    first = batch_files.generation_file(folder, 0, 0)
    _wait_until(lambda: _has_begun(folder, 1), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _wait_until(lambda: _running_in(tmp_path) == [])
    kept = batch_files.digest(first.read_bytes())
    status, batch = run_plan(plan, folder)

    assert status == "complete"
    assert batch_files.digest(first.read_bytes()) == kept
    finished = [one["generation"] for one in events(folder, "generation_finished")]
    assert finished == [0, 1]
    commitments = {one["commitment"] for one in events(folder, "started")}
    assert commitments == {one["commitment"] for one in events(folder, "resumed")}
    assert {status for status, _ in statuses(batch).values()} == {"passed"}


def test_sigterm_ends_it_in_order(tmp_path) -> None:
    folder = tmp_path / "out"
    process = _start(tmp_path, make_plan("honest", "slow"))
    _wait_until(lambda: _has_begun(folder, 0), process)
    process.send_signal(signal.SIGTERM)

    assert process.wait(300) == 3
    assert batch_files.read_json(folder / batch_files.OUTCOME)["status"] == "cut_short"
    assert events(folder, "cut_short")[0]["reason"] == "signal"


def test_another_plans_folder_is_refused(tmp_path) -> None:
    folder = tmp_path / "out"
    run_plan(make_plan("honest", **ONE), folder)

    with pytest.raises(WorkerError, match="another plan"):
        run_plan(make_plan("slow", **ONE), folder)
