"""The front page: one question box, questions that really answer here, latest changes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve import ask_text
from kernelindex.resolve.lists import list_records
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.dossier import RecordLine

QUESTIONS = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H100 pass:backward",
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H200 pass:full",
    "fp8 gemm m=1024 n=7168 k=1536 gpu:MI300X",
    "rmsnorm H100 bf16",
    "gqa-paged-decode B200",
    "softmax bf16 pass:forward",
)
MOST_EXAMPLES = 5
MOST_RECORDS = 6
REMEMBERED_S = 60.0


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the answer this catalog gives."""

    question: str = field(metadata=told("the text query"))
    answer: str = field(metadata=told("its answer in one or two sentences"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Page):
    """The front page."""

    template: ClassVar[str] = "home.html"

    examples: tuple[Example, ...] = field(metadata=told("questions that have an answer here"))
    records: tuple[RecordLine, ...] = field(metadata=told("the latest changes of a leader"))


class _Memory:
    """The examples and records of one catalog, asked again after a minute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[Catalog, float, HomePage] | None = None

    def page(self, catalog: Catalog) -> HomePage:
        with self._lock:
            made = self._made
            if made and made[0] is catalog and time.monotonic() - made[1] < REMEMBERED_S:
                return made[2]
            page = _build(catalog)
            self._made = (catalog, time.monotonic(), page)
            return page


_memory = _Memory()


def home(catalog: Catalog, _request: Request) -> HomePage:
    """The front page, at most a minute old."""
    return _memory.page(catalog)


def _build(catalog: Catalog) -> HomePage:
    asked = ((question, ask_text(catalog, question, entries=3)) for question in QUESTIONS)
    examples = tuple(
        Example(question, answer.summary)
        for question, answer in asked
        if answer.match in ("exact", "ambiguous")
    )
    return HomePage(
        title="The fastest GPU kernel you can trust",
        description="Benchmark results of GPU kernels, ranked only where they compare, each with"
        " how far it can be trusted.",
        path="/",
        examples=examples[:MOST_EXAMPLES],
        records=list_records(catalog, limit=MOST_RECORDS).records,
    )


routes = [page_route("/", home)]
