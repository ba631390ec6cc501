"""One drawing process for all chart tests: its start costs a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelindex.web.charts.render import Renderer


@pytest.fixture(scope="session")
def renderer() -> Iterator[Renderer]:
    with Renderer() as one:
        yield one
