"""``ki bench list``: which operations and candidates can be run here, and why others cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.options import device_option, json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.runner.operations.description import TensorSpec


@click.command(name="list", short_help="operations and candidates that can be run here")
@click.argument("operation", required=False, metavar="[OPERATION]")
@device_option
@json_option
def command(operation: str | None, device: str, as_json: bool) -> None:
    """List operations that can be measured, their usual shape, and their candidates.

    A candidate that cannot run here says why: another device, or a package that is missing.
    """
    from kernelindex.cli.bench.options import find_device
    from kernelindex.cli.bench.question import installed_packages
    from kernelindex.runner.offers import available, recordable
    from kernelindex.runner.operations.description import load_operation

    place = find_device(device)
    slugs = (operation,) if operation else recordable()
    packages = installed_packages()
    found: list[dict[str, Any]] = []
    for slug in slugs:
        described = load_operation(slug)
        found.append(
            {
                "operation": slug,
                "title": described.title,
                "usualShape": dict(described.published[0].axes) if described.published else {},
                "publishedShapes": len(described.published),
                "draws": sorted(described.draws),
                "inputs": [_tensor(one) for one in described.inputs],
                "outputs": [_tensor(one) for one in described.outputs],
                "candidates": [
                    {
                        "id": one.id,
                        "title": one.title,
                        "passes": list(one.passes),
                        "packages": list(one.packages),
                        "obstacle": obstacle,
                    }
                    for one, obstacle in available(described, place, packages)
                ],
            }
        )
    if as_json:
        print_json({"device": place, "operations": found})
        return
    from kernelindex.cli.terminal import show

    show(lambda screen: _print(screen, place, found))


def _tensor(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name, "shape": list(spec.shape), "role": spec.role}


def _signature(one: dict[str, Any]) -> str:
    """What a function of one's own is called with, by name, and what it returns, in order."""
    inputs, outputs = (
        ", ".join(f"{tensor['name']} [{', '.join(tensor['shape'])}]" for tensor in one[kind])
        for kind in ("inputs", "outputs")
    )
    return f"called with {inputs}; returns {outputs}"


def _print(screen: Console, device: str, found: list[dict[str, Any]]) -> None:
    from kernelindex.cli.render.tables import Column, build_table
    from kernelindex.cli.terminal import clean

    screen.print(f"on {device}", style="dim")
    for one in found:
        shape = " ".join(f"{name}={value}" for name, value in one["usualShape"].items())
        screen.print(f"\n{one['title']} · {one['operation']}", style="bold")
        screen.print(f"usual shape: {shape}; {one['publishedShapes']} published", style="dim")
        screen.print(clean(_signature(one)), style="dim")
        columns = (Column("candidate"), Column("passes", flexible=True), Column("runs here"))
        rows = [
            (clean(row["id"]), " ".join(row["passes"]), clean(row["obstacle"] or "yes"))
            for row in one["candidates"]
        ]
        screen.print(build_table(columns, rows))
