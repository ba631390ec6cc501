"""``ki schema``: the JSON Schema of a manifest kind."""

from __future__ import annotations

import click

from kernelindex.cli.failures import usage
from kernelindex.cli.options import print_json

VERSIONS = ("kernelindex.dev/v1alpha1", "kernelindex.dev/v1alpha2")


@click.command(name="schema", short_help="print the JSON Schema of a manifest kind")
@click.argument("kind", metavar="KIND")
@click.option(
    "--api-version",
    type=click.Choice([name.partition("/")[2] for name in VERSIONS]),
    default="v1alpha1",
    show_default=True,
    help="Version of the manifest format.",
)
@click.pass_context
def command(ctx: click.Context, kind: str, api_version: str) -> None:
    """Print the JSON Schema of one kind, such as BenchmarkRun."""
    from kernelindex.manifests import KINDS, json_schema

    names = {name.casefold(): name for name in KINDS}
    name = names.get(kind.casefold())
    if name is None:
        raise usage(ctx, f"no manifest kind {kind!r}", kind, KINDS)
    print_json(json_schema(name, f"kernelindex.dev/{api_version}"))
