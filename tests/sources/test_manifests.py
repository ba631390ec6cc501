from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.errors import SourceError
from kernelindex.sources import find_source
from kernelindex.sources.manifests import read
from tests.sources import exports
from tests.support.shared import shared_path

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = json.dumps(exports.PROJECT)
YAML = """\
apiVersion: kernelindex.dev/v1alpha1
kind: SoftwareProject
metadata: {name: one}
spec: {name: One}
"""


def outcomes(source: Path | bytes) -> list[tuple[str, str]]:
    """``(where, kind or reason)`` of everything read."""
    return [
        (one.where, one.reason if isinstance(one, Skipped) else one.manifests[0].kind)
        for one in read(source)[1]
    ]


def test_one_json_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(exports.PROJECT, indent=2))
    assert outcomes(path) == [("p.json", "SoftwareProject")]


def test_a_yaml_file_may_hold_several(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(f"# two projects\n---\n{YAML}--- # second\n{YAML}...\n")
    assert outcomes(path) == [("two.yaml#1", "SoftwareProject"), ("two.yaml#2", "SoftwareProject")]


def test_content_beside_a_document_marker_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(f"--- {PROJECT}\n--- {PROJECT}\n")
    assert outcomes(path) == [("two.yaml#1", "SoftwareProject"), ("two.yaml#2", "SoftwareProject")]


def test_each_line_of_a_jsonl_is_one(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(f'{PROJECT}\n\n{{"kind": "Nothing"}}\n{PROJECT[:-1]}\n')
    assert outcomes(path) == [
        ("m.jsonl:1", "SoftwareProject"),
        ("m.jsonl:2", "blank_line"),
        ("m.jsonl:3", "manifest.invalid"),
        ("m.jsonl:4", "canonical.syntax"),
    ]


def test_bytes_are_one_manifest_or_lines_of_them() -> None:
    assert outcomes(json.dumps(exports.PROJECT, indent=1).encode()) == [("", "SoftwareProject")]
    assert [kind for _, kind in outcomes(f"{PROJECT}\n{PROJECT}\n".encode())] == [
        "SoftwareProject",
        "SoftwareProject",
    ]


def test_a_run_is_observed_by_the_source_it_names() -> None:
    data = json.dumps(exports.run("v1", 900, 1)).encode()
    row = next(iter(read(data)[1]))
    assert isinstance(row, Row)
    assert row.observation is not None
    assert row.observation.source == "made-up"


def test_a_folder_is_read_in_order_and_everything_else_counted(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "p.yml").write_text(YAML)
    (tmp_path / "a.json").write_text(PROJECT)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / ".hidden.json").write_text(PROJECT)
    assert outcomes(tmp_path) == [
        ("a.json", "SoftwareProject"),
        ("notes.txt", "not_a_manifest_file"),
        ("b/p.yml", "SoftwareProject"),
    ]


def test_a_symlink_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text(PROJECT)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file.json").symlink_to(outside / "secret.json")
    (inside / "folder").symlink_to(outside)
    (inside / "up.json").symlink_to("../outside/secret.json")
    assert outcomes(inside) == [
        ("file.json", "symlink_refused"),
        ("folder", "symlink_refused"),
        ("up.json", "symlink_refused"),
    ]


def test_the_folder_digest_follows_content_and_names(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(PROJECT)
    before = read(tmp_path)[0].digest
    (tmp_path / "notes.txt").write_text("not read, not counted")
    assert read(tmp_path)[0].digest == before
    path.rename(tmp_path / "c.json")
    assert read(tmp_path)[0].digest != before


def test_too_much_for_one_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_bytes(b" " * (1 << 20) + PROJECT.encode())
    assert outcomes(path) == [("big.json", "canonical.too_large")]


def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("a,b")
    with pytest.raises(SourceError, match=r"results\.csv.*\.yaml"):
        read(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty holds no file"):
        read(tmp_path / "empty")


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b"{", b'"text"', b"a: &a [*a]"])
def test_hostile_bytes_are_counted(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    assert all(kind.split(".")[0] in {"canonical", "manifest"} for _, kind in outcomes(path))
    assert len(outcomes(path)) == 1


def test_the_public_examples_pass_and_the_invalid_ones_do_not() -> None:
    folder = shared_path("data/kernelindex-manifests")
    found = dict(outcomes(folder))
    refused = {where: kind for where, kind in found.items() if where.startswith("invalid/")}
    assert refused == {
        "invalid/ambiguous-duration.yaml": "manifest.invalid",
        "invalid/bad-digest.yaml": "manifest.invalid",
        "invalid/duplicate-key.yaml": "canonical.duplicate_key",
        "invalid/unknown-field.yaml": "manifest.invalid",
    }
    assert found.pop("LICENSE") == "not_a_manifest_file"
    taken = [kind for where, kind in found.items() if where not in refused]
    assert len(taken) == len(set(taken)) == 13


def test_a_source_says_what_it_takes() -> None:
    with pytest.raises(SourceError) as caught:
        find_source("manifests").read(None)
    assert caught.value.code == "source.path_needed"
    with pytest.raises(SourceError, match="kernelindex-export"):
        find_source("export")
