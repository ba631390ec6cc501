import pytest

from kernelindex.runner.batch_files import (
    JOURNAL,
    Journal,
    check_journal,
    read_journal,
    read_json,
    series_files,
    write_json,
)


def written(folder, count: int = 4) -> Journal:
    journal = Journal(folder)
    for number in range(count):
        journal.write("round", number=number)
    return journal


def lines(folder) -> list[bytes]:
    return (folder / JOURNAL).read_bytes().splitlines(keepends=True)


def test_an_untouched_journal_holds(tmp_path) -> None:
    journal = written(tmp_path)
    check = check_journal(tmp_path, journal.head)

    assert (check.lines, check.head, check.problem) == (4, journal.head, None)
    assert [entry["number"] for entry in read_journal(tmp_path)] == [0, 1, 2, 3]


@pytest.mark.parametrize("at", range(4))
def test_a_deleted_line_is_found(tmp_path, at) -> None:
    head = written(tmp_path).head
    kept = lines(tmp_path)
    (tmp_path / JOURNAL).write_bytes(b"".join(kept[:at] + kept[at + 1 :]))

    assert check_journal(tmp_path, head).problem is not None


def test_reordered_lines_are_found(tmp_path) -> None:
    written(tmp_path)
    kept = lines(tmp_path)
    kept[1], kept[2] = kept[2], kept[1]
    (tmp_path / JOURNAL).write_bytes(b"".join(kept))

    assert check_journal(tmp_path).problem is not None


@pytest.mark.parametrize("at", range(4))
def test_a_changed_value_is_found(tmp_path, at) -> None:
    head = written(tmp_path).head
    kept = lines(tmp_path)
    kept[at] = kept[at].replace(f'"number":{at}'.encode(), b'"number":9')
    (tmp_path / JOURNAL).write_bytes(b"".join(kept))

    assert check_journal(tmp_path, head).problem is not None


def test_a_journal_is_taken_up_and_a_torn_line_cut(tmp_path) -> None:
    written(tmp_path, 2)
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"line":3,"prev')
    journal = Journal(tmp_path)
    journal.write("resumed")

    assert [entry["event"] for entry in read_journal(tmp_path)] == [
        *("round", "round", "torn_line_cut", "resumed")
    ]
    assert check_journal(tmp_path, journal.head).problem is None


def test_a_broken_journal_is_not_taken_up(tmp_path) -> None:
    written(tmp_path)
    (tmp_path / JOURNAL).write_bytes(b"".join(lines(tmp_path)[1:]))

    with pytest.raises(ValueError, match="line 1 is numbered 2"):
        Journal(tmp_path)


def test_a_broken_journal_keeps_its_torn_line(tmp_path) -> None:
    written(tmp_path)
    broken = b"".join(lines(tmp_path)[1:]) + b'{"line":5,"prev'
    (tmp_path / JOURNAL).write_bytes(broken)

    with pytest.raises(ValueError, match="start a new batch folder"):
        Journal(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == broken


def test_compressed_json_is_the_same_bytes_each_time(tmp_path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        write_json(tmp_path / name, {"b": [1.5], "a": "µ"})

    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert read_json(tmp_path / "a.json.gz") == {"a": "µ", "b": [1.5]}
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_file_that_unpacks_too_large_is_refused(tmp_path) -> None:
    write_json(tmp_path / "a.json.gz", "x" * 10_000)

    with pytest.raises(ValueError, match="unpacks to more than 1000"):
        read_json(tmp_path / "a.json.gz", limit_bytes=1000)


def test_not_finite_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", float("nan"))


def test_series_come_in_number_order(tmp_path) -> None:
    for number in (10, 9, 2):
        write_json(tmp_path / "series" / f"{number}.json.gz", number)

    assert [read_json(path) for path in series_files(tmp_path)] == [2, 9, 10]
