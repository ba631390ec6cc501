"""Run ``ki`` in this process over a catalog in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from kernelindex.cli.main import main


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Terminal:
    """Calls ``ki`` and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        self.width(100)

    def width(self, columns: int) -> None:
        self.monkeypatch.setenv("COLUMNS", str(columns))

    def ki(self, *arguments: str, catalog: Any = None) -> Outcome:
        status = main(list(arguments), catalog=catalog)
        captured = self.capsys.readouterr()
        return Outcome(status, captured.out, captured.err)
