"""Several questions of one batch: each takes of the options that they share what it can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernelindex.cli.bench.question import FILE
from kernelindex.errors import KernelIndexError, NotFoundError, RequestError
from kernelindex.runner.offers import find_candidate
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.recording.workload import is_routed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.cli.bench.question import Options
    from kernelindex.runner.planning import Ask

    Read = Callable[[Sequence[str], Options], list[Ask]]


def read_together(questions: Sequence[Sequence[str]], options: Options, read: Read) -> list[Ask]:
    """What all questions ask, ``read`` one by one.

    Of several, each takes the candidates that its operation has and, where nothing is routed, no
    distribution. Raises what ``read`` raises, after the first one with the question, and
    NotFoundError ``candidate.not_found`` for a name that no operation has.
    """
    if len(questions) == 1:
        return read(questions[0], options)
    asks: list[Ask] = []
    for number, words in enumerate(questions):
        try:
            asks += _read_shared(words, options, read)
        except KernelIndexError as error:
            if not number:
                raise
            raise RequestError(f"--also {' '.join(words)!r}: {error}", code=error.code) from error
    taken = {name for ask in asks for name in (*ask.candidates, *ask.files)}
    for name in options.implementations:
        if name not in taken:
            slugs = ", ".join(dict.fromkeys(ask.operation for ask in asks))
            raise NotFoundError(
                f"no candidate {name!r} of {slugs}; `ki bench list OPERATION` has those there are",
                code="candidate.not_found",
            )
    return asks


def _read_shared(words: Sequence[str], options: Options, read: Read) -> list[Ask]:
    slug = read(words, replace(options, implementations=(), distributions=(None,)))[0].operation
    fits = tuple(one for one in options.implementations if _is_offered(slug, one))
    if options.implementations and not fits:
        raise RequestError(
            f"{slug} has none of the candidates {', '.join(options.implementations)}; name one of"
            f" its own too (`ki bench list {slug}`)",
            code="plan.candidates",
        )
    distributions = options.distributions if is_routed(slug) else (None,)
    return read(words, replace(options, implementations=fits, distributions=distributions))


def _is_offered(slug: str, name: str) -> bool:
    if FILE.fullmatch(name):
        return True
    try:
        find_candidate(load_operation(slug), name)
    except NotFoundError:
        return False
    return True
