"""What a server process of several imports: the site over the catalog of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api.rates import Rates
from kernelindex.settings import request_rate
from kernelindex.site.app import create_app

if TYPE_CHECKING:
    from starlette.applications import Starlette


def build() -> Starlette:
    """The site over the catalog that ``KI_DB`` or the working folder names, at ``KI_RATE``."""
    rate = request_rate()
    return create_app(rates=None if rate is None else Rates(reads=rate))
