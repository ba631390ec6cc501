"""Concluded licences: what the file may say, and what it says of what we ship."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kernelindex.errors import RegistryError
from kernelindex.registry import resources
from kernelindex.registry.conclusions import (
    Conclusion,
    find_conclusion,
    load_conclusions,
    parse_conclusions,
)
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.spdx import own_terms

SHA = "sha256:" + "a" * 64
READ = {"path": "LICENSE", "digest": SHA}
FILE: dict[str, Any] = {
    "platform": [{"name": "driver", "why": "the same for all"}],
    "packages": [
        {
            "name": "lib",
            "version": "1",
            "licence": "MIT",
            "evidence": {**READ, "wheel": "lib-1.whl"},
            "requires": ["base", "driver"],
        },
        {
            "name": "base",
            "version": "2",
            "licence": "ISC OR 0BSD",
            "evidence": READ,
            "requires": ["lib"],
            "note": "needs what needs it",
        },
    ],
    "conclusions": [
        {
            "project": "thing",
            "repository": "https://example.org/thing",
            "revisions": {"1.0": "release", SHA: "a file"},
            "licence": "Apache-2.0",
            "requires": ["lib"],
            "expression": "Apache-2.0 AND (ISC OR 0BSD) AND MIT",
            "by": "us",
            "date": "2026-11-30",
            "evidence": READ,
        }
    ],
}


def changed(place: str, index: int, **fields: Any) -> bytes:
    document = deepcopy(FILE)
    document[place][index] |= fields
    return json.dumps(document).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(RegistryError) as caught:
        parse_conclusions(data)
    assert caught.value.code == "registry.conclusion"
    return caught.value.message


def test_a_conclusion_reaches_what_its_dependencies_need() -> None:
    (found,) = parse_conclusions(json.dumps(FILE).encode())
    assert [one.name for one in found.dependencies] == ["base", "lib"]
    assert found.platform == ("driver",)
    assert found.licence == "Apache-2.0"


@pytest.mark.parametrize(
    ("place", "index", "fields", "said"),
    [
        ("conclusions", 0, {"expression": "Apache-2.0 AND MIT"}, "conclusions, thing, expression"),
        ("conclusions", 0, {"expression": "Apache"}, "thing, expression: seen 'Apache', wanted"),
        ("conclusions", 0, {"requires": ["nothing"]}, "requires of thing: seen 'nothing'"),
        ("conclusions", 0, {"revisions": {}}, "conclusions, thing, revisions: seen {}"),
        ("conclusions", 0, {"date": "30.11.2026"}, "thing, date: seen '30.11.2026'"),
        ("conclusions", 0, {"by": " us"}, "thing, by: seen ' us'"),
        ("conclusions", 0, {"repository": "thing"}, "thing, repository: seen 'thing'"),
        ("conclusions", 0, {"checked": True}, "thing, checked: seen True"),
        ("packages", 0, {"licence": "mit"}, "packages, lib, licence: seen 'mit'"),
        ("packages", 0, {"requires": ["absent"]}, "requires of lib: seen 'absent'"),
        ("packages", 1, {"name": "driver"}, "packages: seen driver 2 times, wanted each once"),
        ("packages", 1, {"note": "One sentence."}, "packages, base, note: seen 'One sentence.'"),
        ("packages", 0, {"evidence": {"path": "L", "digest": "a"}}, "lib, evidence, digest"),
        ("platform", 0, {"why": ""}, "platform, driver, why: seen ''"),
    ],
)
def test_a_refusal_names_the_place_and_what_was_seen(
    place: str, index: int, fields: dict[str, Any], said: str
) -> None:
    message = refusal(changed(place, index, **fields))
    assert message.startswith("registry data concluded_licences.json, ")
    assert said in message


def test_a_revision_is_concluded_once() -> None:
    document = deepcopy(FILE)
    document["conclusions"] *= 2
    assert "https://example.org/thing 1.0 2 times" in refusal(json.dumps(document).encode())


@pytest.mark.parametrize("data", [b"[", b"[]", b'{"packages": []}', b'{"a": 1, "a": 2}'])
def test_another_form_is_refused(data: bytes) -> None:
    assert refusal(data)


def test_a_missing_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    with pytest.raises(RegistryError, match=r"concluded_licences\.json cannot be read"):
        load_conclusions.__wrapped__()


def shipped(project: str) -> Conclusion:
    return next(one for one in load_conclusions() if one.project == project)


def test_what_is_concluded_for_the_candidates_we_ship_records_of() -> None:
    assert {one.project: one.licence for one in load_conclusions() if one.project != "pytorch"} == {
        "kernelindex": "Apache-2.0",
        "liger-kernel": "BSD-2-Clause AND Apache-2.0 AND MIT",
        "sonic-moe": "Apache-2.0",
        "transformers": "Apache-2.0",
        "triton": "MIT",
    }
    assert shipped("pytorch").licence.startswith("BSD-3-Clause AND Apache-2.0 AND ")
    for one in load_conclusions():
        assert resolve_licence(one.expression).expression == one.expression


def test_only_sonic_needs_terms_of_an_owners_own() -> None:
    needing = {
        one.project: [p.name for p in one.dependencies if own_terms(p.licence)]
        for one in load_conclusions()
    }
    cutlass = ["nvidia-cutlass-dsl", "nvidia-cutlass-dsl-libs-base"]
    assert {name: who for name, who in needing.items() if who} == {"sonic-moe": cutlass}


def test_cuda_is_the_platform_of_everything_on_torch() -> None:
    for project in ("kernelindex", "liger-kernel", "pytorch", "sonic-moe", "transformers"):
        assert {"nvidia-cublas", "nvidia-tools-in-triton"} <= set(shipped(project).platform)


LIGER = {"projectRevision": {"repository": "https://github.com/linkedin/Liger-Kernel"}}


@pytest.mark.parametrize(
    ("revision", "source", "found"),
    [
        ({"version": "0.8.5"}, None, True),
        ({"version": "0.8.6"}, None, False),
        ({}, None, False),
        ({"version": "0.8.5", "repository": "https://github.com/someone/fork"}, None, False),
        ({"version": "0.9", "commit": "0.8.5"}, None, True),
        ({"version": "0.9"}, "0.8.5", True),
    ],
)
def test_repository_and_revision_have_to_be_named(
    revision: dict[str, str], source: str | None, *, found: bool
) -> None:
    spec: dict[str, Any] = {"projectRevision": LIGER["projectRevision"] | revision}
    if source:
        spec["source"] = {"contentDigest": source}
    assert (find_conclusion(spec) is not None) is found
