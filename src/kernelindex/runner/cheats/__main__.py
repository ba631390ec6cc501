"""``python -m kernelindex.runner.cheats list|run|score``: the catalogue of cheats, to be run."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.runner.cheats.catalogue import Entry, entries, entries_on
from kernelindex.runner.cheats.running import run_catalogue, score_harness
from kernelindex.runner.cheats.scoring import Score, table

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_RIGHT, EXIT_WRONG, EXIT_USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 where every cheat was caught and no twin accused, else 1."""
    options = _parser().parse_args(arguments)
    try:
        chosen = _chosen(options.only, options.device)
    except KeyError as error:
        print(f"no entry {error} on {options.device}; see the command list", file=sys.stderr)
        return EXIT_USAGE
    if options.command == "list":
        return _list(chosen, as_json=options.json)
    if options.command == "score":
        scores = list(score_harness(chosen, options.harness, options.device))
    else:
        scores = run_catalogue(chosen, options.device, options.out)
        _keep(options.out, scores)
    print(table(scores))
    return EXIT_RIGHT if all(one.right for one in scores) else EXIT_WRONG


def _chosen(names: str | None, device: str) -> tuple[Entry, ...]:
    known = {one.id: one for one in (entries() if device == "all" else entries_on(device))}
    if names is None:
        return tuple(known.values())
    return tuple(known[name] for name in names.split(","))


def _list(chosen: Sequence[Entry], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps([asdict(one) for one in chosen], indent=1, ensure_ascii=False))
        return EXIT_RIGHT
    for one in chosen:
        wanted = f"{one.status} ({one.code})" if one.code else one.status or "contained"
        print(f"{one.id:<26} {'+'.join(one.devices):<9} {wanted:<46} {one.title}")
    return EXIT_RIGHT


def _keep(out: Path, scores: Sequence[Score]) -> None:
    text = json.dumps([asdict(one) for one in scores], indent=1) + "\n"
    (out / "scores.json").write_text(text, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kernelindex.runner.cheats", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="what is in the catalogue")
    listing.add_argument("--json", action="store_true", help="everything, as JSON")
    running = commands.add_parser("run", help="run it through our worker")
    running.add_argument("--out", type=Path, required=True, help="folder for the batches")
    scoring = commands.add_parser("score", help="run it through another harness")
    scoring.add_argument("--harness", required=True, help="its command; see docs/reference/cheats")
    for command, device in ((listing, "all"), (running, "cpu"), (scoring, "cpu")):
        command.add_argument("--device", default=device, help="cpu or cuda:<n>")
        command.add_argument("--only", help="ids, separated by commas")
    return parser


if __name__ == "__main__":
    sys.exit(main())
