"""A batch folder that an earlier start left damaged: set aside, or refused and left untouched."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kernelindex.runner import batch_files
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.worker.damage import find_damage
from kernelindex.runner.worker.resume import WorkerError
from tests.runner.support.plans import make_plan, open_plan

PLAN = make_plan("honest")
SEED = "ab" * 32


def begun(folder: Path, *, finished: int = 0) -> Path:
    """A folder as a killed worker leaves it."""
    folder.mkdir(parents=True)
    (folder / batch_files.PLAN).write_text(plan_to_json(PLAN))
    (folder / batch_files.SEED_SECRET).write_text(SEED)
    journal = batch_files.Journal(folder)
    for number in range(4):
        journal.write("round", number=number)
    for generation in range(finished):
        path = batch_files.generation_file(folder, 0, generation)
        batch_files.write_json(path, {"members": {}, "seconds": 1.0})
        known = batch_files.digest(path.read_bytes())
        journal.write(batch_files.FINISHED, file=path.name, digest=known)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def break_journal(folder: Path) -> None:
    lines = (folder / batch_files.JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / batch_files.JOURNAL).write_bytes(b"".join([*lines[1:], b'{"line":5,"pre']))


def write(name: str, text: str):
    return lambda folder: (folder / name).write_text(text)


DAMAGES = [
    (write(batch_files.PLAN, '{"number": 3, "run'), "plan.json", "not JSON"),
    (write(batch_files.PLAN, ""), "plan.json", "not JSON"),
    (write(batch_files.PLAN, '{"number": "three"}'), "plan.json", "number: saw"),
    (lambda folder: (folder / batch_files.PLAN).unlink(), "plan.json", "is not there"),
    (break_journal, "journal.jsonl", "line 1 is numbered 2"),
    (write(batch_files.JOURNAL, "\0\0\0\n"), "journal.jsonl", "line 1 is not an entry"),
    (write(batch_files.SEED_SECRET, SEED[:9]), "seed.secret", "9 bytes, wanted 64 hex digits"),
]
NAMES = [f"{file}: {seen}" for _, file, seen in DAMAGES]


@pytest.mark.parametrize(("damage", "file", "seen"), DAMAGES, ids=NAMES)
def test_where_nothing_was_measured_it_is_set_aside_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage, file: str, seen: str
) -> None:
    folder = begun(tmp_path / "out")
    damage(folder)
    left = contents(folder)
    batch = open_plan(PLAN, folder)
    assert contents(tmp_path / "out.torn-1") == left
    assert (folder / batch_files.PLAN).read_text() == plan_to_json(PLAN)
    entries = list(batch_files.read_journal(folder))
    assert [one["event"] for one in entries] == ["started", "set_aside"]
    said = entries[1]["text"]
    assert said.startswith(f"{file} of an earlier start is damaged (")
    assert seen in said
    assert "kept as out.torn-1 and the batch is measured anew" in said
    assert str(tmp_path) not in said
    assert said in capsys.readouterr().err
    assert batch.bench.seed != SEED


@pytest.mark.parametrize(("damage", "file", "seen"), DAMAGES, ids=NAMES)
def test_where_results_would_be_lost_it_is_refused_and_nothing_is_written(
    tmp_path: Path, damage, file: str, seen: str
) -> None:
    folder = begun(tmp_path / "out", finished=2)
    damage(folder)
    left = contents(folder)
    with pytest.raises(WorkerError) as refused:
        open_plan(PLAN, folder)
    assert refused.value.code == "worker.refused"
    text = refused.value.message
    assert text.startswith(f"{folder / file}: ")
    assert seen in text
    assert "2 generations of this batch would be lost" in text
    assert f"Put {file} back as it was, or move {folder} elsewhere" in text
    assert contents(folder) == left
    assert list(tmp_path.iterdir()) == [folder]


def test_a_journal_that_lost_every_line_is_damaged_where_something_was_finished(
    tmp_path: Path,
) -> None:
    folder = begun(tmp_path / "out", finished=1)
    (folder / batch_files.JOURNAL).write_bytes(b"")
    found = find_damage(PLAN, folder)
    assert found is not None
    assert (found.file, found.finished) == ("journal.jsonl", 1)


def test_a_torn_last_line_is_no_damage(tmp_path: Path) -> None:
    folder = begun(tmp_path / "out", finished=1)
    with (folder / batch_files.JOURNAL).open("ab") as file:
        file.write(b'{"line":6,"prev')
    before = set(threading.enumerate())
    open_plan(PLAN, folder)
    assert set(threading.enumerate()) <= before, "there is no process to watch yet"
    events = [one["event"] for one in batch_files.read_journal(folder)]
    assert events[5:] == ["torn_line_cut", "resumed"]


def test_a_folder_of_another_plan_is_left_as_it_is(tmp_path: Path) -> None:
    folder = begun(tmp_path / "out")
    break_journal(folder)
    left = contents(folder)
    with pytest.raises(WorkerError, match="another plan"):
        open_plan(make_plan("slow"), folder)
    assert contents(folder) == left


def divide(path: Path) -> None:
    batch_files.write_json(path, {"members": {}, "seconds": 0.1})


def link(path: Path) -> None:
    path.rename(path.with_suffix(".kept"))
    path.symlink_to(path.with_suffix(".kept"))


@pytest.mark.parametrize(
    ("damage", "seen"),
    [
        (divide, r"it is sha256:\w{64}, the journal says sha256:\w{64}"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:9]),
            r"it is sha256:\w{64}, the journal says sha256:",
        ),
        (lambda path: path.write_bytes(b"junk"), r"it is sha256:\w{64}, the journal says sha256:"),
        (lambda path: path.unlink(), r"it is not there, though the journal says"),
        (link, "not a regular file"),
    ],
)
def test_a_generation_that_is_not_what_was_measured_is_refused(
    tmp_path: Path, damage, seen: str
) -> None:
    folder = begun(tmp_path / "out", finished=1)
    damage(batch_files.generation_file(folder, 0, 0))
    left = contents(folder)
    with pytest.raises(WorkerError, match=rf"generations/0-0\.json\.gz: {seen}") as refused:
        open_plan(PLAN, folder)
    assert "1 generation of this batch would be lost" in refused.value.message
    assert contents(folder) == left


def test_a_generation_that_the_journal_does_not_name_is_measured_anew(tmp_path: Path) -> None:
    folder = begun(tmp_path / "out", finished=1)
    later = batch_files.generation_file(folder, 0, 1)
    later.write_bytes(b"of a worker that was killed before it said that this is finished")
    assert [len(one) for one in open_plan(PLAN, folder).done.values()] == [1]


def test_the_outcome_of_an_earlier_start_goes_when_a_batch_is_taken_up(tmp_path: Path) -> None:
    folder = begun(tmp_path / "out", finished=1)
    (folder / batch_files.OUTCOME).write_text('{"status":"cut_short"}')
    open_plan(PLAN, folder)
    assert not (folder / batch_files.OUTCOME).exists()
