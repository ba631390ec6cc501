"""Options that planning, running and trying share, and the question they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from kernelindex.cli.options import FiniteRange, device_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.cli.bench.question import Options

F = TypeVar("F", bound="Callable[..., Any]")
PASSES = ("forward", "backward", "full", "inference")

_SHAPE = (
    click.option(
        "--impl", "implementations", multiple=True, metavar="NAME",
        help="A candidate by id, title or last part of its id, or FILE:FUNCTION; again for more."
        " Left out: all that can run.",
    ),
    click.option(
        "--pass", "passes", multiple=True, type=click.Choice(PASSES),
        help="A pass to time; again for more. Left out: forward, backward and full.",
    ),
    device_option,
    click.option(
        "--gradients", multiple=True, type=click.Choice(("leaf", "non_leaf")), default=("leaf",),
        show_default=True, help="Whether weights are leaf tensors; give both for both.",
    ),
    click.option(
        "--buffers", type=click.Choice(("fresh", "accumulated")), default="fresh",
        show_default=True, help="Whether .grad is new each call, or zeros that a call adds to.",
    ),
    click.option(
        "--distribution", "distributions", multiple=True, metavar="NAME",
        help="Routing, such as uniform or skewed; again for more.",
    ),
    click.option(
        "--sweep", "sweeps", multiple=True, metavar="AXIS=V,V...",
        help="Values that an axis takes in turn; again for more axes.",
    ),
)  # fmt: skip

_RULES = (
    click.option(
        "--protocol", default=None, metavar="NAME",
        help="Rules by name: records, quick, or do-bench-10 (as Liger's scripts measure).",
    ),
    click.option("--generations", type=click.IntRange(1, 100), help="Fresh processes a candidate."),
    click.option("--rounds", type=click.IntRange(1, 1000), help="Rounds a process."),
    click.option(
        "--round-seconds", type=FiniteRange(0.001, 600), help="Time of a round, seconds."
    ),
    click.option(
        "--cache", multiple=True, type=click.Choice(("cold", "hot")),
        help="Cache regime; again for both.",
    ),
    click.option(
        "--load", multiple=True, type=click.Choice(("burst", "sustained")),
        help="Load regime; again for both.",
    ),
    click.option(
        "--time", "budget", type=FiniteRange(1, 86_400),
        help="Seconds that the batch may take.",
    ),
)  # fmt: skip


def shape_options(command: F) -> F:
    """What is measured: candidates, passes, device, gradients, sweeps."""
    return _apply(command, _SHAPE)


def rule_options(command: F) -> F:
    """How it is measured: protocol, generations, rounds, regimes, time."""
    return _apply(command, _RULES)


def _apply(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def make_options(
    *,
    device: str,
    implementations: tuple[str, ...],
    passes: tuple[str, ...],
    gradients: tuple[str, ...],
    buffers: str,
    distributions: tuple[str, ...],
    sweeps: tuple[str, ...],
    gpu: str | None = None,
) -> Options:
    """The options of a question; ``auto`` as a device is looked up here.

    Raises RequestError ``bench.sweep``, ``bench.device``.
    """
    from kernelindex.cli.bench.question import Options, read_sweep

    return Options(
        device=find_device(device),
        passes=passes,
        implementations=implementations,
        gradients=gradients,
        buffers=buffers,
        distributions=distributions or (None,),
        sweeps=tuple(map(read_sweep, sweeps)),
        gpu=gpu,
    )


RULE_NAMES = ("generations", "rounds", "round_seconds", "cache", "load")
"""The options that ``rule_changes`` takes."""
DEFAULT_SECONDS = 540.0


def rule_changes(
    *,
    generations: int | None,
    rounds: int | None,
    round_seconds: float | None,
    cache: tuple[str, ...],
    load: tuple[str, ...],
) -> dict[str, Any]:
    """Rules that options replace, None where they leave the protocol's own.

    So many generations are asked for, no more: a width that is not reached adds none.
    """
    return {
        "generations": generations,
        "max_generations": generations,
        "rounds": rounds,
        "round_seconds": round_seconds,
        "cache": cache or None,
        "load": load or None,
    }


def find_device(asked: str) -> str:
    """``auto`` as ``cuda:0`` where a driver sees a GPU, else ``cpu``.

    Raises RequestError ``bench.device`` for another name.
    """
    from kernelindex.errors import RequestError

    if asked == "auto":
        return "cuda:0" if _sees_gpu() else "cpu"
    kind, _, index = asked.partition(":")
    if asked == "cpu" or (kind == "cuda" and index.isdigit()):
        return asked
    raise RequestError(f"--device {asked!r}: wanted cpu, cuda:N or auto", code="bench.device")


def _sees_gpu() -> bool:
    """Whether NVIDIA's driver is loaded; asked of the system, as torch takes a second."""
    from pathlib import Path

    return Path("/proc/driver/nvidia/gpus").is_dir()
