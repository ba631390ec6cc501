from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex.runner.channel import Refusal
from kernelindex.runner.plan import Candidate
from kernelindex.runner.probe import candidate as loading
from kernelindex.runner.probe.candidate import digest_files, load_candidate, versions


@pytest.fixture(autouse=True)
def _fresh_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, loading._FILE_MODULE, raising=False)
    monkeypatch.setitem(sys.modules, loading._FILE_MODULE, None)
    del sys.modules[loading._FILE_MODULE]


def make(entry: str, file: str | None = None, prepare: str | None = None) -> Candidate:
    return Candidate(
        id="someone/kernel",
        entry=entry,
        passes=("inference",),
        file=file,
        prepare=prepare,
        packages=("numpy", "no-such-package"),
    )


def test_a_function_of_a_file_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "helper_of_kernel.py").write_text("FACTOR = 3\n")
    source = "from helper_of_kernel import FACTOR\n\ndef mine(x):\n    return FACTOR * x\n"
    (tmp_path / "kernel.py").write_text(source)
    loaded = load_candidate(make("mine", file="kernel.py"), tmp_path)
    assert loaded.function(2) == 6
    assert loaded.import_ns > 0
    assert loaded.source_digest == digest_files([tmp_path / "kernel.py"])
    assert set(loaded.packages) == {"numpy"}


def test_a_function_of_a_module_and_one_that_prepares() -> None:
    candidate = make("json:dumps", prepare="json:loads")
    loaded = load_candidate(candidate, None)
    assert loaded.function([1]) == "[1]"
    assert loaded.prepare is not None
    assert loaded.prepare("[2]") == [2]


def test_digest_changes_with_a_byte_and_with_a_name(tmp_path: Path) -> None:
    one, other = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("x = 1\n")
    other.write_text("x = 1\n")
    before = digest_files([one])
    assert before.startswith("sha256:")
    assert digest_files([other]) != before
    one.write_text("x = 2\n")
    assert digest_files([one]) != before


@pytest.mark.parametrize(
    ("source", "status", "code"),
    [
        ("def mine(:\n", "compile_error", "syntax"),
        ("import no_such_module_anywhere\n", "unsupported", "package_missing"),
        ("raise RuntimeError('no')\n", "runtime_error", "raised"),
        ("other = 1\n", "unsupported", "function_missing"),
        ("mine = 5\n", "unsupported", "function_missing"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_a_code(
    tmp_path: Path, source: str, status: str, code: str
) -> None:
    (tmp_path / "kernel.py").write_text(source)
    with pytest.raises(Refusal) as caught:
        load_candidate(make("mine", file="kernel.py"), tmp_path)
    assert (caught.value.status, caught.value.code) == (status, code)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"gone\.py"):
        load_candidate(make("mine", file="gone.py"), tmp_path)


def test_a_function_that_is_not_there_is_missed_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("other = 1\n")
    with pytest.raises(Refusal) as caught:
        load_candidate(make("mine", file="kernel.py"), tmp_path)
    assert caught.value.text == "kernel.py has no function 'mine'"


def test_versions_leave_out_what_is_not_installed() -> None:
    assert set(versions(["numpy", "no-such-package"])) == {"numpy"}
