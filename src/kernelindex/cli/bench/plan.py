"""``ki bench plan``: a plan that the worker runs on another machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.bench.options import (
    DEFAULT_SECONDS,
    RULE_NAMES,
    make_options,
    rule_changes,
    rule_options,
    shape_options,
)
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.cli.bench.question import Options
    from kernelindex.runner.plan import Plan
    from kernelindex.runner.planning import Ask, Choice


@click.command(name="plan", short_help="write a plan for another machine")
@click.argument("words", nargs=-1, required=True, metavar="WORKLOAD...")
@click.option(
    "--out", "target", required=True, type=click.Path(path_type=Path, dir_okay=False),
    help="File to write.",
)  # fmt: skip
@click.option("--gpu", metavar="NAME", help="Product it will run on, for the physical floor.")
@click.option(
    "--published", is_flag=True, help="Every published shape of the operation named, not one."
)
@click.option(
    "--also", "others", multiple=True, metavar="QUESTION",
    help="Another workload of the same batch, quoted; again for more.",
)  # fmt: skip
@click.option("--runner", "runner_name", metavar="NAME", help="Runner that will sign it.")
@click.option("--purpose", default="records", type=click.Choice(("records", "study", "reproduce")))
@shape_options
@rule_options
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    target: Path,
    gpu: str | None,
    published: bool,
    others: tuple[str, ...],
    runner_name: str | None,
    purpose: str,
    protocol: str | None,
    budget: float | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Plan a batch for a machine that has nothing but torch and a copy of the source tree.

    \b
    ki bench plan moe-mlp experts=64 --gpu H200 --device cuda:0 --out plan.json
    PYTHONPATH=src python -m kernelindex.runner.worker plan.json --out batch     (there)
    ki bench ingest batch                                                        (here)

    WORKLOAD is a question as for `ki resolve`, or a workload's digest or slug. Axes left out
    are those of a published shape. The batch takes the next number of the runner's ledger.
    `--also "softmax tokens=4096 hidden=4096"` puts another workload into the same batch, with
    the candidates that its operation has; pass:, distribution: and gradients: in a question take
    the place of those options.
    """  # noqa: D301 (click reads backspace)
    from kernelindex.cli.bench.files import with_files
    from kernelindex.cli.bench.runner import next_number, reserve, use_runner
    from kernelindex.runner.plan import plan_to_json
    from kernelindex.runner.protocols import build_plan
    from kernelindex.whole_file import write_after

    rules = {name: asked.pop(name) for name in RULE_NAMES}
    questions = [words, *(tuple(one.split()) for one in others)]
    choices = choose(ctx, questions, published=published, gpu=gpu, **asked)
    runner, made = use_runner(runner_name)
    plan = build_plan(
        [one.point for one in choices],
        runner=runner.name,
        number=next_number(runner),
        device=make_options(**asked).device,
        purpose=purpose,
        protocol=protocol or "records",
        time_budget_seconds=budget or DEFAULT_SECONDS,
        **rule_changes(**rules),
    )
    plan = with_files(plan, target.absolute().parent)
    with write_after(target, plan_to_json(plan).encode()) as data:
        reserve(runner, plan.number, data)
    if made:
        click.echo(made, err=True)
    if as_json:
        print_json(_summary(target, choices, plan))
    else:
        _print(target, choices, plan)


def choose(
    ctx: click.Context,
    questions: Sequence[tuple[str, ...]],
    *,
    published: bool,
    gpu: str | None,
    **asked: Any,
) -> list[Choice]:
    """The points of these questions, which share their options, each id once."""
    from kernelindex.cli.bench.question import published_asks, read_questions
    from kernelindex.cli.bench.together import read_together
    from kernelindex.errors import RequestError
    from kernelindex.runner.planning import choose_point

    def read(words: Sequence[str], options: Options) -> list[Ask]:
        if published:
            return list(published_asks(words, options))
        return read_questions(words, options, lambda: open_catalog(ctx))

    found: dict[str, Choice] = {}
    for choice in map(choose_point, read_together(questions, make_options(**asked, gpu=gpu), read)):
        earlier = found.setdefault(choice.point.id, choice)
        if earlier.point != choice.point:
            raise RequestError(
                f"{choice.point.id} is asked for twice, with other passes or candidates; ask once"
                " for all of them",
                code="plan.twice",
            )
    return list(found.values())


def _summary(target: Path, choices: list[Choice], plan: Plan) -> dict[str, Any]:
    return {
        "plan": str(target),
        "runner": plan.runner,
        "number": plan.number,
        "leastSeconds": round(plan.least_seconds),
        "timeBudgetSeconds": plan.time_budget_seconds,
        "points": [
            {
                "id": one.point.id,
                "passes": list(one.point.passes),
                "candidates": [candidate.id for candidate in one.point.candidates],
                "leftOut": [{"id": name, "why": why} for name, why in one.left_out],
                "notes": list(one.notes),
            }
            for one in choices
        ],
    }


def _print(target: Path, choices: list[Choice], plan: Plan) -> None:
    click.echo(f"wrote {target}: batch {plan.number} of {plan.runner}, {len(choices)} points")
    least, most = plan.least_seconds, plan.time_budget_seconds
    short = "; more time is needed (--time)" if least > most else ""
    click.echo(f"  at least {least:,.0f} s where everything is compiled, of {most:,.0f} s{short}")
    for one in choices:
        who = ", ".join(candidate.id for candidate in one.point.candidates)
        click.echo(f"  {one.point.id}: {', '.join(one.point.passes)}; {who}")
    for note in dict.fromkeys(note for one in choices for note in one.notes):
        click.echo(f"  {note}")
    for name, why in dict.fromkeys(pair for one in choices for pair in one.left_out):
        click.echo(f"  without {name}: {why}")
