"""A click group that imports a command only when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from kernelindex.cli.failures import usage

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """A group whose commands are named, with their help, before they are imported.

    ``lazy`` maps a command's name to ``(module, one line of help)``; the module has the
    command under the name ``command``. Help of the group imports no command.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(self.lazy[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            raise usage(ctx, f"no command {args[0]!r}", args[0], self.list_commands(ctx)) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, summary) for name, (_, summary) in self.lazy.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
