"""``ki validate``: whether manifests are valid, and why not."""

from __future__ import annotations

from typing import Any

import click

from kernelindex.cli.failures import FAILED, OK
from kernelindex.cli.files import MANIFEST_FILE, read_manifest_file
from kernelindex.cli.options import json_option, print_json
from kernelindex.cli.terminal import clean
from kernelindex.errors import KernelIndexError


@click.command(name="validate", short_help="say whether manifests are valid, and why not")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=MANIFEST_FILE)
@json_option
def command(files: tuple[str, ...], as_json: bool) -> int:
    """Validate manifests in JSON or YAML; a refusal names path, value and rule."""
    outcomes = [_check(file) for file in files]
    if as_json:
        print_json({"files": outcomes})
    else:
        for outcome in outcomes:
            _print_outcome(outcome)
    return OK if all(outcome["valid"] for outcome in outcomes) else FAILED


def _check(file: str) -> dict[str, Any]:
    try:
        manifest = read_manifest_file(file)
    except KernelIndexError as error:
        return {"file": file, "valid": False, "error": error.to_dict()}
    return {"file": file, "valid": True, "kind": manifest.kind, "digest": manifest.digest}


def _print_outcome(outcome: dict[str, Any]) -> None:
    name = clean(outcome["file"])
    if outcome["valid"]:
        click.echo(f"{name}: valid {outcome['kind']}, {outcome['digest']}")
        return
    error = outcome["error"]
    click.echo(f"{name}: refused: {clean(error['message'])} [{error['code']}]")
    for problem in error.get("problems", ()):
        where, rule = problem.get("path") or "/", problem.get("rule", "")
        seen, wanted = problem.get("seen"), problem.get("wanted")
        click.echo(clean(f"    {where}: {rule}; got {seen}, wanted {wanted}"))
