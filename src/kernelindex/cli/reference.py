"""The reference pages that are written from the code: the commands and the answers.

``python -m kernelindex.cli.reference --write docs/reference`` writes them again;
``--check`` in its place says which are not current.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from pydantic import BaseModel

from kernelindex.cli.main import cli
from kernelindex.resolve.answer import Answer
from kernelindex.resolve.dossier import (
    Comparison,
    ObjectDossier,
    RecordList,
    RunDossier,
    RunList,
)

ANSWERS: tuple[tuple[type[BaseModel], str], ...] = (
    (Answer, "`ki resolve --json`"),
    (RunDossier, "`ki show run ID --json`"),
    (ObjectDossier, "`ki show operation|implementation|workload|… ID --json`"),
    (Comparison, "`ki compare --json`"),
    (RunList, "`ki runs --json`"),
    (RecordList, "`ki records --json`"),
)

CLI_HEAD = """# Command line

Written from the code by `make schemas`. `ki` opens the catalog of `--db`, else `KI_DB`, else
`./.ki/ki.db` in a clone, else the user's data directory.

Exit status: 0 answered (exact, nearest or ambiguous) or done; 1 nothing found, refused or
failed; 2 the command line itself was wrong. With `--json` a failure is an object
`{"error": {"code", "message", …}}` on standard output.
"""

ANSWER_HEAD = """# Answers

Written from the code by `make schemas`. Every surface shows these objects; none of them
ranks. Keys are stable: a new one may come, none changes its meaning. An absent value is
`null`, an empty list is a list.

A question is a text query or a JSON request:

```json
{"operation": "moe-mlp", "axes": {"tokens": 8192, "hidden": 2048, "intermediate": 768,
 "experts": 64, "k": 8}, "dtypes": ["bf16"], "hardware": "H100", "pass": "backward",
 "policy": {"minimum_evidence": "reported", "licenses": [], "installable": false}}
```

`match` is `exact` when one operation, one shape and one product fit (other devices are asked
for by leaving `hardware` out), `ambiguous` when several fit that are not ranked together,
`nearest` when none fits but some are near, `none` when nothing is near or the question is
refused; `problems` then says why.

`policy` and `framework` are conditions on an entry. What lacks one is among no results of the
answer; how many there are and why is in `excluded_counts`, `entries_not_met` and
`cohorts_not_met`. Ranks and ratios stay as among all entries, and `match` speaks of the workload
alone: an exact one of which nothing meets the conditions has no cohorts.
"""


def cli_markdown() -> str:
    """The page of all commands, in the order ``ki --help`` lists them."""
    root = click.Context(cli, info_name="ki", terminal_width=88, max_content_width=88)
    parts = [CLI_HEAD, _command_section(root, "ki")]
    parts += [_command_section(ctx, path) for ctx, path in _walk(root, "ki")]
    return "\n".join(parts)


def answer_markdown() -> str:
    """The page of all answer objects, each key with its type and meaning."""
    parts = [ANSWER_HEAD]
    done: set[type[BaseModel]] = set()
    for model, where in ANSWERS:
        parts.append(_model_section(model, f"Printed by {where}."))
        done.add(model)
        for inner in _models_below(model):
            if inner not in done and inner not in {one for one, _ in ANSWERS}:
                parts.append(_model_section(inner))
                done.add(inner)
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """Text by file name below ``docs/reference``."""
    return {"answer.md": answer_markdown(), "cli.md": cli_markdown()}


def _walk(ctx: click.Context, path: str) -> list[tuple[click.Context, str]]:
    group = ctx.command
    if not isinstance(group, click.Group):
        return []
    found: list[tuple[click.Context, str]] = []
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None:
            continue
        inner = click.Context(
            command, parent=ctx, info_name=name, terminal_width=88, max_content_width=88
        )
        found.append((inner, f"{path} {name}"))
        found += _walk(inner, f"{path} {name}")
    return found


def _command_section(ctx: click.Context, path: str) -> str:
    lines = [line.rstrip() for line in ctx.get_help().replace("\b", "").splitlines()]
    return f"## {path}\n\n```text\n" + "\n".join(lines) + "\n```\n"


def _model_section(model: type[BaseModel], note: str = "") -> str:
    doc = inspect.cleandoc(model.__doc__ or "").replace("``", "`")
    lines = [f"## {model.__name__}", "", doc, ""]
    lines += [note, ""] if note else []
    lines += ["| key | type | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        kind = type_words(field.annotation).replace("|", "\\|")
        lines.append(f"| `{field.alias or name}` | {kind} | {field.description} |")
    return "\n".join(lines) + "\n"


def type_words(annotation: Any) -> str:
    """A type as a reader of JSON calls it."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(f"`{value}`" for value in args)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(type_words(one) for one in args)
    if args:
        return f"list of {type_words(args[0])}" if origin is tuple else _object_of(args[1])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return _NAMES.get(annotation, "object")


_NAMES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    types.NoneType: "null",
}


def _object_of(value: Any) -> str:
    return "object" if value is Any else f"object of {type_words(value)}"


def _models_below(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Every model a model holds, depth first, without repeats."""
    found: dict[type[BaseModel], None] = {}
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            if inner not in found:
                found[inner] = None
                found.update(dict.fromkeys(_models_below(inner)))
    return list(found)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


@click.command()
@click.option("--write", "folder", required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; say what differs.")
def main(folder: Path, check: bool) -> None:
    """Write or check the pages."""
    stale = 0
    for name, text in pages().items():
        path = folder / name
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        click.echo(f"{'differs' if check else 'wrote'}: {path}")
        if not check:
            path.write_text(text)
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
