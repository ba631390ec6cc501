"""``ki try``: someone's own kernel, without a manifest: right or wrong, and how fast."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import (
    db_option,
    device_option,
    json_option,
    open_catalog,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.runner.planning import Ask, Choice
    from kernelindex.runner.trying import Trial


@click.command(name="try", short_help="your own kernel: right or wrong, and how fast")
@click.argument("target", metavar="FILE:FUNCTION")
@click.option("--like", "like", required=True, metavar="OPERATION", help="What it computes.")
@click.argument("words", nargs=-1, metavar="[AXIS=N] [DTYPE]")
@click.option(
    "--pass", "passes", multiple=True,
    type=click.Choice(("forward", "backward", "full", "inference")),
    help="A pass to check and time (forward); again for more.",
)  # fmt: skip
@click.option(
    "--against", multiple=True, metavar="NAME",
    help="An installed candidate; again for more. Left out: the first few that run here.",
)  # fmt: skip
@device_option
@click.option(
    "--shapes", type=click.IntRange(0, 8),
    help="Other published shapes to look for where it loses (2; on a CPU 0).",
)  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, 1000), help="Rounds a process.")
@click.option("--generations", type=click.IntRange(1, 100), help="Fresh processes a candidate.")
@click.option("--publish", is_flag=True, help="Sign and publish what was measured.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder to keep the batches in.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    target: str,
    like: str,
    words: tuple[str, ...],
    passes: tuple[str, ...],
    against: tuple[str, ...],
    device: str,
    shapes: int | None,
    rounds: int | None,
    generations: int | None,
    publish: bool,
    keep: Path | None,
    as_json: bool,
) -> int:
    """Check your own function against an operation's reference, and time it beside others.

    \b
    ki try mine.py:rms_norm --like rms-norm tokens=2048 hidden=4096
    ki try mine.py:moe --like moe-mlp experts=64 bf16 --pass full --device cuda:0

    The function takes the operation's inputs by name (`ki bench list OPERATION`) and returns
    its outputs. It runs in a sandboxed process of its own, on several draws, before anything
    is timed; then it takes turns with the installed candidates. Nothing is published unless
    asked.

    Exit status: 0 correct, also where the machine was too busy for a verdict, which is said;
    1 wrong, cheating, failed or refused; 2 usage.
    """  # noqa: D301 (click reads backspace)
    from kernelindex.cli.bench.trial import Session, try_here

    ask = _ask(target, like, words, passes, device)
    rules = {"rounds": rounds, "generations": generations, "max_generations": generations}
    with closing(Session.open(keep, publish=publish)) as session:
        catalog = open_catalog(ctx, create=True) if publish else None
        trials, choice, folders = try_here(
            ask, session, against=against, shapes=shapes, quiet=as_json, rules=rules
        )
        said = session.publish(catalog) if catalog is not None else []
    first = [one for one in trials if one.point == choice.point.id]
    if as_json:
        from kernelindex.cli.bench.documents import trial_document

        print_json(
            {
                "target": target,
                "operation": choice.point.operation,
                "correct": bool(first) and all(one.correct for one in first),
                "trials": [trial_document(one) for one in trials],
                "notes": list(choice.notes),
                "said": said,
                "kept": [str(folder) for folder in folders] if keep else [],
            }
        )
    else:
        _print(target, trials, choice, said)
    return OK if first and all(one.correct for one in first) else FAILED


def _ask(
    target: str, like: str, words: tuple[str, ...], passes: tuple[str, ...], device: str
) -> Ask:
    from dataclasses import replace

    from kernelindex.cli.bench.options import make_options
    from kernelindex.cli.bench.question import installed_packages, read_questions
    from kernelindex.errors import RequestError
    from kernelindex.runner.offers import own_candidate

    own_candidate(target)
    options = make_options(
        device=device,
        implementations=(target,),
        passes=passes,
        gradients=("leaf",),
        buffers="fresh",
        distributions=(),
        sweeps=(),
    )

    def no_catalog() -> Any:
        raise RequestError("--like takes an operation, not a workload", code="bench.operation")

    asks = read_questions((like, *words), options, no_catalog)
    if len(asks) > 1:
        raise RequestError(
            "one workload is tried at a time; name one distribution and one kind of gradients",
            code="bench.question",
        )
    return replace(asks[0], packages=installed_packages())


def _print(target: str, trials: Sequence[Trial], choice: Choice, said: Sequence[str]) -> None:
    from kernelindex.cli.render.trial import print_trials
    from kernelindex.cli.terminal import show

    show(lambda screen: print_trials(screen, target, trials, choice.point.id))
    for text in (*choice.notes, *said):
        click.echo(text)
