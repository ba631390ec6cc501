"""``ki``: the entry point, its commands by name, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from kernelindex.cli.failures import (
    FAILED,
    report,
    report_stop,
    report_usage,
    unexpected,
    wants_json,
)
from kernelindex.cli.lazy import LazyGroup
from kernelindex.cli.options import Session
from kernelindex.errors import KernelIndexError

_COMMANDS = "kernelindex.cli.commands."
LAZY = {
    "resolve": (_COMMANDS + "resolve", "who is fastest for an exact workload, and why"),
    "show": (_COMMANDS + "show", "everything known of one run, operation, implementation …"),
    "compare": (_COMMANDS + "compare", "two to eight runs side by side, with a verdict"),
    "runs": (_COMMANDS + "runs", "list runs by filters"),
    "records": (_COMMANDS + "records", "changes of the leader, newest first"),
    "sources": (_COMMANDS + "sources", "where results can be imported from"),
    "bench": (_COMMANDS + "bench", "measure kernels under the controlled protocol"),
    "try": (_COMMANDS + "try_", "your own kernel: right or wrong, and how fast"),
    "serve": (_COMMANDS + "serve", "the site and the JSON API on a local address"),
    "import": (_COMMANDS + "import_", "read a source into the catalog"),
    "catalog": (_COMMANDS + "catalog", "check, rebuild, export and correct the catalog"),
    "evidence": (_COMMANDS + "evidence", "sign evidence, and verify what others signed"),
    "keys": (_COMMANDS + "keys", "make, list and revoke API keys"),
    "queue": (_COMMANDS + "queue", "review attestations and reports"),
    "digest": (_COMMANDS + "digest", "print the digest of a manifest"),
    "validate": (_COMMANDS + "validate", "say whether manifests are valid, and why not"),
    "schema": (_COMMANDS + "schema", "print the JSON Schema of a manifest kind"),
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _version(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from kernelindex import __version__

        click.echo(f"ki {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, lazy=LAZY, context_settings=CONTEXT, no_args_is_help=False)
@click.option(
    "--db",
    metavar="URL",
    envvar="KI_DB",
    help="Catalog: sqlite:///path or postgresql+psycopg://… (environment: KI_DB).",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version,
    help="Print the version and exit.",
)  # fmt: skip
@click.pass_context
def cli(ctx: click.Context, db: str | None) -> None:
    """Find the fastest GPU kernel you can trust for your exact workload.

    \b
    ki import starter
    ki resolve fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 pass:backward
    """  # noqa: D301 (click reads backspace)
    session = ctx.ensure_object(Session)
    session.db = db


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(main(arguments))


def main(arguments: list[str] | None = None, *, catalog: Any = None) -> int:
    """Run the command line and return its exit status; no deliberate error leaves a traceback.

    ``catalog`` stands in for the one that options and environment name.
    """
    as_json = wants_json(arguments)
    session = Session(catalog=catalog)
    try:
        status = cli.main(args=arguments, prog_name="ki", standalone_mode=False, obj=session)
    except KernelIndexError as error:
        return report(error, as_json=as_json)
    except click.exceptions.Abort:
        return report_stop(as_json=as_json)
    except click.ClickException as error:
        return report_usage(error, as_json=as_json)
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except Exception as error:
        if os.environ.get("KI_DEBUG"):
            raise
        return report(unexpected(error), as_json=as_json)
    return status if isinstance(status, int) else 0
