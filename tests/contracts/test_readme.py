"""The README shows what the programs really print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelindex.cli.main import main
from tests.support.shared import CHECKOUT

README = (CHECKOUT / "README.md").read_text()


def test_the_transcript_is_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = re.search(r"\$ ki (resolve .+)\n((?:.*\n)+?)```", README)
    assert shown is not None
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path}/ki.db")
    monkeypatch.setenv("COLUMNS", "100")
    for source in ("starter", "records"):
        assert main(["import", source, "--json"]) == 0
    capsys.readouterr()
    assert main(shown[1].split()) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(shown[2])


def test_every_file_it_links_is_here() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    files = [link for link in links if not link.startswith("http")]
    assert files
    assert [link for link in files if not (CHECKOUT / link).exists()] == []


def test_every_make_target_it_names_exists() -> None:
    makefile = (CHECKOUT / "Makefile").read_text()
    named = set(re.findall(r"make ([a-z-]+)", README))
    assert {"run", "test"} <= named
    assert [name for name in sorted(named) if f"\n{name}:" not in makefile] == []
