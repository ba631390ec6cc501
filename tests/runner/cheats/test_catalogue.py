"""The catalogue is whole: codes, entries, fixtures and documentation agree."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from kernelindex.manifests.run import Status
from kernelindex.runner.cheats.catalogue import Entry, entries, entries_on
from kernelindex.runner.cheats.codes import Finding, codes, status_of

ROOT = Path(__file__).parents[3]
RUNNER = ROOT / "src" / "kernelindex" / "runner"


def test_ids_are_unique_and_every_entry_says_how_it_is_caught() -> None:
    ids = [one.id for one in entries()]
    assert len(ids) == len(set(ids)) >= 60
    assert all(one.how.endswith(".") and one.title for one in entries())
    assert {one.kind for one in entries()} == {"cheat", "awkward"}
    assert {device for one in entries() for device in one.devices} == {"cpu", "cuda"}


@pytest.mark.parametrize("entry", entries(), ids=lambda one: one.id)
def test_an_entry_names_known_codes_whose_status_is_its_own(entry: Entry) -> None:
    assert entry.codes <= set(codes())
    if entry.code is not None:
        assert status_of(entry.code) == entry.status
    if entry.caught_by == "contained":
        assert (entry.status, entry.code) == (None, None)


def test_statuses_of_codes_are_statuses_of_runs() -> None:
    known = {*get_args(Status), None}
    assert {one.status for one in codes().values()} <= known


def test_every_code_that_is_raised_is_in_the_catalogue() -> None:
    raised = set()
    for folder in ("probe", "worker", "judge"):
        for path in (RUNNER / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            raised |= set(re.findall(r'Finding\(\s*"([a-z_0-9]+)"', text))
            accused = r'Refused\(\s*"(?:suspected_reward_hack|policy_violation)",\s*"([a-z_0-9]+)"'
            raised |= set(re.findall(accused, text))
    assert raised
    assert raised <= set(codes())


def test_a_finding_of_an_unknown_code_cannot_be_made() -> None:
    with pytest.raises(KeyError, match="add it there first"):
        Finding("no_such_code", "text")


def test_a_finding_travels_with_its_status() -> None:
    found = Finding("input_mutated", "x changed", {"count": 1.0})
    assert found.to_json() == {
        "code": "input_mutated",
        "status": "policy_violation",
        "text": "x changed",
        "numbers": {"count": 1.0},
    }


def test_a_device_index_is_no_other_device() -> None:
    assert entries_on("cuda:0") == entries_on("cuda:7") != entries_on("cpu")
    assert "other-stream" not in {one.id for one in entries_on("cpu")}


@pytest.mark.parametrize("entry", entries(), ids=lambda one: one.id)
def test_fixtures_exist(entry: Entry) -> None:
    for place in (entry.entry, entry.honest, entry.prepare, entry.honest_prepare):
        if place is not None:
            module, _, name = place.partition(":")
            assert name in functions_of(module)


@cache
def functions_of(module: str) -> frozenset[str]:
    path = RUNNER / "cheats" / "fixtures" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(one.name for one in tree.body if isinstance(one, ast.FunctionDef))


def test_the_documentation_lists_every_entry_and_code() -> None:
    text = (ROOT / "docs" / "reference" / "cheats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9_-]+)` \| (.+?) \|", text, re.MULTILINE)
    titles = {one.id: one.title for one in entries()}
    told = {name: rest for name, rest in rows if name in titles}
    assert told == titles
    assert set(codes()) <= {name for name, _ in rows}
