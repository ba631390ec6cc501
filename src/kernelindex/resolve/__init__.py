"""Questions to answers: the only thing that surfaces call."""

from kernelindex.resolve.answer import Answer
from kernelindex.resolve.ask import ask, ask_document, ask_text
from kernelindex.resolve.query import parse_query
from kernelindex.resolve.request import Request, parse_request

__all__ = [
    "Answer",
    "Request",
    "ask",
    "ask_document",
    "ask_text",
    "parse_query",
    "parse_request",
]
