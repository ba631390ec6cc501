"""The guide's own blocks, put into a folder, make an operation that is judged."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kernelindex import registry
from kernelindex.registry.operations import load_operations
from kernelindex.runner import operations
from kernelindex.runner.operations import description, load_operation, make_case

if TYPE_CHECKING:
    from collections.abc import Iterator

torch = pytest.importorskip("torch", reason="the guide's candidates are judged with torch")

from tests.runner.operations.judged import drawn, function_of  # noqa: E402

GUIDE = Path(__file__).parents[3] / "docs/guides/adding-an-operation.md"
BLOCK = re.compile(r"^## [^\n]*`(\w+/[\w.]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT, FLAGS = GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
FOLDER = Path(registry.__file__).parent / "operations"
SLUG, AXES = "relu-squared", {"tokens": 24, "hidden": 160}


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that following the guide makes."""
    blocks = dict(BLOCK.findall(GUIDE.read_text(encoding="utf-8")))
    for name, text in blocks.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(description, "_HERE", tmp_path)
    monkeypatch.setattr(operations, "__path__", [*operations.__path__, str(tmp_path)])
    load_operation.cache_clear()
    yield sorted(blocks)
    load_operation.cache_clear()
    for name in [one for one in sys.modules if ".operations.relu_squared" in one]:
        del sys.modules[name]


def test_the_guide_has_a_file_of_data_and_two_modules(followed: list[str]) -> None:
    files = ["__init__.py", "candidates.py", "operation.json"]
    assert followed == [f"relu_squared/{name}" for name in files]
    assert description.slugs() == (SLUG,)


@pytest.mark.parametrize("draw", ["own", "stress", "uneven"])
def test_its_candidates_are_judged_right(followed: list[str], draw: str) -> None:
    for dtype, names in (("fp32", ["eager", "numpy_rows"]), ("bf16", ["eager"])):
        case = drawn(SLUG, AXES, dtype, draw)
        taken = [one for one in load_operation(SLUG).candidates if dtype in one.dtypes]
        assert [one.entry.partition(":")[2] for one in taken] == names
        for candidate in taken:
            found = case.judge(case.results(function_of(candidate), candidate.interface))
            wanted = ["y"] if candidate.interface == "numpy" else ["y", "grad_x"]
            assert found == dict.fromkeys(wanted, "")


def test_a_wrong_twin_is_refused(followed: list[str]) -> None:
    case = drawn(SLUG, AXES, "bf16")
    leaky = case.judge(case.results(lambda x: torch.nn.functional.leaky_relu(x, 0.1).square()))
    assert leaky["y"].startswith("y: relative Frobenius error is 0.0")
    assert leaky["grad_x"].startswith("grad_x: relative Frobenius error is 0.0")


def test_it_says_what_the_registry_says(followed: list[str]) -> None:
    registered, ours = load_operations()[SLUG], load_operation(SLUG)
    assert [one.name for one in registered.inputs] == [one.name for one in ours.inputs]
    assert [one.name for one in registered.outputs] == [one.name for one in ours.outputs]
    for one in ours.published:
        assert make_case(ours, one.axes, one.dtypes).shape("x") == (2048, 4096)


def test_the_registry_s_entry_is_the_one_it_has() -> None:
    block = re.search(r"^## What the registry says\n.*?```json\n(.*?)^```$", TEXT, FLAGS)
    assert block is not None
    shown = json.loads(block[1])
    entries = json.loads((FOLDER / "elementwise.json").read_text())["operations"]
    (entry,) = (one for one in entries if one["slug"] == SLUG)
    for axis, theirs in zip(shown["axes"], entry["axes"], strict=True):
        assert set(axis.pop("aliases")) <= set(theirs.pop("aliases"))
    assert shown.pop("source")
    del entry["source"]
    assert shown == entry


def test_every_field_that_the_guide_explains_exists() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`[\w.\[\]]+`(?:, )?)+) \|", text, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([\w.\[\]]+)`", row)}
    assert {"rows", "draws", "trusted", "candidates[].entry"} <= names
    known = {
        "inputs": description.TensorSpec,
        "candidates": description.CandidateSpec,
        "": description.Operation,
    }
    owner = ""
    for row in rows:
        for name in re.findall(r"`([\w.\[\]]+)`", row):
            owner, _, field = name.rpartition("[].") if "[]." in name else (owner, "", name)
            owner = owner if "[]." in row else ""
            snake = re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), field)
            assert snake in known[owner].__dataclass_fields__, name
