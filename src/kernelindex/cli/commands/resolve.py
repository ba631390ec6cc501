"""``ki resolve``: ask for the fastest kernel of an exact workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.options import db_option, json_option, open_catalog, print_json

if TYPE_CHECKING:
    from typing import BinaryIO


@click.command(name="resolve", short_help="who is fastest for an exact workload, and why")
@click.argument("query", nargs=-1, metavar="QUERY...")
@click.option(
    "--request", "file", type=click.File("rb"), help="A JSON request instead; - is standard input."
)
@click.option(
    "--entries",
    type=click.IntRange(1, 200),
    default=10,
    show_default=True,
    help="Rows to print of each group.",
)
@click.option("--full", is_flag=True, help="Print every group's table, however many fit.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    query: tuple[str, ...],
    file: BinaryIO | None,
    entries: int,
    full: bool,
    as_json: bool,
) -> int:
    """Answer who is fastest for a workload, how much faster, and how far to trust it.

    \b
    name=8192      an axis, by name or alias (tokens=8192, T=8192)
    gpu:H100       also pass: dtype: source: framework: metric: evidence: license: installable:
    words          operation, GPU, dtype and pass by their exact names

    Entries that lack what framework:, evidence:, license: or installable: asks for are left out
    and counted; ranks and ratios stay as among all.

    \b
    ki resolve fused-moe T=8192 H=2048 I=768 E=64 K=8 bf16 gpu:H100 pass:backward
    ki resolve fused moe H200 bf16

    Exit status: 0 exact, nearest or ambiguous; 1 nothing found or refused; 2 usage.
    """  # noqa: D301 (click reads backspace)
    from kernelindex.resolve import ask_document, ask_text
    from kernelindex.resolve.ask import MAX_ENTRIES

    if bool(query) == (file is not None):
        raise click.UsageError("give either a query or --request FILE", ctx)
    rows = max(entries, MAX_ENTRIES)
    if file is not None:
        from kernelindex.manifests import canonical

        document = canonical.loads(file.read())
        answer = ask_document(open_catalog(ctx), document, entries=rows)
    else:
        answer = ask_text(open_catalog(ctx), " ".join(query), entries=rows)
    if as_json:
        print_json(answer.to_dict())
    else:
        from kernelindex.cli.render.answer import print_answer
        from kernelindex.cli.terminal import show

        show(lambda screen: print_answer(screen, answer, entries=entries, full=full))
    found = answer.nearest if answer.match == "nearest" else answer.cohorts
    return OK if found else FAILED
