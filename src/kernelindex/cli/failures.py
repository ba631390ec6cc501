"""The one place where an error becomes a message and an exit status.

    0  answered: exact, nearest or ambiguous; done
    1  nothing found, refused, or failed
    2  the command line itself was wrong

With ``--json`` an error is one object on standard output,
``{"error": {"code", "message", …}}``, so that a program reads one stream.
"""

from __future__ import annotations

import errno
import json
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.terminal import clean
from kernelindex.errors import KernelIndexError

if TYPE_CHECKING:
    from collections.abc import Iterable

OK, FAILED, USAGE = 0, 1, 2
MAX_PROBLEMS = 10
FULL = "make room there"
FORBIDDEN = "give leave to read and write there"
NO_SUCH_PLACE = "give a path that can be there"
DISK_FAILURES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), FULL),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), FORBIDDEN),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST), NO_SUCH_PLACE),
    **dict.fromkeys((errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT), NO_SUCH_PLACE),
}
"""What a disk says that is full, may not be used, or has no such place; and what helps."""
MOST_OF_PATH = 200
DATABASE_FAILURES = ("OperationalError", "DatabaseError")
"""SQLAlchemy's names for a database that cannot be opened, reached, read or written."""


def usage(ctx: click.Context, message: str, word: str, known: Iterable[str]) -> click.UsageError:
    """A usage error that offers the nearest known word."""
    names = list(known)
    near = get_close_matches(word, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
    return click.UsageError(message + hint, ctx)


def report(error: KernelIndexError, *, as_json: bool) -> int:
    """Print a deliberate error and return the exit status."""
    if as_json:
        click.echo(json.dumps({"error": error.to_dict()}, indent=2, ensure_ascii=False))
        return FAILED
    click.echo(f"ki: {clean(error.message)} [{error.code}]", err=True)
    for line in _detail_lines(error):
        click.echo(f"    {line}", err=True)
    return FAILED


def unexpected(error: Exception) -> KernelIndexError:
    """What was not foreseen, as an error that says how to see more of it."""
    first_line = str(error).partition("\n")[0]
    if type(error).__name__ in DATABASE_FAILURES and hasattr(error, "orig"):
        return KernelIndexError(
            f"the database cannot be used: {str(error.orig).partition(chr(10))[0]}; look at --db"
            " or KI_DB, and whether it runs and may be written. KI_DEBUG=1 shows more",
            code="catalog.unusable",
        )
    if isinstance(error, OSError) and error.errno in DISK_FAILURES:
        where = f"{str(error.filename)[-MOST_OF_PATH:]}: " if error.filename else ""
        return KernelIndexError(
            f"{where}{error.strerror}; {DISK_FAILURES[error.errno]}, and do it again. KI_DEBUG=1"
            " shows where it happened",
            code="disk.unusable",
        )
    return KernelIndexError(
        f"unexpected {type(error).__name__}: {first_line}; this is a bug, or a full or unwritable"
        " disk. KI_DEBUG=1 shows where it happened",
        code="unexpected",
    )


def report_usage(error: click.ClickException, *, as_json: bool) -> int:
    """Print what was wrong with the command line and return the exit status."""
    if as_json:
        body = {"code": "usage", "message": error.format_message()}
        click.echo(json.dumps({"error": body}, indent=2, ensure_ascii=False))
        return error.exit_code
    context = getattr(error, "ctx", None)
    click.echo(f"ki: {clean(error.format_message())}", err=True)
    if context is not None:
        click.echo(f"    {context.get_usage()}", err=True)
        click.echo(f"    '{context.command_path} --help' explains it", err=True)
    return error.exit_code


def report_stop(*, as_json: bool) -> int:
    """Say that somebody stopped it, and return the exit status."""
    if as_json:
        return report(KernelIndexError("stopped", code="stopped"), as_json=True)
    click.echo("ki: stopped", err=True)
    return FAILED


def wants_json(arguments: list[str] | None = None) -> bool:
    """Whether the command line asks for JSON; known even where it could not be parsed."""
    return "--json" in (sys.argv[1:] if arguments is None else arguments)


def _detail_lines(error: KernelIndexError) -> list[str]:
    """The problems or matches an error carries, one a line; not its message again."""
    lines = [_problem_line(item) for item in error.details.get("problems", ())]
    lines += [_match_line(item) for item in error.details.get("matches", ())]
    lines = [line for line in lines if line != error.message]
    if len(lines) == 1 and error.code == "manifest.invalid":
        return []  # the message says the first problem in full
    if len(lines) > MAX_PROBLEMS:
        lines = [*lines[:MAX_PROBLEMS], f"and {len(lines) - MAX_PROBLEMS} more"]
    return [clean(line) for line in lines]


def _problem_line(problem: Any) -> str:
    if not isinstance(problem, dict):
        return str(problem)
    if "text" in problem:
        return str(problem["text"])
    path, rule = problem.get("path") or "/", problem.get("rule", "rule")
    return f"{path}: {rule}; got {problem.get('seen')}, wanted {problem.get('wanted')}"


def _match_line(match: Any) -> str:
    if not isinstance(match, dict):
        return str(match)
    return "  ".join(str(match[key]) for key in ("kind", "digest", "title") if match.get(key))
