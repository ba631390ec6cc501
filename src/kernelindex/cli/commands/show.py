"""``ki show``: everything known of one run, operation, implementation or other object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kernelindex.cli.options import db_option, json_option, open_catalog, print_json

if TYPE_CHECKING:
    from kernelindex.resolve.dossier import ObjectDossier, RunDossier

WORDS = ("run", "operation", "implementation", "workload", "protocol", "environment", "project")


@click.command(name="show", short_help="everything known of one run, operation, implementation …")
@click.argument("kind", metavar="KIND", type=click.Choice(WORDS))
@click.argument("ident", metavar="ID")
@click.option("--manifest", "as_manifest", is_flag=True, help="Print the canonical manifest alone.")
@json_option
@db_option
@click.pass_context
def command(ctx: click.Context, kind: str, ident: str, as_manifest: bool, as_json: bool) -> None:
    """Show one object; ID is an alias, a slug, or 8 or more digits of a digest.

    KIND is run, operation, implementation, workload, protocol, environment or project.
    """
    from kernelindex.resolve.objects import show

    found = show(open_catalog(ctx), kind, ident)
    if as_manifest:
        _print_manifest(found)
    elif as_json:
        print_json(found.to_dict())
    else:
        _print_text(found)


def _print_manifest(found: RunDossier | ObjectDossier) -> None:
    from kernelindex.errors import NotFoundError
    from kernelindex.manifests import canonical
    from kernelindex.resolve.dossier import RunDossier

    document = found.manifests.get("run") if isinstance(found, RunDossier) else found.manifest
    if document is None:
        raise NotFoundError("no manifest of it is stored", code="manifest.not_found")
    click.echo(canonical.dumps(document))


def _print_text(found: RunDossier | ObjectDossier) -> None:
    from kernelindex.cli.render.dossier import print_object, print_run
    from kernelindex.cli.terminal import show as draw
    from kernelindex.resolve.dossier import RunDossier

    if isinstance(found, RunDossier):
        draw(lambda screen: print_run(screen, found))
    else:
        draw(lambda screen: print_object(screen, found))
