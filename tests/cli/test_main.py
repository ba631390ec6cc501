from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelindex.catalog.cursors import MAX_LIMIT
from kernelindex.catalog.rows import Found
from kernelindex.cli.failures import report
from kernelindex.cli.main import LAZY
from kernelindex.cli.options import MAX_ROWS
from kernelindex.cli.terminal import clean
from kernelindex.errors import RequestError
from tests.cli.factories import Terminal
from tests.resolve.factories import FakeCatalog, digest, record_catalog

OPERATION = {
    "apiVersion": "kernelindex.dev/v1alpha1",
    "kind": "OperationSpec",
    "metadata": {"name": "add"},
    "spec": {
        "family": "elementwise",
        "axes": {"n": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x", "tensor": {"shape": ["n"], "dtype": "float"}}],
        "outputs": [{"name": "y", "tensor": {"shape": ["n"], "dtype": "float"}}],
        "semantics": {"mutation": "none", "determinism": "deterministic"},
    },
}
HEAVY = {"sqlalchemy", "numpy", "rich.table", "pydantic", "yaml", "httpx2"}


def write(folder: Path, document: object, name: str = "m.json") -> str:
    path = folder / name
    path.write_text(json.dumps(document))
    return str(path)


def modules_after(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom kernelindex.cli.main import main\n"
        f"main({list(arguments)!r})\nprint(' '.join(sys.modules), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stderr.split())


def test_help_imports_no_command_and_nothing_heavy() -> None:
    loaded = modules_after("--help")
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("kernelindex.cli.commands.")} == set()


def test_digest_opens_no_database_and_draws_no_table(tmp_path: Path) -> None:
    loaded = modules_after("digest", write(tmp_path, OPERATION))
    assert loaded & {"sqlalchemy", "numpy", "rich.table", "httpx2", "kernelindex.catalog"} == set()


@pytest.mark.parametrize("command", ["digest", "validate"])
def test_a_folder_is_not_a_manifest(terminal: Terminal, tmp_path: Path, command: str) -> None:
    outcome = terminal.ki(command, str(tmp_path))
    assert outcome.status == 2
    assert "is a directory" in outcome.err
    assert "bug" not in outcome.err


def test_a_list_takes_no_more_rows_than_the_catalog_reads() -> None:
    assert MAX_ROWS == MAX_LIMIT


def test_a_file_that_is_no_database_is_not_called_a_bug(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(b"no database at all, only some words" * 100)
    outcome = terminal.ki("--db", f"sqlite:///{tmp_path / 'junk.db'}", "runs")
    assert outcome.status == 1
    assert "file is not a database" in outcome.err
    assert "bug" not in outcome.err


def test_a_refusal_says_its_message_once(capsys: pytest.CaptureFixture[str]) -> None:
    told = [{"text": "Got nosuch at gpu."}, {"text": "Got never at pass."}]
    error = RequestError("Got nosuch at gpu.", code="request.hardware_unknown", problems=told)
    assert report(error, as_json=False) == 1
    assert capsys.readouterr().err.splitlines() == [
        "ki: Got nosuch at gpu. [request.hardware_unknown]",
        "    Got never at pass.",
    ]


def test_help_lists_every_command(terminal: Terminal) -> None:
    outcome = terminal.ki("--help")
    assert outcome.status == 0
    assert [name for name in LAZY if f"\n  {name} " not in outcome.out] == []


@pytest.mark.parametrize("name", LAZY)
def test_every_command_has_help(terminal: Terminal, name: str) -> None:
    outcome = terminal.ki(name, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith(f"Usage: ki {name}")


def test_digest_prints_the_digest_alone(terminal: Terminal, tmp_path: Path) -> None:
    outcome = terminal.ki("digest", write(tmp_path, OPERATION))
    assert outcome.status == 0
    assert outcome.out.startswith("sha256:")
    assert len(outcome.out) == len("sha256:") + 64 + 1


def test_a_refused_manifest_names_path_value_and_rule(terminal: Terminal, tmp_path: Path) -> None:
    spec = {**OPERATION["spec"], "popularity": 9001}
    file = write(tmp_path, {**OPERATION, "spec": spec})
    outcome = terminal.ki("validate", file)
    assert outcome.status == 1
    assert "spec.popularity: unknown_field; got 9001" in outcome.out
    alone = terminal.ki("digest", file).err.splitlines()
    assert len(alone) == 1
    assert "spec.popularity: saw 9001" in alone[0]
    outcome = terminal.ki("digest", file, "--json")
    assert (outcome.status, outcome.data["error"]["code"]) == (1, "manifest.invalid")


def test_validate_reports_each_file(terminal: Terminal, tmp_path: Path) -> None:
    good, bad = write(tmp_path, OPERATION), write(tmp_path, {"kind": "Nothing"}, "bad.json")
    outcome = terminal.ki("validate", good, bad, "--json")
    assert outcome.status == 1
    assert [item["valid"] for item in outcome.data["files"]] == [True, False]


def test_schema_is_a_schema_and_a_wrong_kind_is_corrected(terminal: Terminal) -> None:
    assert terminal.ki("schema", "benchmarkrun").data["$schema"].startswith("https://json-schema")
    outcome = terminal.ki("schema", "BenchmarkRan")
    assert outcome.status == 2
    assert "did you mean BenchmarkRun?" in outcome.err


def test_an_unknown_command_is_corrected(terminal: Terminal) -> None:
    outcome = terminal.ki("resolv", "moe")
    assert (outcome.status, outcome.out) == (2, "")
    assert "no command 'resolv'; did you mean resolve?" in outcome.err


def test_a_usage_error_is_json_where_json_is_asked(terminal: Terminal) -> None:
    outcome = terminal.ki("show", "nothing", "x", "--json")
    assert outcome.status == 2
    assert outcome.data["error"]["code"] == "usage"
    assert outcome.err == ""


def test_a_missing_catalog_says_what_to_do(terminal: Terminal, tmp_path: Path) -> None:
    outcome = terminal.ki("resolve", "moe", "--db", f"sqlite:///{tmp_path}/none.db")
    assert outcome.status == 1
    assert outcome.err.startswith("ki: ")
    assert "catalog.missing" in outcome.err
    assert "Traceback" not in outcome.err


def test_an_object_that_is_not_there_is_said(terminal: Terminal) -> None:
    outcome = terminal.ki("show", "run", "deadbeef", "--json", catalog=record_catalog())
    assert (outcome.status, outcome.data["error"]["code"]) == (1, "run.not_found")


def test_several_matches_are_all_printed(terminal: Terminal) -> None:
    class Two(FakeCatalog):
        def find(self, ident: str, *kinds: str) -> list[Found]:
            ends = ("a", "b") if "BenchmarkRun" in kinds else ()
            return [
                Found(kind="BenchmarkRun", digest=digest(end), title=f"Run {end}", via="digest")
                for end in ends
            ]

    outcome = terminal.ki("show", "run", "0123abcd", catalog=Two([]))
    assert outcome.status == 1
    assert "names 2 objects" in outcome.err
    assert [line.split()[-1] for line in outcome.err.splitlines()[1:]] == ["a", "b"]


def test_an_unforeseen_error_leaves_no_traceback(terminal: Terminal) -> None:
    outcome = terminal.ki("resolve", "moe", "--json", catalog=object())
    assert (outcome.status, outcome.data["error"]["code"]) == (1, "unexpected")
    assert "KI_DEBUG=1" in outcome.data["error"]["message"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain · µs", "plain · µs"),
        ("a\nb\tc", "a b c"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("abc\u202edef", "abc\\u202edef"),
        ("x\u2066y\u2069", "x\\u2066y\\u2069"),
        ("\x9b1m", "\\u009b1m"),
    ],
)
def test_text_from_data_is_made_safe(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_sources_are_listed_with_what_they_want(terminal: Terminal) -> None:
    listed = {one["slug"] for one in terminal.ki("sources", "--json").data["sources"]}
    assert {"liger", "kernelindex-export", "manifests", "starter"} <= listed
    assert "Liger-Kernel benchmark CSV" in terminal.ki("sources").out


def test_the_version_is_printed(terminal: Terminal) -> None:
    assert terminal.ki("--version").out.startswith("ki ")


def test_a_digest_is_read_from_standard_input(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = write(tmp_path, OPERATION)
    with Path(file).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        piped = terminal.ki("digest", "-", "--json").data
    assert piped["digest"] == terminal.ki("digest", file).out.strip()
