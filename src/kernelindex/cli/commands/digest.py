"""``ki digest``: the digest of a manifest, alone."""

from __future__ import annotations

import click

from kernelindex.cli.files import MANIFEST_FILE, read_manifest_file
from kernelindex.cli.options import json_option, print_json


@click.command(name="digest", short_help="print the digest of a manifest")
@click.argument("file", metavar="FILE", type=MANIFEST_FILE)
@json_option
def command(file: str, as_json: bool) -> None:
    """Print the sha256 digest of a manifest in JSON or YAML; - is standard input.

    The manifest is validated first: what is refused has no digest.
    """
    manifest = read_manifest_file(file)
    if as_json:
        print_json({"digest": manifest.digest, "kind": manifest.kind, "name": manifest.name})
    else:
        click.echo(manifest.digest)
