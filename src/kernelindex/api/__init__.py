"""The JSON API and the feeds: the answers of ``resolve`` over HTTP."""

from kernelindex.api import feeds
from kernelindex.api.app import create_api
from kernelindex.api.codes import CODES, Code
from kernelindex.api.rates import Rates

__all__ = ["CODES", "Code", "Rates", "create_api", "feeds"]
