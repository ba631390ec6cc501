"""Corrections of shipped evidence: what the file may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kernelindex.errors import RegistryError
from kernelindex.registry import resources
from kernelindex.registry.corrections import (
    ShippedCorrection,
    load_corrections,
    parse_corrections,
)

ENTRY = {
    "run": "sha256:" + "a" * 64,
    "action": "retract",
    "reason": "the audit compared gradients that add up",
    "date": "2026-11-30",
    "by": "The KernelIndex authors",
}


def written(*entries: Any) -> bytes:
    return json.dumps({"corrections": entries}).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(RegistryError) as caught:
        parse_corrections(data)
    assert caught.value.code == "registry.correction"
    return caught.value.message


def test_entries_are_read_in_order() -> None:
    other = {**ENTRY, "run": "sha256:" + "b" * 64}
    assert parse_corrections(written(ENTRY, other)) == (
        ShippedCorrection(**ENTRY),
        ShippedCorrection(**other),
    )
    assert parse_corrections(written()) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"run": "aaaa"}, "entry 1, run: seen 'aaaa', wanted a run's digest, sha256:<64 hex>"),
        ({"action": "delete"}, "entry 1, action: seen 'delete', wanted 'retract'"),
        ({"reason": ""}, "entry 1, reason: seen '', wanted why, in words on one line"),
        ({"reason": "It was wrong."}, "without a full stop at the end"),
        ({"reason": "two\nlines"}, r"entry 1, reason: seen 'two\nlines'"),
        ({"date": "20261130"}, "entry 1, date: seen '20261130', wanted a calendar date"),
        ({"date": "2026-02-30"}, "entry 1, date: seen '2026-02-30'"),
        ({"by": 7}, "entry 1, by: seen 7, wanted who says so"),
        ({"note": "x"}, "entry 1: seen 'note', which is not known, wanted exactly run, action"),
    ],
)
def test_a_refusal_names_file_entry_and_what_was_wanted(changes: dict[str, Any], said: str) -> None:
    message = refusal(written({**ENTRY, **changes}))
    assert message.startswith("registry data corrections.json, entry 1")
    assert said in message


def test_a_key_that_is_missing_or_told_twice_is_refused() -> None:
    short = {name: value for name, value in ENTRY.items() if name != "by"}
    assert "entry 2: seen no 'by'" in refusal(written(ENTRY, short))
    assert "entry 2, run: seen sha256:aaaa" in refusal(written(ENTRY, ENTRY))
    assert "strict JSON" in refusal(b'{"corrections": [], "corrections": []}')


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[", "the file: seen "),
        (b"[]", "an object with the one key corrections"),
        (b'{"corrections": {}}', "corrections: seen a dict, wanted a list of objects"),
        (b'{"corrections": [null]}', "entry 1: seen nothing, wanted an object with run, action"),
    ],
)
def test_another_form_is_refused(data: bytes, said: str) -> None:
    assert said in refusal(data)


def test_a_missing_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    with pytest.raises(RegistryError, match=r"corrections\.json cannot be read") as caught:
        load_corrections()
    assert caught.value.code == "registry.unreadable"


def test_no_derived_row_depends_on_corrections(tmp_path: Path) -> None:
    from kernelindex.catalog.versions import _data_files

    (tmp_path / "data").mkdir()
    for name in ("corrections.json", "runners.json"):
        (tmp_path / "data" / name).write_text("{}")
    assert [name for name, _ in _data_files(tmp_path)] == ["runners.json"]
