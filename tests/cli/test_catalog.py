"""Commands over a real catalog of the packaged evidence, made by the commands themselves."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from kernelindex.catalog import Catalog, import_records
from kernelindex.cli.main import main
from tests.catalog.factories import make_snapshot
from tests.catalog.test_checking import make_odd_row
from tests.cli.factories import Terminal
from tests.resolve.factories import RECORD_QUERY

WORDS = RECORD_QUERY.split()
IMPORT_KEYS = {"read", "added", "existing", "superseding", "skipped"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "ki.db"
    assert main(["import", "starter", "--json", "--db", f"sqlite:///{path}"]) == 0
    return path


@pytest.fixture
def database(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ki.db"
    shutil.copy(template, path)
    monkeypatch.setenv("KI_DB", f"sqlite:///{path}")
    return path


def runs(terminal: Terminal) -> list[str]:
    cohorts = terminal.ki("resolve", *WORDS, "--json").data["cohorts"]
    return [entry["run"]["digest"] for entry in cohorts[0]["entries"]]


def test_import_counts_add_up_and_a_second_time_adds_nothing(
    terminal: Terminal, database: Path
) -> None:
    again = terminal.ki("import", "starter", "--json").data
    assert set(again) >= IMPORT_KEYS
    assert (again["added"], again["superseding"], again["skipped"]) == (0, 0, {})
    assert again["existing"] == again["read"] > 0
    text = terminal.ki("import", "starter", "--dry-run").out
    assert text.startswith("dry run: nothing was stored")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("import", "ligr", "x.csv"), 2, "did you mean liger?"),
        (("import", "liger"), 2, "liger needs a path or address"),
        (("import", "liger", "/nowhere.csv"), 2, "there is no file or folder /nowhere.csv"),
        (("import", "liger", "http://127.0.0.1/x.csv"), 1, "source."),
        (("import", "liger", "ftp://x.example/x.csv"), 1, "wanted https or http"),
        (("import", "liger", "x" * 300), 1, f"ki: {'x' * 200}: File name too long; give a path"),
        (("import", "starter", "."), 1, "takes no path"),
        (("catalog", "load", "/"), 2, "is a directory"),
        (("catalog", "export", "/dev/null/x.jsonl.zst"), 1, "/dev/null: File exists; give a path"),
        (("compare", "0123abcd"), 1, "compare takes 2 to 8"),
        (("show", "run", "0123abcd"), 1, "no run is called '0123abcd' here"),
        (("catalog", "correct", "supersede", "x", "--actor", "a", "--reason", "r"), 2, "--by RUN"),
        (("runs", "--gpu", "H10O"), 1, "Did you mean h100?"),
    ],
)
def test_bad_input_is_said_in_a_line_and_leaves_no_traceback(
    terminal: Terminal, database: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    outcome = terminal.ki(*arguments)
    assert (outcome.status, outcome.out) == (status, "")
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_what_cannot_be_read_is_said_with_its_place(terminal: Terminal, database: Path) -> None:
    broken = database.with_name("broken.json")
    broken.write_text('{"a":')
    outcome = terminal.ki("import", "manifests", str(broken))
    assert outcome.status == 1
    assert "broken.json: $: not JSON at line 1 column 6" in outcome.out
    asked = terminal.ki("resolve", "\udcff")
    assert asked.status == 1
    assert "wanted text in UTF-8." in asked.out


def test_show_prints_the_first_screen_of_the_run_page(terminal: Terminal, database: Path) -> None:
    loop = runs(terminal)[1]
    terminal.width(80)
    out = terminal.ki("show", "run", loop).out
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    for said in (
        "64.0 ms (median latency, one sample); 2 of 2, 11.1x behind #1. Reported.",
        "level [reported] < reproducible < verified < replicated",
        "blocks restated implementation",
        "shifts harness work in timed",
        "about +1.0 ms",
        "ms_50=63.96201705932617",
        "they never change its level",
    ):
        assert said in words


def test_the_manifest_alone_digests_to_the_run(terminal: Terminal, database: Path) -> None:
    digest = runs(terminal)[0]
    manifest = terminal.ki("show", "run", digest, "--manifest").out
    file = database.with_name("run.json")
    file.write_text(manifest)
    assert terminal.ki("digest", str(file)).out.strip() == digest


@pytest.mark.parametrize(
    ("word", "ident"), [("operation", "moe"), ("project", "liger-kernel"), ("run", "01a0202b")]
)
def test_objects_are_shown_by_slug_and_alias(
    terminal: Terminal, database: Path, word: str, ident: str
) -> None:
    assert terminal.ki("show", word, ident).status == 0
    assert terminal.ki("show", word, ident, "--json").data["title"]


def test_compare_says_the_verdict_and_what_differs(terminal: Terminal, database: Path) -> None:
    outcome = terminal.ki("compare", *runs(terminal))
    words = " ".join(outcome.out.split())
    assert "is slower than Liger fused MoE: 64.0 ms against 5.75 ms, 11.1x" in words
    assert "value 5,751,872 ns 63,962,017 ns" in words
    assert "equal: operation, axes, dtypes" in words


def test_lists_page_by_cursor(terminal: Terminal, database: Path) -> None:
    first = terminal.ki("runs", "--limit", "1", "--json").data
    second = terminal.ki("runs", "--limit", "1", "--cursor", first["cursor"], "--json").data
    assert first["runs"][0]["digest"] != second["runs"][0]["digest"]
    assert terminal.ki("records", "--operation", "moe").status == 0
    nobody = terminal.ki("runs", "--source", "nobody")
    assert (nobody.status, nobody.out) == (1, "No run meets every filter.\n")


def test_a_retraction_changes_the_answer_and_a_rebuild_does_not(
    terminal: Terminal, database: Path
) -> None:
    leader, loop = runs(terminal)
    by = ("--actor", "tester", "--reason", "measured on another card")
    assert terminal.ki("catalog", "correct", "retract", leader, *by).status == 0
    answer = terminal.ki("resolve", *WORDS, "--json").data
    assert [e["run"]["digest"] for e in answer["cohorts"][0]["entries"]] == [loop]
    assert answer["cohorts"][0]["entries"][0]["rank"] is None
    assert answer["excluded"][0]["run"] == leader
    assert terminal.ki("catalog", "rebuild", "--json").data["done"] == "rebuilt"
    assert terminal.ki("resolve", *WORDS, "--json").data == answer
    assert terminal.ki("catalog", "check").out == "sound: nothing is wrong\n"


def test_what_a_source_says_is_listed_by_check_and_is_no_fault(
    terminal: Terminal, database: Path
) -> None:
    with Catalog.open(f"sqlite:///{database}") as catalog:
        import_records(catalog, make_snapshot(), [make_odd_row()])
    shown = terminal.ki("catalog", "check")
    heading, finding, verdict = shown.out.splitlines()
    assert heading == "what sources say, kept as it was said (1):"
    assert finding.startswith("wrong_operation: sha256:")
    assert (verdict, shown.status) == ("sound: nothing is wrong", 0)
    data = terminal.ki("catalog", "check", "--json").data
    assert data["sound"] is True
    assert [(one["code"], one["fault"]) for one in data["findings"]] == [("wrong_operation", False)]
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM names")
    shown = terminal.ki("catalog", "check")
    assert shown.status == 1
    assert "stale_list: " in shown.out
    assert shown.out.endswith(" wrong\n")


def test_an_export_loads_elsewhere_as_the_same_catalog(
    terminal: Terminal, database: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl.zst"
    there = ("--db", f"sqlite:///{tmp_path}/other.db")
    exported = terminal.ki("catalog", "export", str(file), "--json").data["digest"]
    assert terminal.ki("catalog", "load", str(file), *there).status == 0
    again = terminal.ki("catalog", "export", str(tmp_path / "b.jsonl.zst"), "--json", *there)
    assert again.data["digest"] == exported


def test_a_manifest_file_is_imported(terminal: Terminal, database: Path, tmp_path: Path) -> None:
    manifest = {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "SoftwareProject",
        "metadata": {"name": "tiny", "title": "Tiny\x1b[31m"},
        "spec": {"name": "Tiny"},
    }
    file = tmp_path / "tiny.json"
    file.write_text(json.dumps(manifest))
    assert terminal.ki("import", "manifests", str(file), "--json").data["added"] == 1
    shown = terminal.ki("show", "project", "tiny").out
    assert shown.startswith("Tiny\\u001b[31m")


def test_an_import_that_could_take_no_row_is_no_success(
    terminal: Terminal, database: Path, tmp_path: Path
) -> None:
    lines = ['{"kind": "Nothing"}', '{"kind": "Neither"}']
    (tmp_path / "bad.jsonl").write_text("\n".join(lines))
    (tmp_path / "bad.zip").write_text("no zip")
    for source, name, read in (("manifests", "bad.jsonl", 2), ("evidence", "bad.zip", 1)):
        outcome = terminal.ki("import", source, str(tmp_path / name), "--json")
        done = outcome.data
        assert (outcome.status, done["added"]) == (1, 0)
        assert done["read"] == sum(done["skipped"].values()) == read


def test_rebuild_if_stale_touches_only_rows_of_another_version(
    terminal: Terminal, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert terminal.ki("catalog", "rebuild", "--if-stale").out == ""
    with sqlite3.connect(database) as conn:
        conn.execute("UPDATE catalog_state SET value = 'older' WHERE key = 'derived_version'")
    assert "runs" in terminal.ki("catalog", "rebuild", "--if-stale").out
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path}/none.db")
    assert terminal.ki("catalog", "rebuild", "--if-stale").out == ""
    assert not (tmp_path / "none.db").exists()
