"""``ki bench``: measure, plan, take in, compare and repeat under the controlled protocol."""

from __future__ import annotations

import click

from kernelindex.cli.lazy import LazyGroup

_COMMANDS = "kernelindex.cli.bench."
LAZY = {
    "run": (_COMMANDS + "run", "measure a workload here and publish it"),
    "plan": (_COMMANDS + "plan", "write a plan for another machine"),
    "ingest": (_COMMANDS + "ingest", "sign and publish a batch that the worker measured"),
    "compare": (_COMMANDS + "compare", "a verdict with its interval, of a batch or of two runs"),
    "reproduce": (_COMMANDS + "reproduce", "repeat a published run here, and say what it shows"),
    "list": (_COMMANDS + "list_", "operations and candidates that can be run here"),
}


@click.group(
    name="bench", cls=LazyGroup, lazy=LAZY, short_help="measure under the controlled protocol"
)
def command() -> None:
    """Measure kernels under the controlled protocol, and publish signed evidence."""
