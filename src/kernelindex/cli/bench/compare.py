"""``ki bench compare``: one verdict with its interval and margin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json
from kernelindex.cli.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.policy.verdicts import Verdict
    from kernelindex.runner.standings import Judged


@click.command(name="compare", short_help="a verdict with its interval, of a batch or of two runs")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--batch", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A batch folder that the worker wrote; A and B are two of its candidates.",
)  # fmt: skip
@json_option
@db_option
@click.pass_context
def command(ctx: click.Context, first: str, second: str, folder: Path | None, as_json: bool) -> int:
    """Say whether A is faster than B, with the ratio, its 95 % interval and the margin.

    A and B are two controlled runs of the catalog, by digest prefix or alias, or two
    candidates of a batch folder. Two runs of one batch are judged as pairs, two of different
    batches through the anchor both measured.

    Exit status: 0 judged; 1 not to be compared, or unknown.
    """
    if folder is not None:
        found = _of_batch(folder, first, second)
    else:
        found = [_of_catalog(ctx, first, second)]
    if as_json:
        print_json({"comparisons": [_document(title, verdict) for title, verdict in found]})
    else:
        for title, verdict in found:
            _print(title, verdict)
    return OK if any(str(verdict.kind) != "INCOMPARABLE" for _, verdict in found) else FAILED


def _id_of(name: str, known: list[str]) -> str:
    """The one candidate called so by its id or the last part of it; else the name as it is."""
    ends = [one for one in known if one.rsplit("/", 1)[-1] == name]
    return ends[0] if name not in known and len(ends) == 1 else name


def _of_batch(folder: Path, first: str, second: str) -> list[tuple[str, Verdict]]:
    from kernelindex.cli.render.bench import title_of
    from kernelindex.errors import NotFoundError
    from kernelindex.runner.ingest import read_and_judge
    from kernelindex.runner.recording import RunnerFacts
    from kernelindex.runner.standings import compare_in

    _, _, judged = read_and_judge(folder, RunnerFacts(id="compare"))
    who = sorted({run.series.candidate.id for one in judged for run in one.runs.values()})
    first, second = _id_of(first, who), _id_of(second, who)
    found = [
        (title_of(one), verdict)
        for one in judged
        if (verdict := compare_in(one, first, second)) is not None
    ]
    if not found:
        if lost := _lost(judged, (first, second)):
            raise NotFoundError(
                f"no verdict in {folder}: {'; '.join(lost)}", code="batch.candidates"
            )
        raise NotFoundError(
            f"{first} and {second} were not both measured in {folder}; it has {', '.join(who)}",
            code="batch.candidates",
        )
    return found


def _lost(judged: Sequence[Judged], names: tuple[str, str]) -> list[str]:
    """Who of two candidates was measured and does not rank, and why, each once."""
    from kernelindex.cli.render.bench import lost_words

    found = [
        lost_words(one, lost)
        for one in judged
        for lost in one.cohort.excluded
        if one.runs[lost.run.digest].series.candidate.id in names
    ]
    return list(dict.fromkeys(found))


def _of_catalog(ctx: click.Context, first: str, second: str) -> tuple[str, Verdict]:
    from kernelindex.resolve.verdicts import judge_runs

    pair = judge_runs(open_catalog(ctx), first, second)
    return f"{pair.first} against {pair.second}", pair.verdict


def _document(title: str, verdict: Verdict) -> dict[str, Any]:
    from kernelindex.cli.bench.documents import verdict_document

    return {"title": title, **(verdict_document(verdict) or {})}


def _print(title: str, verdict: Verdict) -> None:
    from kernelindex.cli.render.bench import verdict_words

    click.echo(clean(f"{title}: {verdict_words(verdict)}"))
